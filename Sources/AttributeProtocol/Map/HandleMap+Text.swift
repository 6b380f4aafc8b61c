import Bluetooth

/// The form of a handle map in a database: one line for each entry, all numbers hexadecimal, readable for people and the same
/// for the same map.
///
///     gatt 1
///     hash 00112233445566778899aabbccddeeff
///     service 0001-0009 1801
///     characteristic 0002 0003 20 2A05
///     descriptor 0004 2902
///     service 0010-ffff fe8d
///     include 0020-002f
///     secondary 0020-002f 180f
extension HandleMap {
    /// The first line: what the text is, and the version of its form.
    private static let heading = "gatt 1"

    /// The map as text. ``init(text:)`` reads it back.
    package var text: String {
        var lines = [Self.heading]
        if let databaseHash { lines.append("hash " + databaseHash.map { Self.hexadecimal($0) }.joined()) }
        for service in services {
            lines.append("\(service.isPrimary ? "service" : "secondary") \(service.range) \(service.uuid)")
            lines += service.includes.map { "include \($0)" }
            for characteristic in service.characteristics {
                let properties = Self.hexadecimal(characteristic.properties.rawValue)
                lines.append(
                    "characteristic \(characteristic.declaration) \(characteristic.value) \(properties) "
                        + Self.written(characteristic.type))
                lines += characteristic.descriptors.map { "descriptor \($0.handle) \(Self.written($0.type))" }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads a map; nil where the text is not exactly one that ``text`` writes: then there is no map, and the headset is
    /// asked.
    package init?(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: true)[...]
        guard lines.popFirst() == Self.heading[...] else { return nil }
        self.init(services: [])
        for line in lines {
            guard append(line.split(separator: " ", omittingEmptySubsequences: false)) else { return nil }
        }
        // Nothing is read in two ways: what is not written like this was not written here.
        guard self.text == text else { return nil }
    }

    private mutating func append(_ words: [Substring]) -> Bool {
        switch (words.first, words.count) {
        case ("hash", 2):
            let digits = Array(words[1])
            guard digits.count == 32 else { return false }
            let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
            databaseHash = bytes
            return bytes.count == 16
        case ("service", 3), ("secondary", 3):
            guard let range = Self.range(words[1]), let uuid = BluetoothUUID(String(words[2])) else { return false }
            services.append(MappedService(range: range, uuid: uuid, isPrimary: words[0] == "service"))
            return true
        case ("include", 2):
            guard let range = Self.range(words[1]), !services.isEmpty else { return false }
            services[services.count - 1].includes.append(range)
            return true
        case ("characteristic", 5):
            guard let declaration = Self.handle(words[1]), let value = Self.handle(words[2]),
                let properties = UInt8(words[3], radix: 16), let type = Self.type(words[4]), !services.isEmpty
            else { return false }
            services[services.count - 1].characteristics.append(
                MappedCharacteristic(
                    declaration: declaration, value: value,
                    properties: Characteristic.Properties(rawValue: properties), type: type))
            return true
        case ("descriptor", 3):
            guard let handle = Self.handle(words[1]), let type = Self.type(words[2]), let service = services.indices.last,
                let owner = services[service].characteristics.indices.last
            else { return false }
            services[service].characteristics[owner].descriptors.append(AttributeInformation(handle, type))
            return true
        default: return false
        }
    }

    private static func range(_ word: Substring) -> HandleRange? {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = handle(ends[0]), let end = handle(ends[1]) else { return nil }
        return HandleRange(start, end)
    }

    private static func handle(_ word: Substring) -> AttributeHandle? {
        UInt16(word, radix: 16).map(AttributeHandle.init(rawValue:))
    }

    /// Four digits for a type that the server declares short, else all of it.
    private static func written(_ type: AttributeType) -> String {
        switch type {
        case .short: type.uuid.description
        case .long(let uuid): uuid.fullDescription
        }
    }

    private static func type(_ word: Substring) -> AttributeType? {
        guard let uuid = BluetoothUUID(String(word)) else { return nil }
        guard word.utf8.count == 4 else { return .long(uuid) }
        return uuid.short16.map { .short($0) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
