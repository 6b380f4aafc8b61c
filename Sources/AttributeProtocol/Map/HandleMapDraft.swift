import Bluetooth

/// A handle map that a discovery fills, from answers that may make no sense.
///
/// Each `add` returns the last handle that the answer covers, or nil where entries are not in ascending order, lie outside of
/// what was asked for, or have a wrong length.
struct HandleMapDraft {
    private var services: [MappedService] = []
    private var characteristics: [MappedCharacteristic] = []
    /// Included services whose UUID is asked for, those next last.
    private var unnamed: [HandleRange] = []
    private var hash: [UInt8]?

    /// Includes and descriptors, of all services and characteristics.
    private var partCount = 0

    /// How many entries it has, of all kinds.
    var count: Int { services.count + characteristics.count + unnamed.count + partCount }

    /// The highest handle of any service.
    var lastHandle: AttributeHandle { services.map(\.range.end).max() ?? .none }

    /// The handle of the Database Hash's value, where there is one.
    var hashHandle: AttributeHandle? {
        characteristics.first { $0.type.uuid == AttributeType.databaseHash.uuid }?.value
    }

    // MARK: Services

    mutating func addServices(_ groups: [AttributeGroup], from: AttributeHandle) -> AttributeHandle? {
        var from: AttributeHandle? = from
        for group in groups {
            guard let lowest = from, group.range.isValid, group.range.start >= lowest,
                let type = AttributeType(group.value[...])
            else { return nil }
            services.append(MappedService(range: group.range, uuid: type.uuid))
            from = group.range.end.next
        }
        return groups.last?.range.end
    }

    /// Include declarations (Vol 3, Part G, 3.2): the included service's handles, and its UUID where that is short.
    mutating func addIncludes(_ values: [AttributeValue], from: AttributeHandle) -> AttributeHandle? {
        guard ascends(values.lazy.map(\.handle), in: HandleRange(from, .last)) else { return nil }
        for entry in values {
            let value = entry.value
            guard value.count == 4 || value.count == 6 else { return nil }
            let included = HandleRange(handle(value[0], value[1]), handle(value[2], value[3]))
            guard included.isValid else { return nil }
            if let index = services.firstIndex(where: { $0.range.contains(entry.handle) }) {
                services[index].includes.append(included)
                partCount += 1
            }
            if services.contains(where: { $0.range.start == included.start }) || unnamed.contains(included) { continue }
            if let type = AttributeType(value[4...]) {
                addSecondary(included, type.uuid)
            } else {
                unnamed.append(included)
            }
        }
        return values.last?.handle
    }

    /// The next included service whose declaration must be read for its UUID.
    mutating func nextUnnamedInclude() -> HandleRange? { unnamed.popLast() }

    /// An included service, with the value of its declaration. Returns false where that is no UUID.
    mutating func addSecondaryService(_ range: HandleRange, _ value: [UInt8]) -> Bool {
        guard let type = AttributeType(value[...]) else { return false }
        addSecondary(range, type.uuid)
        return true
    }

    private mutating func addSecondary(_ range: HandleRange, _ uuid: BluetoothUUID) {
        let index = services.firstIndex { $0.range.start > range.start } ?? services.count
        services.insert(MappedService(range: range, uuid: uuid, isPrimary: false), at: index)
    }

    // MARK: Characteristics

    mutating func addCharacteristics(_ values: [AttributeValue], from: AttributeHandle) -> AttributeHandle? {
        guard ascends(values.lazy.map(\.handle), in: HandleRange(from, .last)) else { return nil }
        for entry in values {
            let value = entry.value
            guard value.count == 5 || value.count == 19, let type = AttributeType(value[3...]) else { return nil }
            let valueHandle = handle(value[1], value[2])
            guard valueHandle > entry.handle else { return nil }
            characteristics.append(
                MappedCharacteristic(
                    declaration: entry.handle, value: valueHandle,
                    properties: Characteristic.Properties(rawValue: value[0]), type: type))
        }
        return values.last?.handle
    }

    // MARK: Descriptors

    /// Handles of Client Characteristic Configurations. One that belongs to no characteristic is ignored.
    mutating func addConfigurations(_ values: [AttributeValue], from: AttributeHandle) -> AttributeHandle? {
        guard ascends(values.lazy.map(\.handle), in: HandleRange(from, .last)) else { return nil }
        for entry in values {
            add(AttributeInformation(entry.handle, .clientCharacteristicConfiguration))
        }
        return values.last?.handle
    }

    mutating func addDescriptors(_ entries: [AttributeInformation], in range: HandleRange) -> AttributeHandle? {
        guard ascends(entries.lazy.map(\.handle), in: range) else { return nil }
        for entry in entries { add(entry) }
        return entries.last?.handle
    }

    /// Drops what was read by type, because the server did not list all of it.
    mutating func forgetConfigurations() {
        for index in characteristics.indices {
            partCount -= characteristics[index].descriptors.count
            characteristics[index].descriptors.removeAll()
        }
    }

    private mutating func add(_ entry: AttributeInformation) {
        // The characteristic with the highest declaration below the handle, if its value is below it, too.
        guard let owner = characteristics.lastIndex(where: { $0.declaration < entry.handle }),
            characteristics[owner].value < entry.handle, gap(after: owner)?.contains(entry.handle) == true
        else { return }
        characteristics[owner].descriptors.append(entry)
        partCount += 1
    }

    /// Handles between the value of a characteristic and what follows, for all characteristics, or for those that notify or
    /// indicate and whose configuration is not known.
    func gaps(all: Bool) -> [HandleRange] {
        characteristics.indices.compactMap { index in
            let characteristic = characteristics[index]
            let sends = !characteristic.properties.isDisjoint(with: [.notify, .indicate])
            return all || sends && characteristic.configuration == nil ? gap(after: index) : nil
        }
    }

    private func gap(after index: Int) -> HandleRange? {
        let characteristic = characteristics[index]
        guard let service = services.last(where: { $0.range.contains(characteristic.declaration) }),
            let start = characteristic.value.next
        else { return nil }
        var end = service.range.end
        if index + 1 < characteristics.count, let before = characteristics[index + 1].declaration.previous {
            end = min(end, before)
        }
        return start <= end ? HandleRange(start, end) : nil
    }

    // MARK: Result

    mutating func setHash(_ value: [UInt8]) {
        // AES-CMAC has 16 bytes (Vol 3, Part G, 7.3); something else is none.
        hash = value.count == 16 ? value : nil
    }

    /// What was found. A characteristic that lies in no service is left out. Services do not overlap (Vol 3, Part G, 3.1);
    /// where a server says that they do, a characteristic belongs to the one that begins last, so that the map has no more
    /// entries than the server has declarations.
    var map: HandleMap {
        var found = services
        for characteristic in characteristics {
            guard let owner = found.lastIndex(where: { $0.range.contains(characteristic.declaration) }) else { continue }
            found[owner].characteristics.append(characteristic)
        }
        return HandleMap(databaseHash: hash, services: found)
    }

    private func handle(_ low: UInt8, _ high: UInt8) -> AttributeHandle {
        AttributeHandle(rawValue: UInt16(low) | UInt16(high) << 8)
    }

    private func ascends(_ handles: some Sequence<AttributeHandle>, in range: HandleRange) -> Bool {
        var lowest: AttributeHandle? = range.start
        for handle in handles {
            guard let least = lowest, handle >= least, handle <= range.end else { return false }
            lowest = handle.next
        }
        return true
    }
}
