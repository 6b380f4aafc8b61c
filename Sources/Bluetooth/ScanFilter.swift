/// Which advertisements a scan reports: any of the service UUIDs, name prefixes or companies.
public struct ScanFilter: Hashable, Sendable {
    /// Services, of every advertising mode of the headsets that are looked for; sorted, each once.
    public private(set) var serviceUUIDs: [BluetoothUUID]
    /// Prefixes of local names, for headsets that advertise no service; sorted, each once.
    public private(set) var namePrefixes: [String]
    /// Company identifiers in manufacturer specific data; sorted, each once.
    public private(set) var companies: [UInt16]
    /// True for the filter that reports every advertisement, whatever the rules.
    public private(set) var isUnfiltered = false

    /// Reports every advertisement; for people who look around, never for an acquisition.
    public static var unfiltered: ScanFilter {
        var filter = ScanFilter()
        filter.isUnfiltered = true
        return filter
    }

    /// Creates a filter; the order of the arguments' elements does not matter.
    public init(serviceUUIDs: [BluetoothUUID] = [], namePrefixes: [String] = [], companies: [UInt16] = []) {
        self.serviceUUIDs = Self.sorted(serviceUUIDs)
        self.namePrefixes = Self.sorted(namePrefixes)
        self.companies = Self.sorted(companies)
    }

    /// True where nothing can match.
    public var isEmpty: Bool { !isUnfiltered && serviceUUIDs.isEmpty && namePrefixes.isEmpty && companies.isEmpty }

    /// Returns whether the advertisement meets at least one of the rules.
    public func matches(_ advertisement: Advertisement) -> Bool {
        if isUnfiltered { return true }
        if advertisement.serviceUUIDs.contains(where: serviceUUIDs.contains) { return true }
        if let name = advertisement.localName, namePrefixes.contains(where: name.hasPrefix) { return true }
        return advertisement.manufacturerData.contains { companies.contains($0.company) }
    }

    /// The filter that reports what either of the two reports.
    public func union(_ other: ScanFilter) -> ScanFilter {
        if isUnfiltered || other.isUnfiltered { return .unfiltered }
        return ScanFilter(
            serviceUUIDs: serviceUUIDs + other.serviceUUIDs, namePrefixes: namePrefixes + other.namePrefixes,
            companies: companies + other.companies)
    }

    /// True where both have a rule in common, so that an advertisement may match both.
    public func overlaps(_ other: ScanFilter) -> Bool {
        isUnfiltered || other.isUnfiltered || serviceUUIDs.contains(where: other.serviceUUIDs.contains)
            || companies.contains(where: other.companies.contains)
            || namePrefixes.contains { mine in other.namePrefixes.contains { mine.hasPrefix($0) || $0.hasPrefix(mine) } }
    }

    private static func sorted<Value: Comparable>(_ values: [Value]) -> [Value] {
        var result: [Value] = []
        for value in values.sorted() where result.last != value { result.append(value) }
        return result
    }
}
