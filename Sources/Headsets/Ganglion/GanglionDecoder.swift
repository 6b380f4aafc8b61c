package import Bluetooth

/// Decodes the notifications of a Ganglion, of firmware 2 or 3.
///
/// The packets' identifiers count the packets of a cycle of ``GanglionService/cycleLength`` sampling instants; the position in
/// the cycle is the counter of the streams. Firmware 3 takes a last sample of each cycle that it never sends: that is reported
/// as such, so that it is no lost packet.
package struct GanglionDecoder: HeadsetDecoder {
    /// Longer texts are cut: the register dump, the longest, has about 300 characters.
    package static let messageLengthMaximum = 1024

    /// How the samples are packed; nil until the Software Revision String was read: a guess would store nonsense.
    private var firmware: GanglionFirmware?
    private let isAccelerometerOn: Bool
    /// Firmware 2: the samples that the next differences are taken from.
    private var previous: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    /// Firmware 2: false from a lost packet to the next raw sample.
    private var hasPrevious = false
    /// The position of the latest packet in its cycle; nil before the first.
    private var lastPosition: Int?
    /// The text that has not ended yet.
    private var message: [UInt8] = []

    /// Creates a decoder for one link.
    ///
    /// - Parameters:
    ///   - firmware: how samples are packed; nil where the Software Revision String will name it. Samples that come before
    ///     are discarded.
    ///   - isAccelerometerOn: how the headset was set.
    package init(firmware: GanglionFirmware? = nil, isAccelerometerOn: Bool = true) {
        self.firmware = firmware
        self.isAccelerometerOn = isAccelerometerOn
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        if characteristic == .softwareRevisionString {
            firmware = GanglionFirmware(softwareRevision: bytes)
            hasPrevious = false
            lastPosition = nil
            // As if the headset had not answered: the version is read again.
            guard firmware != nil else { return decoded.items.append(.discarded(byteCount: bytes.count)) }
            // It does not say whether it streams. Stopped is right on a new link, and on an old one it does no harm.
            decoded.items.append(.status(HeadsetStatus(condition: .idle)))
            return
        }
        // No packet of the radio is longer; what follows a longer one's first bytes was not sent by this headset.
        guard characteristic == GanglionService.data, let identifier = bytes.first,
            bytes.count <= GanglionService.packetLength
        else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        switch identifier {
        case 0...200: decodeSamples(bytes, identifier: Int(identifier), into: &decoded)
        case 201...205: decodeImpedance(bytes, electrode: Int(identifier) - 201, into: &decoded)
        case 206, 207: decodeMessage(bytes, isLast: identifier == 207, into: &decoded)
        // 255 is said to come first after a start of firmware 3.0.1; what it holds is not known for sure.
        default: decoded.items.append(.discarded(byteCount: bytes.count))
        }
    }

    /// The firmware is known.
    package func continued() -> (any HeadsetDecoder)? {
        GanglionDecoder(firmware: firmware, isAccelerometerOn: isAccelerometerOn)
    }

    // MARK: Samples

    private mutating func decodeSamples(_ bytes: [UInt8], identifier: Int, into decoded: inout Decoded) {
        // With the accelerometer off, 99 is not the last packet of 18 bits, but one of 19 bits before the first cycle.
        let isBeforeFirst = firmware == .version3 && identifier == 99 && !isAccelerometerOn
        guard let firmware, bytes.count == GanglionService.packetLength, !isBeforeFirst,
            firmware == .version2 || identifier < 200
        else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        switch firmware {
        case .version2 where identifier == 0: decodeRaw(bytes, into: &decoded)
        case .version2:
            decodeDifferences(
                bytes, position: (identifier - 1) % 100 + 1, width: identifier <= 100 ? 18 : 19, into: &decoded)
        case .version3: decodeTruncated(bytes, position: identifier % 100, width: identifier < 100 ? 18 : 19, into: &decoded)
        }
    }

    /// Firmware 2, identifier 0: one sample of 24 bits, the first of its cycle.
    private mutating func decodeRaw(_ bytes: [UInt8], into decoded: inout Decoded) {
        func value(_ offset: Int) -> Int32 {
            let bits = UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
            return Int32(bitPattern: bits) >> 8
        }
        previous = (value(1), value(4), value(7), value(10))
        hasPrevious = true
        lastPosition = 0
        let start = decoded.values.count
        appendPrevious(to: &decoded.values)
        Self.appendBlock(counter: 0, instantCount: 1, from: start, into: &decoded)
    }

    /// Firmware 2: two samples as differences. Each is the sample before, less the field.
    private mutating func decodeDifferences(_ bytes: [UInt8], position: Int, width: Int, into decoded: inout Decoded) {
        if width == 18 { decodeAcceleration(bytes, position: position, into: &decoded) }
        // A packet that came twice must not be added twice, and breaks nothing.
        if lastPosition != position { hasPrevious = hasPrevious && lastPosition == position - 1 }
        let isRepeated = lastPosition == position
        lastPosition = position
        guard hasPrevious, !isRepeated else {
            // After a lost packet the sum is unknown until the next raw sample: nothing is better than drifted samples.
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        let start = decoded.values.count
        var fields = GanglionFields(width: width)
        for _ in 0..<2 {
            previous.0 = GanglionField.sum(previous.0, less: fields.next(of: bytes), width: width)
            previous.1 = GanglionField.sum(previous.1, less: fields.next(of: bytes), width: width)
            previous.2 = GanglionField.sum(previous.2, less: fields.next(of: bytes), width: width)
            previous.3 = GanglionField.sum(previous.3, less: fields.next(of: bytes), width: width)
            appendPrevious(to: &decoded.values)
        }
        Self.appendBlock(counter: 2 * position - 1, instantCount: 2, from: start, isSummed: true, into: &decoded)
    }

    /// Firmware 3: two truncated samples.
    private mutating func decodeTruncated(_ bytes: [UInt8], position: Int, width: Int, into decoded: inout Decoded) {
        // The cycle has ended although its last packet did not come. A small step back is a packet that was overtaken.
        if let lastPosition, lastPosition > position + 50, lastPosition != 99 { Self.appendUnsent(into: &decoded) }
        lastPosition = position
        if width == 18 { decodeAcceleration(bytes, position: position, into: &decoded) }
        let start = decoded.values.count
        var fields = GanglionFields(width: width)
        for _ in 0..<8 { decoded.values.append(GanglionField.sample(fields.next(of: bytes), width: width)) }
        Self.appendBlock(counter: 2 * position, instantCount: 2, from: start, into: &decoded)
        if position == 99 { Self.appendUnsent(into: &decoded) }
    }

    /// The last byte of a packet of 18 bits is one axis; the packets in between repeat a stale one.
    private func decodeAcceleration(_ bytes: [UInt8], position: Int, into decoded: inout Decoded) {
        // Where the accelerometer was switched off, a packet of 18 bits shows that the headset has not heard it: there is no
        // stream for the axis.
        guard isAccelerometerOn, (1...3).contains(position % 10) else { return }
        let start = decoded.values.count
        decoded.values.append(Int32(Int8(bitPattern: bytes[GanglionService.packetLength - 1])))
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: GanglionProfile.accelerometer, counter: UInt32(position / 10), firstChannel: position % 10 - 1,
                    channelCount: 1, instantCount: 1, values: start..<(start + 1))))
    }

    private func appendPrevious(to values: inout [Int32]) {
        values.append(previous.0)
        values.append(previous.1)
        values.append(previous.2)
        values.append(previous.3)
    }

    private static func appendBlock(
        counter: Int, instantCount: Int, from start: Int, isSummed: Bool = false, into decoded: inout Decoded
    ) {
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: GanglionProfile.eeg, counter: UInt32(counter), channelCount: 4, instantCount: instantCount,
                    values: start..<decoded.values.count, isSummed: isSummed)))
    }

    private static func appendUnsent(into decoded: inout Decoded) {
        decoded.items.append(
            .unsent(stream: GanglionProfile.eeg, counter: UInt32(GanglionService.cycleLength - 1), count: 1))
    }

    // MARK: Text

    /// The firmware writes the digits of the whole number, none for 0 and below: its polynomial falls below 0 for electrodes of
    /// less than about 4 kΩ. It takes no samples until it is started anew, with the first packet of a cycle.
    private mutating func decodeImpedance(_ bytes: [UInt8], electrode: Int, into decoded: inout Decoded) {
        let digits = bytes.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count <= 8, bytes.dropFirst(1 + digits.count).first == UInt8(ascii: "Z") else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        (hasPrevious, lastPosition) = (false, nil)
        let kilohms = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        decoded.items.append(.impedance(electrode: electrode, kilohms: Double(kilohms)))
    }

    private mutating func decodeMessage(_ bytes: [UInt8], isLast: Bool, into decoded: inout Decoded) {
        for byte in bytes.dropFirst() where byte != 0 && message.count < Self.messageLengthMaximum { message.append(byte) }
        guard isLast else { return }
        decoded.items.append(.message(String(decoding: message, as: UTF8.self)))
        message.removeAll(keepingCapacity: true)
    }
}
