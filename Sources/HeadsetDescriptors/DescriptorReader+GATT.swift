import Bluetooth
import Headsets
import YAMLReading

/// Advertisements, services and characteristics.
extension DescriptorReader {
    /// Characteristics of the Bluetooth specification that need no declaration.
    static let standardCharacteristics: [(name: String, uuid: BluetoothUUID)] = [
        ("serial_port", .serialPort), ("battery_level", .batteryLevel), ("serial_number", .serialNumberString),
        ("firmware_revision", .firmwareRevisionString), ("model_number", .modelNumberString),
        ("software_revision", .softwareRevisionString),
    ]

    mutating func recognition(_ found: YAMLFields) -> Recognition {
        guard let node = required("recognise", found, "what the headset advertises: 'services', 'name_prefixes' or 'companies'")
        else { return Recognition(serviceUUIDs: []) }
        let fields = fields(node, ["services", "pairing_services", "name_prefixes", "companies"])
        let allowed = "1 ... 29 characters"
        let recognition = Recognition(
            serviceUUIDs: list(fields["services"]).compactMap { uuid($0) },
            pairingServiceUUIDs: list(fields["pairing_services"]).compactMap { uuid($0) },
            namePrefixes: list(fields["name_prefixes"]).compactMap { text($0, limit: 29, allowed: allowed) },
            companies: list(fields["companies"]).compactMap { integer($0, 0...0xFFFF).map { UInt16($0) } })
        let isOpen = fields.values.contains { $0.value.isOpen || $0.value.elements?.contains(where: \.isOpen) == true }
        if fields.isMapping, recognition.scanFilter.isEmpty, !isOpen {
            complain(node, "nothing is named by which the headset could be found", "name a service, a name prefix or a company")
        }
        return recognition
    }

    mutating func gattFields(_ node: YAMLValue) -> YAMLFields {
        let found = fields(node, ["services", "characteristics", "required", "excluded", "identity"])
        guard let named = optional("characteristics", found) else { return found }
        guard let entries = named.entries else {
            complain(named, "\(named.kind) is not a mapping", "write a name and a UUID for each characteristic")
            return found
        }
        for (key, value) in entries where !value.isOpen {
            guard let uuid = uuid(value), let name = key.text else { continue }
            characteristics.append((name, uuid))
        }
        // Names whose UUID is still to be filled in are known all the same.
        for (key, value) in entries where value.isOpen {
            if let name = key.text { characteristics.append((name, BluetoothUUID(high: 0, low: 0))) }
        }
        return found
    }

    mutating func services(_ gatt: YAMLFields) -> [BluetoothUUID] { list(gatt["services"]).compactMap { uuid($0) } }

    mutating func discriminate(_ gatt: YAMLFields, _ descriptor: inout HeadsetDescriptor) {
        descriptor.required = list(gatt["required"]).compactMap { characteristic($0) }
        descriptor.excluded = list(gatt["excluded"]).compactMap { characteristic($0) }
        descriptor.identityCharacteristic = optional("identity", gatt).flatMap { characteristic($0) }
    }

    /// A UUID of 16, 32 or 128 bits.
    mutating func uuid(_ node: YAMLValue) -> BluetoothUUID? {
        guard !node.isOpen else { return nil }
        if let text = node.text {
            let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : text
            if let uuid = BluetoothUUID(digits) { return uuid }
        }
        complain(
            node, "\(node.kind) is no UUID",
            "allowed are 4, 8 or 36 characters, such as FE8D or 6e400001-b5a3-f393-e0a9-e50e24dcca9e")
        return nil
    }

    /// A characteristic, by its name in the descriptor, its standard name or its UUID.
    mutating func characteristic(_ node: YAMLValue) -> BluetoothUUID? {
        guard !node.isOpen else { return nil }
        let known = characteristics + Self.standardCharacteristics
        if let text = node.text {
            if let found = known.first(where: { $0.name == text }) { return found.uuid }
            if let uuid = BluetoothUUID(text) { return uuid }
        }
        complain(
            node, "\(node.kind) is no characteristic of 'gatt.characteristics'",
            Spelling.suggestion(for: node.text ?? "", among: known.map(\.name)))
        return nil
    }

    // MARK: Commands

    private static let purposes: [(word: String, value: CommandPurpose)] = [
        ("status", .queryStatus), ("wake", .wake), ("initialise", .initialise), ("start", .start),
        ("keep_alive", .keepAlive), ("stop", .stop),
    ]
    /// More than any headset needs.
    private static let stepsMaximum = 64

    mutating func commands(_ found: YAMLFields) -> [HeadsetDescriptor.Commands] {
        guard let node = optional("commands", found) else { return [] }
        let sequences = fields(node, Self.purposes.map(\.word))
        return Self.purposes.compactMap { word, purpose in
            guard let sequence = sequences[word] else { return nil }
            let nodes = list(sequence)
            if nodes.count > Self.stepsMaximum {
                complain(sequence, "\(nodes.count) steps are more than anybody waits for", "at most \(Self.stepsMaximum)")
            }
            let steps = nodes.prefix(Self.stepsMaximum).compactMap { step($0) }
            return HeadsetDescriptor.Commands(purpose: purpose, steps: steps)
        }
    }

    private mutating func step(_ node: YAMLValue) -> CommandStep? {
        let kinds = ["write", "text", "read", "wait_milliseconds", "abandon"]
        let step = fields(node, kinds + ["to", "response"])
        let named = kinds.filter { step[$0] != nil }
        guard named.count == 1, let kind = named.first else {
            if step.isMapping {
                complain(
                    node, named.isEmpty ? "the step does nothing" : "the step does several things",
                    "write one of \(Spelling.list(kinds)) in each step")
            }
            return nil
        }
        let isWrite = kind == "write" || kind == "text"
        for key in ["to", "response"] where !isWrite {
            if let value = step[key] { complain(value, "only a write has '\(key)'") }
        }
        guard let value = optional(kind, step) else {
            if let value = step[kind], !value.isOpen { complain(value, "\(value.kind) stands where a value is needed") }
            return nil
        }
        switch kind {
        case "read": return characteristic(value).map { .read($0) }
        case "wait_milliseconds": return number(value, 1...60_000).map { .wait(.nanoseconds(Int64(($0 * 1e6).rounded()))) }
        case "abandon": return text(value, limit: 200, allowed: "a reason").map { .abandonLink(reason: $0) }
        default:
            let bytes =
                kind == "text"
                ? text(value, limit: 512, allowed: "a text", hasLines: true).map { Array($0.utf8) } : self.bytes(value)
            let target = required("to", step, "the characteristic that is written to").flatMap { characteristic($0) }
            let isAnswered = flag(step["response"]) ?? true
            guard let bytes, let target else { return nil }
            return .write(bytes, to: target, type: isAnswered ? .withResponse : .withoutResponse)
        }
    }

    /// Bytes in hexadecimal digits, such as `77 01 15`.
    mutating func bytes(_ node: YAMLValue) -> [UInt8]? {
        guard let pattern = bytePattern(node) else { return nil }
        if pattern.contains(where: { $0.mask != 0xFF }) {
            complain(node, "a mask means nothing in bytes that are sent")
            return nil
        }
        return pattern.map(\.value)
    }

    /// Bytes in hexadecimal digits, each with a mask where not all of its bits count, such as `A0 C0/F0`.
    mutating func bytePattern(_ node: YAMLValue) -> [DescribedFraming.Byte]? {
        guard !node.isOpen else { return nil }
        let hint = "write bytes as two hexadecimal digits each, such as A0 1F, or A0/F0 where only some bits count"
        guard let text = node.text else {
            complain(node, "\(node.kind) is no row of bytes", hint)
            return nil
        }
        var result: [DescribedFraming.Byte] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
            let halves = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let numbers = halves.map { $0.count == 2 && $0.allSatisfy(\.isHexDigit) ? UInt8($0, radix: 16) : nil }
            guard let value = numbers.first.flatMap({ $0 }), let mask = numbers.count == 1 ? 0xFF : numbers[1] else {
                complain(node, "'\(YAMLValue.printable(String(word)))' is no byte", hint)
                return nil
            }
            result.append(DescribedFraming.Byte(value, mask: mask))
        }
        guard (1...512).contains(result.count) else {
            complain(node, "\(result.count) bytes", "allowed are 1 ... 512")
            return nil
        }
        return result
    }
}
