package import Bluetooth

/// Decodes the multiplexed packets of a Muse S Athena. Each kind of block has a number of its own, which counts the blocks
/// and is the counter of its streams.
///
/// A headset that sends another preset than it was set to, or than a capture is believed to hold, is followed: what its blocks
/// hold, their tags say.
///
/// Each block bears the clock of its packet's header (``SampleBlock/deviceTicks``). Measured on a recording of 7 s with old
/// firmware: it is the time at which the first block of the packet was complete, in steps of about 10 ms, to ±11 ms (motion,
/// optics; standard deviation) or ±33 ms (EEG, which the headset puts into packets in bursts). What stands behind the first
/// block is complete up to 130 ms later, while the packet fills; and a packet's time may lie up to 40 ms before that
/// of the packet before it.
///
/// A stream may pause, as optics do, and then counts on by one. No block of it was lost meanwhile where all packets came
/// (``SampleBlock/followsDirectly``): their indexes follow each other, and nothing in them was undecodable.
package struct MuseAthenaDecoder: HeadsetDecoder {
    private var control = MuseControl()
    private var layout: MuseAthenaLayout
    /// Blocks in a row of EEG, and of optics, that are wider or narrower than ``layout`` says.
    private var otherBlocks: (eeg: [Block], optics: [Block]) = ([], [])
    /// The clock in the present packet's header; nil with new firmware, with which nobody has checked the header.
    private var milliseconds: UInt64?
    private var hasNewFirmware = false
    /// The headset's clock when it was reported last.
    private var latestMilliseconds: UInt64?

    /// How many steps of the new firmware's block are a percent, once that is known.
    private var newBatterySteps: Double?

    /// How often the headset's clock is reported; battery blocks come each second.
    private static let clockPeriodMilliseconds: UInt64 = 10_000

    /// The lowest byte of the latest packet's index.
    private var latestIndex: UInt8?
    /// The last packet before something else that was not believed, and its clock.
    private var doubted: (index: UInt8, milliseconds: UInt64?)?
    /// So many packets in a row are hardly ever lost.
    private static let lostPacketsMaximum: UInt8 = 16
    /// They take no longer than this, at some 20 a second.
    private static let lostMillisecondsMaximum: UInt64 = 5000

    /// By stream: the number of its latest block, and how many losses came before that.
    private var latestBlocks: [(number: UInt8, losses: Int)?] = Array(repeating: nil, count: Self.streamCountMaximum)
    /// How often packets, or blocks in them, may have been lost.
    private var losses = 0
    /// More streams than the blocks of any preset have.
    private static let streamCountMaximum = 8

    /// With so many of them the headset is followed: a few may be left over from the preset before.
    private static let otherBlockLimit = 8

    private struct Block {
        var tag: MuseAthenaPacket.Tag
        var number: UInt8
        var content: [UInt8]
        var milliseconds: UInt64?
        var losses: Int
    }

    /// Creates a decoder for one link.
    ///
    /// - Parameter preset: what the headset was set to send. Blocks of another width are held back; with the eighth in a row,
    ///   what they hold is reported as a status with other streams, and then their samples. Where one comes between that fits,
    ///   they are discarded.
    package init(preset: MuseAthenaPreset = .p1041) {
        layout = preset.layout
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        if characteristic == MuseService.control { return control.decode(bytes, into: &decoded) }
        guard characteristic == MuseService.multiplexed else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        var (last, end) = MuseAthenaPacket.extent(of: bytes)
        // One that ends in something else may be something else as a whole.
        if end > 0, end < bytes.count, !isBelieved(bytes, to: end, last: last) { (last, end) = (0, 0) }
        if end == 0 || latestIndex.map({ MuseAthenaPacket.lowIndex(bytes, at: 0) &- $0 != 1 }) ?? true { losses += 1 }
        var start = 0
        while start < end {
            let next = start + Int(bytes[start])
            decodePacket(bytes, start..<next, into: &decoded)
            start = next
        }
        if end > 0 { latestIndex = MuseAthenaPacket.lowIndex(bytes, at: last) }
        guard end < bytes.count else { return }
        losses += 1
        decoded.items.append(.discarded(byteCount: bytes.count - end))
    }

    /// Whether packets before something else are the headset's: they go on where the latest ones ended, or where such ones did
    /// that were not believed.
    private mutating func isBelieved(_ bytes: borrowing [UInt8], to end: Int, last: Int) -> Bool {
        guard let latestIndex else { return true }
        let isNext = goesOn(bytes, to: end, from: latestIndex, milliseconds)
        let isNextOfDoubted = doubted.map { goesOn(bytes, to: end, from: $0.index, $0.milliseconds) } ?? false
        doubted = nil
        if isNext || isNextOfDoubted { return true }
        let clock = hasNewFirmware ? nil : Self.clock(bytes, last..<end)
        doubted = (MuseAthenaPacket.lowIndex(bytes, at: last), clock)
        return false
    }

    /// Whether the packets up to `end` go on: by their indexes, and by the headset's clock, or by blocks that fill them.
    private func goesOn(_ bytes: borrowing [UInt8], to end: Int, from index: UInt8, _ milliseconds: UInt64?) -> Bool {
        let step = MuseAthenaPacket.lowIndex(bytes, at: 0) &- index
        guard (1...Self.lostPacketsMaximum).contains(step) else { return false }
        var start = 0
        while start < end {
            let packet = start..<start + Int(bytes[start])
            if let milliseconds {
                let clock = Self.clock(bytes, packet)
                let distance = max(clock, milliseconds) - min(clock, milliseconds)
                if distance > Self.lostMillisecondsMaximum { return false }
            } else if !MuseAthenaPacket.isFilled(bytes, packet) {
                return false
            }
            start = packet.upperBound
        }
        return true
    }

    /// What the blocks hold is known.
    package func continued() -> (any HeadsetDecoder)? {
        var next = self
        next.otherBlocks = ([], [])
        next.latestMilliseconds = nil
        next.latestIndex = nil
        next.forgetBlocks()
        return next
    }

    private mutating func decodePacket(_ bytes: [UInt8], _ packet: Range<Int>, into decoded: inout Decoded) {
        milliseconds = hasNewFirmware ? nil : Self.clock(bytes, packet)
        var start = packet.lowerBound + MuseAthenaPacket.headerLength
        while start < packet.upperBound {
            let content = start + MuseAthenaPacket.blockHeaderLength
            guard let tag = MuseAthenaPacket.Tag(rawValue: bytes[start]), content <= packet.upperBound else { break }
            let end = tag.contentLength.map { content + $0 } ?? packet.upperBound
            guard end <= packet.upperBound else { break }
            decodeBlock(tag, number: bytes[start + 1], bytes, content..<end, packet, into: &decoded)
            start = end
        }
        // What follows an unknown tag has no known length.
        guard start < packet.upperBound else { return }
        losses += 1
        decoded.items.append(.discarded(byteCount: packet.upperBound - start))
    }

    /// The next block of each stream follows none.
    private mutating func forgetBlocks() { latestBlocks = Array(repeating: nil, count: Self.streamCountMaximum) }

    private mutating func decodeBlock(
        _ tag: MuseAthenaPacket.Tag, number: UInt8, _ bytes: [UInt8], _ content: Range<Int>, _ packet: Range<Int>,
        into decoded: inout Decoded
    ) {
        switch tag {
        case layout.eegTag:
            Self.discard(&otherBlocks.eeg, into: &decoded)
            control.hasSamples = true
            let channels = tag == .eeg8 ? 8 : 4
            let start = decoded.values.count
            MuseAthenaPacket.appendPacked(bytes, from: content.lowerBound, count: 16, width: 14, to: &decoded.values)
            append(MuseAthenaProfile.eeg, number, channels: channels, from: start, into: &decoded)
        case .motion: decodeMotion(number, bytes, content, into: &decoded)
        case layout.opticsTag:
            Self.discard(&otherBlocks.optics, into: &decoded)
            decodeOptics(tag, number, bytes, content, into: &decoded)
        case .reference: decodeReference(number, bytes, content, into: &decoded)
        case .battery: appendBattery(bytes, content, packet, into: &decoded)
        case .newBattery: appendNewBattery(bytes, content, packet, into: &decoded)
        case .eeg4, .eeg8:
            otherBlocks.eeg.append(
                Block(tag: tag, number: number, content: Array(bytes[content]), milliseconds: milliseconds, losses: losses))
            if let blocks = Self.takeRow(&otherBlocks.eeg) { follow(blocks, packet, into: &decoded) }
        case .optics4, .optics8, .optics16:
            otherBlocks.optics.append(
                Block(tag: tag, number: number, content: Array(bytes[content]), milliseconds: milliseconds, losses: losses))
            if let blocks = Self.takeRow(&otherBlocks.optics) { follow(blocks, packet, into: &decoded) }
        }
    }

    /// What was left over.
    private static func discard(_ blocks: inout [Block], into decoded: inout Decoded) {
        guard !blocks.isEmpty else { return }
        decoded.items.append(.discarded(byteCount: blocks.reduce(0) { $0 + $1.content.count }))
        blocks.removeAll()
    }

    /// Takes the blocks once there are enough of them.
    private static func takeRow(_ blocks: inout [Block]) -> [Block]? {
        guard blocks.count >= otherBlockLimit else { return nil }
        defer { blocks.removeAll() }
        return blocks
    }

    /// Takes the latest block for what comes from now on; earlier ones of yet another width do not fit.
    private mutating func follow(_ blocks: [Block], _ packet: Range<Int>, into decoded: inout Decoded) {
        guard let latest = blocks.last?.tag else { return }
        layout.follow(latest)
        forgetBlocks()
        let present = losses
        defer { losses = present }
        decoded.items.append(.status(HeadsetStatus(condition: .streaming, streams: layout.streams)))
        for block in blocks {
            if block.tag == latest {
                (milliseconds, losses) = (block.milliseconds, block.losses)
                decodeBlock(block.tag, number: block.number, block.content, block.content.indices, packet, into: &decoded)
            } else {
                decoded.items.append(.discarded(byteCount: block.content.count))
            }
        }
    }

    /// Whether a block follows the stream's one before directly; the next one may follow it.
    private mutating func followsDirectly(_ stream: Int, _ number: UInt8) -> Bool {
        guard latestBlocks.indices.contains(stream) else { return false }
        defer { latestBlocks[stream] = (number, losses) }
        return latestBlocks[stream].map { number == $0.number &+ 1 && losses == $0.losses } ?? false
    }

    private mutating func append(
        _ stream: Int, _ number: UInt8, channels: Int, from start: Int, into decoded: inout Decoded
    ) {
        let end = decoded.values.count
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: UInt32(number), channelCount: channels, instantCount: (end - start) / channels,
                    values: start..<end, deviceTicks: milliseconds, followsDirectly: followsDirectly(stream, number))))
    }

    private mutating func decodeMotion(_ number: UInt8, _ bytes: [UInt8], _ content: Range<Int>, into decoded: inout Decoded) {
        for stream in MuseAthenaProfile.accelerometer...MuseAthenaProfile.gyroscope {
            let start = decoded.values.count
            let offset = stream == MuseAthenaProfile.gyroscope ? 6 : 0
            for instant in 0..<3 {
                for axis in 0..<3 {
                    let first = content.lowerBound + instant * 12 + offset + axis * 2
                    decoded.values.append(
                        Int32(Int16(bitPattern: UInt16(bytes[first]) | UInt16(bytes[first + 1]) << 8)))
                }
            }
            append(stream, number, channels: 3, from: start, into: &decoded)
        }
    }

    /// 16 channels are one instant in two banks.
    private mutating func decodeOptics(
        _ tag: MuseAthenaPacket.Tag, _ number: UInt8, _ bytes: [UInt8], _ content: Range<Int>, into decoded: inout Decoded
    ) {
        let start = decoded.values.count
        let count = tag == .optics4 ? 12 : 16
        MuseAthenaPacket.appendPacked(bytes, from: content.lowerBound, count: count, width: 20, to: &decoded.values)
        guard tag == .optics16 else {
            return append(MuseAthenaProfile.optics, number, channels: tag == .optics4 ? 4 : 8, from: start, into: &decoded)
        }
        for bank in 0..<2 {
            let first = start + bank * 8
            decoded.items.append(
                .samples(
                    SampleBlock(
                        stream: MuseAthenaProfile.optics + bank, counter: UInt32(number), channelCount: 8, instantCount: 1,
                        values: first..<(first + 8), deviceTicks: milliseconds,
                        followsDirectly: followsDirectly(MuseAthenaProfile.optics + bank, number))))
        }
    }

    /// 6 instants of 2 channels, 16 bits each, the lowest byte first.
    private mutating func decodeReference(
        _ number: UInt8, _ bytes: [UInt8], _ content: Range<Int>, into decoded: inout Decoded
    ) {
        let start = decoded.values.count
        for offset in stride(from: content.lowerBound, to: content.upperBound, by: 2) {
            decoded.values.append(Int32(bytes[offset]) | Int32(bytes[offset + 1]) << 8)
        }
        append(layout.referenceStream, number, channels: 2, from: start, into: &decoded)
    }

    // MARK: Battery and clock

    private static func clock(_ bytes: borrowing [UInt8], _ packet: Range<Int>) -> UInt64 {
        var milliseconds: UInt64 = 0
        for offset in (3..<MuseAthenaPacket.headerLength).reversed() {
            milliseconds = milliseconds << 8 | UInt64(bytes[packet.lowerBound + offset])
        }
        return milliseconds
    }

    /// The headset's clock in a packet's header, in milliseconds; nil where it was reported not long ago.
    private mutating func clockIfDue(_ bytes: [UInt8], _ packet: Range<Int>) -> UInt64? {
        let milliseconds = Self.clock(bytes, packet)
        if let latest = latestMilliseconds, milliseconds &- latest < Self.clockPeriodMilliseconds { return nil }
        latestMilliseconds = milliseconds
        return milliseconds
    }

    /// The charge in 1/256 %, and beside it the headset's clock as an observation.
    private mutating func appendBattery(
        _ bytes: [UInt8], _ content: Range<Int>, _ packet: Range<Int>, into decoded: inout Decoded
    ) {
        guard let milliseconds = clockIfDue(bytes, packet) else { return }
        decoded.items.append(
            .status(
                HeadsetStatus(
                    condition: .streaming, batteryPercent: min(100, Self.battery(bytes, content) / 256),
                    deviceTicks: milliseconds, tickFrequency: 1000, raw: Array(bytes[content]))))
    }

    /// The charge as new firmware sends it, in 1/256 % or 1/512 %: sources disagree. The answer to the status query has it in
    /// percent; only a block that agrees with it to 5 % shows which, and until one does nothing is reported. Nobody has checked
    /// the packets' header with this firmware, so its clock is not reported.
    private mutating func appendNewBattery(
        _ bytes: [UInt8], _ content: Range<Int>, _ packet: Range<Int>, into decoded: inout Decoded
    ) {
        hasNewFirmware = true
        guard content.count >= 2, let known = control.batteryPercent else { return }
        let raw = Self.battery(bytes, content)
        newBatterySteps = newBatterySteps ?? [256, 512].first { abs(raw / $0 - known) <= 5 }
        guard let steps = newBatterySteps, raw / steps <= 100, clockIfDue(bytes, packet) != nil else { return }
        decoded.items.append(
            .status(HeadsetStatus(condition: .streaming, batteryPercent: raw / steps, raw: Array(bytes[content]))))
    }

    private static func battery(_ bytes: [UInt8], _ content: Range<Int>) -> Double {
        Double(UInt16(bytes[content.lowerBound]) | UInt16(bytes[content.lowerBound + 1]) << 8)
    }
}
