import Headsets
import YAMLReading

/// Where bytes come from, and how frames stand in them.
extension DescriptorReader {
    /// The most sources, and the most kinds of packets of each.
    private static let sourcesMaximum = 32

    mutating func sources(_ found: YAMLFields, hasMemory: Bool) -> [DescribedSource] {
        let hint = "a list with the characteristics that the headset sends from"
        guard let node = hasMemory ? optional("sources", found) : required("sources", found, hint) else { return [] }
        guard let elements = node.elements, !elements.isEmpty else {
            complain(node, "\(node.kind) is not a list of sources", "begin each source with '- characteristic:'")
            return []
        }
        if elements.count > Self.sourcesMaximum {
            complain(node, "\(elements.count) sources are too many", "at most \(Self.sourcesMaximum)")
        }
        var result: [DescribedSource] = []
        for element in elements.prefix(Self.sourcesMaximum) where !element.isOpen {
            guard let source = source(element) else { continue }
            if result.contains(where: { $0.characteristic == source.characteristic }) {
                complain(
                    element, "the characteristic \(source.characteristic) has a source already",
                    "write all of its packets there")
            }
            result.append(source)
        }
        if !hasMemory, !result.isEmpty, !result.contains(where: { $0.role == .data }) {
            complain(node, "no source has the role 'data'", "the one that sends samples has")
        }
        return result
    }

    private mutating func source(_ node: YAMLValue) -> DescribedSource? {
        let found = fields(node, ["characteristic", "role", "optional", "vital", "framing", "packets"])
        let characteristic = required("characteristic", found, "a name of 'gatt.characteristics', or a UUID").flatMap {
            self.characteristic($0)
        }
        // A UUID that is still to be filled in must not hide what is wrong below.
        var source = DescribedSource(characteristic: characteristic ?? .unknown)
        source.role = word(optional("role", found), DescribedSource.Role.allCases.map { ($0.rawValue, $0) }) ?? .data
        source.isOptional = flag(optional("optional", found)) ?? false
        source.isVital = flag(optional("vital", found)) ?? false
        if source.isVital, source.role != .data, let node = found["vital"] {
            complain(node, "only a source of the role 'data' can be vital")
        }
        if let framing = optional("framing", found) { source.framing = self.framing(framing) }
        guard let packets = required("packets", found, "a list with at least one kind of packet") else { return nil }
        guard let elements = packets.elements, !elements.isEmpty else {
            complain(packets, "\(packets.kind) is not a list of packets", "begin each kind of packet with '- name:'")
            return nil
        }
        if elements.count > Self.sourcesMaximum {
            complain(packets, "\(elements.count) kinds of packets are too many", "at most \(Self.sourcesMaximum)")
        }
        for element in elements.prefix(Self.sourcesMaximum) where !element.isOpen {
            let packet = packet(element, source.framing)
            if source.packets.contains(where: { $0.constants == packet.constants && $0.length == packet.length }) {
                complain(
                    element, "nothing distinguishes this kind of packet from an earlier one, which is always taken",
                    "distinguish them with 'when' or 'length'")
            }
            source.packets.append(packet)
        }
        if case .byKind = source.framing.length { source.framing.length = .byKind(kinds(of: source.packets, elements)) }
        return characteristic == nil ? nil : source
    }

    /// What shows the lengths of frames, where each kind of packet has its own.
    private mutating func kinds(of packets: [DescribedPacket], _ nodes: [YAMLValue]) -> [DescribedFraming.Kind] {
        for (packet, node) in zip(packets, nodes) {
            if packet.length == nil {
                complain(node, "'length' is missing", "the framing asks each kind of packet for its length")
            }
            if packet.constants.isEmpty {
                complain(node, "'when' is missing", "the framing asks each kind of packet how to recognise it")
            }
            if packet.constants.contains(where: { $0.field.byte < 0 }) {
                complain(node, "a constant counts from the frame's end, which it is to give", "count from the beginning")
            }
        }
        return packets.map { DescribedFraming.Kind(constants: $0.constants, length: $0.length ?? 1) }
    }

    // MARK: Framing

    private mutating func framing(_ node: YAMLValue) -> DescribedFraming {
        let found = fields(
            node, ["kind", "spans_notifications", "sync", "length", "trailer", "checksum", "after_damage"])
        var framing = DescribedFraming()
        framing.isByteStream =
            word(required("kind", found, "notification or stream"), [("notification", false), ("stream", true)])
            ?? false
        if let spans = optional("spans_notifications", found) {
            framing.spansNotifications = flag(spans) ?? true
            if !framing.isByteStream { complain(spans, "only frames of the kind 'stream' can span notifications") }
        }
        framing.sync = optional("sync", found).flatMap { bytePattern($0) } ?? []
        framing.trailer = optional("trailer", found).flatMap { bytePattern($0) } ?? []
        for (key, bytes) in [("sync", framing.sync), ("trailer", framing.trailer)] where bytes.count > 16 {
            if let node = found[key] { complain(node, "\(bytes.count) bytes are too many", "at most 16") }
        }
        if let length = optional("length", found) { framing.length = frameLength(length, framing) }
        framing.checksum = optional("checksum", found).flatMap { checksum($0) }
        if let word = word(optional("after_damage", found), [("next_byte", false), ("next_frame", true)]) {
            framing.skipsDamagedFrame = word
        }
        guard framing.isByteStream, found.isMapping else { return framing }
        if framing.length == .any, found["length"] == nil {
            complain(
                node, "'length' is missing",
                "a byte stream needs it: the whole frame's bytes, the field that holds them, or by_packet")
        }
        if case .byKind = framing.length { return framing }
        if framing.sync.isEmpty, framing.trailer.isEmpty, framing.checksum == nil {
            let isOpen = ["sync", "trailer", "checksum"].contains { found[$0]?.isOpen == true }
            if !isOpen {
                complain(node, "nothing shows where a frame begins", "a byte stream needs 'sync', 'trailer' or 'checksum'")
            }
        }
        return framing
    }

    private mutating func frameLength(_ node: YAMLValue, _ framing: DescribedFraming) -> DescribedFraming.Length {
        let least = max(1, framing.sync.count + framing.trailer.count)
        guard node.entries != nil else {
            if node.text == "by_packet" { return .byKind([]) }
            return integer(node, least...DescribedFraming.lengthMaximum).map { .fixed($0) } ?? .any
        }
        let found = fields(node, ["at", "bit", "type", "plus", "maximum"])
        let plus = integer(optional("plus", found), -DescribedFraming.lengthMaximum...DescribedFraming.lengthMaximum) ?? 0
        let maximum = integer(optional("maximum", found), least...DescribedFraming.lengthMaximum)
        guard let field = field(found) else { return .any }
        if field.byte < 0 { complain(node, "the offset of a length must count from the frame's beginning") }
        if field.number.kind != .unsigned { complain(node, "a length is a number without sign", "such as type: u16le") }
        let most = field.number.bits >= 12 ? DescribedFraming.lengthMaximum : (1 << field.number.bits) - 1 + plus
        return .field(field, plus: plus, maximum: maximum ?? min(DescribedFraming.lengthMaximum, max(least, most)))
    }

    private mutating func checksum(_ node: YAMLValue) -> DescribedChecksum? {
        let found = fields(node, ["kind", "at", "bit", "type", "from", "to"])
        let named = CyclicRedundancyCheck.named.map { (word: $0.name, value: DescribedChecksum.Algorithm.crc($0.check)) }
        let kinds: [(word: String, value: DescribedChecksum.Algorithm)] =
            [
                ("sum", .sum(isInverted: false, isNegated: false)), ("inverted-sum", .sum(isInverted: true, isNegated: false)),
                ("negated-sum", .sum(isInverted: false, isNegated: true)), ("xor", .exclusiveOr),
            ] + named
        let kindNode = required("kind", found, "one of \(Spelling.list(kinds.map(\.word)))")
        let algorithm = kindNode?.entries != nil ? kindNode.flatMap { ownCheck($0) } : word(kindNode, kinds)
        guard let field = field(found) else { return nil }
        let limits = -DescribedFraming.lengthMaximum...DescribedFraming.lengthMaximum
        let from = integer(optional("from", found), limits) ?? 0
        // Everything before the checksum itself, unless somebody says otherwise.
        let to = integer(optional("to", found), limits) ?? field.byte
        let isToMissing = found["to"].map { $0.isEmpty && !$0.isOpen } ?? true
        if isToMissing, field.byte == 0 {
            // 0 would be the frame's end.
            complain(
                node, "nothing stands before a checksum at byte 0, and 'to' is missing",
                "write 'from' and 'to': the first byte that it is of, and the one behind the last; 'to: 0' is the frame's end")
        } else if found["to"]?.isOpen != true, (from < 0) == (to <= 0), from >= to {
            complain(
                node, "the checksum is of no byte: it ends before byte \(to), and begins at byte \(from)",
                "without 'to', it ends before itself; 'to: 0' is the frame's end")
        }
        if field.number.kind != .unsigned { complain(node, "a checksum is a number without sign", "such as type: u8") }
        if case .crc(let check)? = algorithm, field.number.bits != check.width {
            complain(node, "the check has \(check.width) bits, and the field \(field.number.bits)")
        }
        guard let algorithm else { return nil }
        return DescribedChecksum(algorithm, at: field, from: from, to: to)
    }

    private mutating func ownCheck(_ node: YAMLValue) -> DescribedChecksum.Algorithm? {
        let found = fields(node, ["width", "polynomial", "initial", "reflected", "xor"])
        let width = word(required("width", found, "8, 16 or 32"), [("8", 8), ("16", 16), ("32", 32)])
        let polynomial = integer(required("polynomial", found, "such as 0x1021"), 1...0xFFFF_FFFF)
        let initial = integer(optional("initial", found), 0...0xFFFF_FFFF) ?? 0
        let final = integer(optional("xor", found), 0...0xFFFF_FFFF) ?? 0
        let isReflected = flag(optional("reflected", found)) ?? false
        guard let width, let polynomial else { return nil }
        return .crc(
            CyclicRedundancyCheck(
                width: width, polynomial: UInt32(polynomial), initial: UInt32(initial), isReflected: isReflected,
                finalXOR: UInt32(final)))
    }

    // MARK: Fields

    /// The field that `at`, `bit` and `type` of a mapping name.
    mutating func field(_ found: YAMLFields) -> DescribedField? {
        let limit = DescribedFraming.lengthMaximum
        let byte = integer(required("at", found, "the first byte, from 0; -1 is the frame's last"), -limit...(limit - 1))
        let bit = integer(optional("bit", found), 0...7) ?? 0
        let number = number(required("type", found, Self.typeHint))
        guard let byte, let number else { return nil }
        let field = DescribedField(byte: byte, bit: bit, number: number)
        if field.byteCount > 8 {
            complain(found.owner, "a field that touches \(field.byteCount) bytes cannot be read", "at most 8")
            return nil
        }
        if byte < 0, field.byteCount > -byte {
            complain(found.owner, "the field reaches \(field.byteCount + byte) bytes beyond the frame's end")
        }
        return field
    }

    private static let typeHint =
        "write kind (u, i or f), bits and byte order (be or le), such as u8, i24be, u12le or f32le"

    mutating func number(_ node: YAMLValue?) -> DescribedNumber? {
        guard let node, !node.isOpen else { return nil }
        if let text = node.text, let number = DescribedNumber(text) { return number }
        if let text = node.text, DescribedNumber(text + "be") != nil {
            complain(node, "\(node.kind) lacks its byte order", "write '\(text)be' (big-endian) or '\(text)le' (little-endian)")
        } else {
            complain(node, "\(node.kind) is no type of a number", Self.typeHint)
        }
        return nil
    }
}
