import Bluetooth
import Headsets
import YAMLReading

/// What packets hold.
extension DescriptorReader {
    mutating func packet(_ node: YAMLValue, _ framing: DescribedFraming) -> DescribedPacket {
        let found = fields(
            node, ["name", "length", "when", "counter", "samples", "status", "annotation", "message", "ignore"])
        var packet = DescribedPacket(
            name: text(optional("name", found), limit: 32, allowed: "1 ... 32 characters") ?? "packet")
        packet.length = integer(optional("length", found), 1...DescribedFraming.lengthMaximum)
        if case .fixed(let length) = framing.length {
            if let own = packet.length, own != length, let node = found["length"] {
                complain(node, "the packet has \(own) bytes, and its frame \(length)")
            }
            packet.length = packet.length ?? length
        }
        let content = ["samples", "status", "annotation", "message"]
        let isIgnored = flag(optional("ignore", found)) ?? false
        if found.isMapping, content.contains(where: { found[$0] != nil }) == isIgnored {
            complain(
                node, isIgnored ? "an ignored packet holds nothing that matters" : "the packet holds nothing",
                "write one or more of \(Spelling.list(content)), or else 'ignore: true'")
        }
        for constant in list(found["when"]) {
            if let constant = self.constant(constant) { packet.constants.append(constant) }
        }
        if let counter = optional("counter", found) {
            packet.counter = field(fields(counter, ["at", "bit", "type"]))
            if let number = packet.counter?.number, number.kind != .unsigned || number.bits > 32 {
                complain(counter, "\(number) cannot count", "a counter is a number without sign of at most 32 bits")
            }
            check(packet.counter, counter, packet)
        }
        // A counter that could not be read, or is still to be filled in, says nothing of the stream.
        let isCounterRead = packet.counter != nil || found["counter"].map { $0.isEmpty && !$0.isOpen } ?? true
        for node in list(found["samples"]) {
            guard let samples = self.samples(node, packet, framing) else { continue }
            checkChannels(samples, node, packet)
            settleRanges(samples)
            if isCounterRead { settleCounter(packet.counter, of: samples, node) }
            packet.samples.append(samples)
        }
        packet.status = optional("status", found).map { status($0, packet) }
        packet.annotation = optional("annotation", found).map { annotation($0, packet) }
        packet.message = optional("message", found).flatMap { string($0) }
        return packet
    }

    /// Complains about a field that reaches beyond a packet whose length is known.
    mutating func check(_ field: DescribedField?, _ node: YAMLValue, _ packet: DescribedPacket) {
        guard let field, let length = packet.length else { return }
        let end = (field.byte < 0 ? length + field.byte : field.byte) + field.byteCount
        if end > length || length + field.byte < 0 {
            complain(node, "the field needs \(field.byte < 0 ? -field.byte : end) bytes, and the packet has \(length)")
        }
    }

    private mutating func constant(_ node: YAMLValue) -> DescribedConstant? {
        let found = fields(node, ["at", "bit", "type", "mask", "is"])
        let isShort = found["type"] == nil
        let field =
            isShort
            ? integer(required("at", found, "the byte"), -4096...4095).map {
                DescribedField(byte: $0, number: DescribedNumber(.unsigned, bits: 8))
            }
            : field(found)
        let mask = integer(optional("mask", found), 1...Int.max).map { UInt64($0) } ?? .max
        let values = list(required("is", found, "the value, or a list of values")).compactMap {
            integer($0, 0...Int.max).map { UInt64($0) }
        }
        guard let field, !values.isEmpty else { return nil }
        for value in values where field.number.bits < 64 && value >> UInt64(field.number.bits) != 0 {
            complain(node, "\(value) does not fit into \(field.number)")
        }
        return DescribedConstant(field: field, mask: mask, values: values)
    }

    // MARK: Samples

    private static let samplesKeys = [
        "stream", "at", "bit", "type", "instants", "channels", "order", "stride_bytes", "stride_bits", "except_bytes",
        "quantum",
    ]

    private mutating func samples(
        _ node: YAMLValue, _ packet: DescribedPacket, _ framing: DescribedFraming
    ) -> DescribedSamples? {
        let found = fields(node, Self.samplesKeys)
        let stream = stream(required("stream", found, "the name of a stream"))
        let first = field(found)
        let count = count(found, framing)
        guard let stream else { return nil }
        let channels = wireChannels(found, stream)
        guard let first, let count else { return nil }
        var samples = DescribedSamples(stream: stream, first: first, count: count, channels: channels)
        samples.isChannelMajor = word(optional("order", found), [("sample", false), ("channel", true)]) ?? false
        if let stride = optional("stride_bytes", found) {
            samples.strideBits = integer(stride, 1...DescribedFraming.lengthMaximum).map { $0 * 8 }
            if found["stride_bits"] != nil { complain(stride, "write either 'stride_bytes' or 'stride_bits'") }
        } else {
            samples.strideBits = integer(optional("stride_bits", found), 1...DescribedFraming.lengthMaximum * 8)
        }
        let number = first.number
        if number.kind == .float {
            samples.quantum =
                quantum(required("quantum", found, "what one stored count stands for, in the value's own unit")) ?? 1
        } else if number.kind == .unsigned ? number.bits > 31 : number.bits > 32 {
            complain(node, "\(number) does not fit into the database's integers of 32 bits with sign")
        }
        check(samples, node, packet)
        return samples
    }

    private mutating func quantum(_ node: YAMLValue?) -> Double? { number(node, 1e-30...1e30) }

    mutating func stream(_ node: YAMLValue?) -> Int? {
        guard let node, !node.isOpen else { return nil }
        if let name = node.text, let index = streams.firstIndex(where: { $0.stream.name == name }) { return index }
        complain(
            node, "\(node.kind) is none of the streams",
            Spelling.suggestion(for: node.text ?? "", among: streams.map(\.stream.name)))
        return nil
    }

    private mutating func count(_ found: YAMLFields, _ framing: DescribedFraming) -> DescribedSamples.Count? {
        let except = integer(optional("except_bytes", found), 0...DescribedFraming.lengthMaximum)
        guard let node = found["instants"] else { return .fixed(1) }
        if node.isOpen { return nil }
        if let except, node.text != "rest", let node = found["except_bytes"] {
            complain(node, "only 'instants: rest' has bytes that it excepts, not these \(except)")
        }
        if node.text == "rest" {
            let checksum = framing.checksum.map { max(0, -$0.field.byte) } ?? 0
            return .rest(except: except ?? max(framing.trailer.count, checksum))
        }
        if node.entries != nil { return field(fields(node, ["at", "bit", "type"])).map { .field($0) } }
        return integer(node, 1...SampleLimits.instants).map { .fixed($0) }
    }

    /// The channels in the order in which they are sent.
    private mutating func wireChannels(_ found: YAMLFields, _ stream: Int) -> [Int?] {
        let names = streams[stream].stream.channels.map(\.name)
        guard let node = optional("channels", found) else { return Array(names.indices) }
        guard let elements = node.elements, (1...256).contains(elements.count) else {
            complain(
                node, "\(node.kind) is not a list of channels",
                "in the order in which they are sent; ~ for a value that is not stored")
            return []
        }
        var result: [Int?] = []
        for element in elements {
            guard let name = element.text else {
                result.append(nil)
                continue
            }
            guard let index = names.firstIndex(of: name) else {
                complain(element, "\(element.kind) is no channel of the stream", Spelling.suggestion(for: name, among: names))
                continue
            }
            if result.contains(index) { complain(element, "\(element.kind) is sent twice") }
            result.append(index)
        }
        return result
    }

    /// Complains about samples that reach beyond a packet whose length is known.
    private mutating func check(_ samples: DescribedSamples, _ node: YAMLValue, _ packet: DescribedPacket) {
        guard let length = packet.length, case .fixed(let count) = samples.count, !samples.channels.isEmpty else { return }
        let bits = samples.first.number.bits
        let (outer, inner) = samples.isChannelMajor ? (samples.channels.count, count) : (count, samples.channels.count)
        let begin = samples.first.byte < 0 ? length + samples.first.byte : samples.first.byte
        let end = begin * 8 + samples.first.bit + (outer - 1) * (samples.strideBits ?? inner * bits) + inner * bits
        if begin < 0 || end > length * 8 {
            complain(
                node,
                "\(count) × \(samples.channels.count) values of \(bits) bits reach to byte \((end + 7) / 8), "
                    + "and the packet has \(length)"
            )
        }
    }

    /// Complains about a channel that a packet with a counter holds twice. All samples of the packet have that one counter: of
    /// two runs of a channel, the second would be the samples of the first once more. Without one, the runs follow each other.
    private mutating func checkChannels(_ samples: DescribedSamples, _ node: YAMLValue, _ packet: DescribedPacket) {
        guard packet.counter != nil else { return }
        let earlier: [Int] = packet.samples.filter { $0.stream == samples.stream }.flatMap(\.channels).compactMap { $0 }
        guard let channel = samples.channels.compactMap({ $0 }).first(where: earlier.contains) else { return }
        let stream = streams[samples.stream].stream
        complain(
            node, "the channel '\(stream.channels[channel].name)' of '\(stream.name)' is in earlier 'samples' of the packet",
            "write all of its instants in one, with 'stride_bytes' or 'stride_bits' where bytes lie between them")
    }

    /// What the samples say about the ranges of their channels.
    private mutating func settleRanges(_ samples: DescribedSamples) {
        let index = samples.stream
        let range = samples.first.number.rawRange
        for channel in samples.channels.compactMap({ $0 }) {
            if !streams[index].hasRange[channel] {
                let isFirst = !streams[index].filled[channel]
                let (low, high) = (
                    streams[index].stream.channels[channel].rawMinimum, streams[index].stream.channels[channel].rawMaximum
                )
                streams[index].stream.channels[channel].rawMinimum = isFirst ? range.lowerBound : min(low, range.lowerBound)
                streams[index].stream.channels[channel].rawMaximum = isFirst ? range.upperBound : max(high, range.upperBound)
            }
            streams[index].filled[channel] = true
        }
    }

    /// What the counter of a packet, or its absence, says about the stream of its samples.
    ///
    /// All packets of a stream have to count alike. Where some have no counter, theirs are numbered by their arrival, and those
    /// of the others seem to have come already; a counter of fewer bits begins at 0 again before the stream's modulus.
    private mutating func settleCounter(_ counter: DescribedField?, of samples: DescribedSamples, _ node: YAMLValue) {
        let index = samples.stream
        let bits = counter?.number.bits ?? 0
        let earlier = streams[index].counterBits ?? bits
        streams[index].counterBits = earlier
        let hint = "write a counter of the same bits in all packets of the stream, or describe two streams"
        if (bits == 0) != (earlier == 0) {
            complain(
                node,
                bits == 0
                    ? "the packet has no counter, and an earlier packet of the stream has one"
                    : "the packet has a counter, and an earlier packet of the stream has none", hint)
        } else if bits == 0, streams[index].hasModulus {
            complain(node, "the stream has a counter, and the packet has none", "write 'counter' in the packet")
        } else if bits != earlier, !streams[index].hasModulus {
            complain(node, "the counter has \(bits) bits, and that of an earlier packet of the stream \(earlier)", hint)
        }
        guard bits > 0 else { return }
        if bits <= 32 { settleModulus(bits: bits, isFirst: bits == earlier, index, node) }
        if samples.count != .fixed(1), !streams[index].hasSamplesPerCount {
            complain(
                node, "one packet holds several instants: it must be said what the counter counts",
                "write 'counter: {samples_per_count: N}' in the stream, 1 where the counter counts samples")
            streams[index].hasSamplesPerCount = true
        }
    }

    /// The modulus is that of the counter's bits, unless the stream says a smaller one.
    private mutating func settleModulus(bits: Int, isFirst: Bool, _ index: Int, _ node: YAMLValue) {
        let modulus = Int64(1) << Int64(bits)
        guard streams[index].hasModulus else {
            if isFirst { streams[index].stream.counterModulus = modulus }
            return
        }
        if let stated = streams[index].stream.counterModulus, stated > modulus {
            complain(
                node, "the counter has \(bits) bits, and the stream's modulus is \(stated)",
                "it begins at 0 again after \(modulus) values at the latest")
        }
    }

    // MARK: Status, texts

    private static let conditions: [(word: String, value: HeadsetStatus.Condition)] = [
        ("streaming", .streaming), ("sampling", .sampling), ("idle", .idle), ("low_power", .lowPower),
        ("bootloader", .bootloader), ("wrong_configuration", .wrongConfiguration),
    ]

    private mutating func status(_ node: YAMLValue, _ packet: DescribedPacket) -> DescribedStatus {
        let found = fields(node, ["condition", "boot_identifier", "battery_percent", "serial_number", "ticks"])
        var status = DescribedStatus()
        if let condition = optional("condition", found) { status.condition = self.condition(condition, packet) }
        if let boot = optional("boot_identifier", found) {
            status.bootIdentifier = field(fields(boot, ["at", "bit", "type"]))
            check(status.bootIdentifier, boot, packet)
        }
        if let battery = optional("battery_percent", found) {
            let keys = fields(battery, ["at", "bit", "type", "scale", "offset"])
            let field = field(keys)
            check(field, battery, packet)
            status.battery = field.map {
                DescribedStatus.Quantity(
                    field: $0, scale: number(optional("scale", keys), -1e100...1e100, nonzero: true) ?? 1,
                    offset: number(optional("offset", keys), -1e100...1e100) ?? 0)
            }
        }
        status.serialNumber = optional("serial_number", found).flatMap { string($0) }
        if let ticks = optional("ticks", found) {
            let keys = fields(ticks, ["at", "bit", "type", "frequency_hertz"])
            status.ticks = field(keys)
            status.tickFrequency =
                number(required("frequency_hertz", keys, "ticks per second"), 0.001...1e12) ?? status.tickFrequency
            check(status.ticks, ticks, packet)
        }
        return status
    }

    private mutating func condition(_ node: YAMLValue, _ packet: DescribedPacket) -> DescribedStatus.Condition {
        guard node.entries != nil else { return word(node, Self.conditions).map { .fixed($0) } ?? .bySamples }
        let found = fields(node, ["at", "bit", "type", "values", "otherwise"])
        let field = field(found)
        check(field, node, packet)
        let values = table(required("values", found, "what each value means, such as {0: idle, 1: streaming}")).compactMap {
            value, node in
            word(node, Self.conditions).map { DescribedStatus.Value(value, $0) }
        }
        let otherwise = word(optional("otherwise", found), Self.conditions) ?? .idle
        return field.map { .field($0, values: values, otherwise: otherwise) } ?? .bySamples
    }

    /// A mapping from numbers to values.
    mutating func table(_ node: YAMLValue?) -> [(UInt64, YAMLValue)] {
        guard let node else { return [] }
        guard let entries = node.entries else {
            complain(node, "\(node.kind) is not a mapping", "write each value and its meaning, such as {0: idle, 1: streaming}")
            return []
        }
        return entries.compactMap { key, value in
            integer(key, 0...Int.max).map { (UInt64($0), value) }
        }
    }

    private mutating func string(_ node: YAMLValue) -> DescribedString? {
        let found = fields(node, ["at", "length", "as"])
        let byte = integer(required("at", found, "the first byte"), -4096...4095)
        let length = integer(optional("length", found), 1...512)
        let isHexadecimal = word(optional("as", found), [("text", false), ("hexadecimal", true)]) ?? false
        return byte.map { DescribedString(byte: $0, length: length, isHexadecimal: isHexadecimal) }
    }
}

/// Limits of what one packet may hold.
enum SampleLimits {
    /// The most instants.
    static let instants = 4096
}

extension BluetoothUUID {
    /// Stands for one that is not known; no headset has it.
    static let unknown = BluetoothUUID(high: 0, low: 0)
}
