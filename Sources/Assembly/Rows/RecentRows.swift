/// A digest of each of the rows that were stored last, by which a sample that comes once more is known.
///
/// A headset, a radio or a queue may send a sample twice; then it has the values of the row that is there. Where it has others,
/// one of the two has another n than its counter says.
struct RecentRows: Sendable {
    /// More rows are not kept.
    private static let rowMaximum: Int64 = 4096
    /// Where the counter does not wrap soon, notifications that come twice do so at once.
    private static let defaultRows: Int64 = 256
    /// FNV-1a, a value of 32 bits at a time.
    private static let offsetBasis: UInt32 = 0x811c_9dc5
    private static let prime: UInt32 = 0x0100_0193

    private var digests: [UInt32]
    private var numbers: [Int64]
    private let mask: Int64
    private let channelCount: Int

    /// Keeps as many rows as lie between two wraps of the counter, and some.
    ///
    /// - Parameter wrap: the samples from one wrap to the next; nil where there is no counter, and no sample comes twice.
    init(wrap: Int64?, channelCount: Int) {
        self.channelCount = channelCount
        var capacity: Int64 = wrap == nil ? 0 : 1
        let wanted = (wrap ?? .max) <= Self.rowMaximum / 2 ? 2 * (wrap ?? 0) : Self.defaultRows
        while capacity > 0, capacity < wanted { capacity *= 2 }
        mask = capacity - 1
        digests = Array(repeating: 0, count: Int(capacity))
        numbers = Array(repeating: .min, count: Int(capacity))
    }

    /// Whole rows were stored from `firstN` on.
    mutating func note(_ values: ArraySlice<Int32>, firstN: Int64) {
        guard !digests.isEmpty else { return }
        var n = firstN
        var first = values.startIndex
        while first < values.endIndex {
            let slot = Int(n & mask)
            (digests[slot], numbers[slot]) = (digest(values, first), n)
            (n, first) = (n + 1, first + channelCount)
        }
    }

    /// How many of the rows were stored a moment ago with other values.
    ///
    /// - Parameters:
    ///   - range: which ones, all of them in `values`.
    ///   - firstN: of the first of the values.
    func contradictions(_ range: Range<Int64>, _ values: ArraySlice<Int32>, firstN: Int64) -> Int64 {
        guard !digests.isEmpty else { return 0 }
        var count: Int64 = 0
        for n in range where numbers[Int(n & mask)] == n {
            if digests[Int(n & mask)] != digest(values, values.startIndex + Int(n - firstN) * channelCount) { count += 1 }
        }
        return count
    }

    private func digest(_ values: ArraySlice<Int32>, _ first: Int) -> UInt32 {
        var digest = Self.offsetBasis
        for index in first..<(first + channelCount) { digest = (digest ^ UInt32(bitPattern: values[index])) &* Self.prime }
        return digest
    }
}
