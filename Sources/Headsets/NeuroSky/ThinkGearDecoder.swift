package import Bluetooth

/// Decodes the byte stream of a ThinkGear serial port into the streams of ``ThinkGearProfile``.
///
/// The format has no counter. Damage is therefore counted in bytes: what lies between two good frames shows how many raw frames
/// were lost there, no more than seem to begin there. Bytes that never came leave no trace; but the module computes powers once
/// in 512 raw samples, so that each set of them is a mark (``DecodedItem/periodMark(stream:sampleCount:blockLength:)``), exact
/// to a sample however the stream is cut into pieces. In a recording of 322 s, 320 of the 321 intervals between two sets are
/// 512 raw samples; one is 262, where the module or the recording began anew. The same shows which sets were lost themselves
/// (``ThinkGearSets``).
package struct ThinkGearDecoder: HeadsetDecoder {
    /// So many frames may be damaged where nothing looks like the beginning of one: more of such bytes no module has sent. What
    /// is lost besides, the marks show, whereas what was counted too high would stay.
    private static let hiddenFrames = 2

    private let characteristic: BluetoothUUID
    private var parser = ThinkGearParser()
    /// What old modules sent of their battery last.
    private var battery: UInt8?
    private var sets = ThinkGearSets()

    /// Creates a decoder for one link.
    ///
    /// - Parameter characteristic: where the bytes come from.
    package init(characteristic: BluetoothUUID = .serialPort) {
        self.characteristic = characteristic
    }

    /// Frames that were found on the link.
    package var frameCount: UInt64 { parser.frameCount }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard characteristic == self.characteristic else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        parser.append(bytes)
        // Raw samples of one call that follow each other become one block.
        var rawStart = decoded.values.count
        while let frame = parser.next() {
            if frame.skippedByteCount > 0 {
                Self.endRaw(from: &rawStart, into: &decoded)
                appendLoss(of: frame, into: &decoded)
            }
            if let sample = parser.rawSample(of: frame) {
                decoded.values.append(Int32(sample))
                sets.addRaw()
                continue
            }
            appendRows(of: parser.payload(of: frame), rawStart: &rawStart, into: &decoded)
        }
        Self.endRaw(from: &rawStart, into: &decoded)
    }

    /// The frames that `byteCount` damaged bytes between two good frames were, as far as that can be known.
    ///
    /// Raw frames have 8 bytes, power frames 36, which is 4 more than a multiple of 8; with 512 raw frames to one power frame,
    /// the likeliest number of power frames with the right parity is taken. Where bytes are missing too, or
    /// the frame was a rare one (a blink has 6 bytes), the rest is counted as raw frames.
    package static func lostFrames(inBytes byteCount: Int) -> (raw: Int, power: Int) {
        let second = ThinkGearProfile.nominalBytesPerSecond
        let count = max(0, byteCount)
        var power = 0
        if count.isMultiple(of: 4) {
            let parity = count / 4 % 2
            power = parity + 2 * ((count - second * parity + second) / (2 * second))
        } else {
            power = (count + second / 2) / second
        }
        if power * ThinkGearFrame.powerLength > count { power = 0 }
        let rest = count - power * ThinkGearFrame.powerLength
        return ((rest + ThinkGearFrame.rawLength - 1) / ThinkGearFrame.rawLength, power)
    }

    private mutating func appendLoss(of frame: ThinkGearParser.Frame, into decoded: inout Decoded) {
        // A link begins anywhere within a frame: that is no damage.
        if frame.isFirst {
            decoded.items.append(.discarded(byteCount: frame.skippedByteCount))
            return
        }
        let lost = Self.lostFrames(inBytes: frame.skippedByteCount)
        let raw = min(lost.raw, frame.skippedSyncCount + Self.hiddenFrames)
        if raw > 0 { decoded.items.append(.damaged(stream: ThinkGearProfile.eeg, count: raw)) }
        Self.appendLostSets(sets.addDamage(raw: raw, sets: lost.power), into: &decoded)
    }

    private static func appendLostSets(_ count: Int, into decoded: inout Decoded) {
        guard count > 0 else { return }
        decoded.items.append(.damaged(stream: ThinkGearProfile.power, count: count))
        decoded.items.append(.damaged(stream: ThinkGearProfile.esense, count: count))
    }

    /// Ends the block of raw samples that began at `start`, if there are any.
    private static func endRaw(from start: inout Int, into decoded: inout Decoded) {
        let end = decoded.values.count
        if end > start {
            decoded.items.append(
                .samples(
                    SampleBlock(
                        stream: ThinkGearProfile.eeg, counter: nil, channelCount: 1, instantCount: end - start,
                        values: start..<end)))
        }
        start = end
    }

    /// Powers were computed here, of the raw samples up to here.
    ///
    /// - Parameter isStored: false for powers as floating-point numbers.
    private mutating func appendMark(isStored: Bool, from start: inout Int, into decoded: inout Decoded) {
        Self.endRaw(from: &start, into: &decoded)
        decoded.items.append(
            .periodMark(stream: ThinkGearProfile.eeg, sampleCount: ThinkGearProfile.samplesPerPower, blockLength: 1))
        let lost = sets.takeSet()
        if isStored { Self.appendLostSets(lost, into: &decoded) }
    }

    private mutating func appendRows(of payload: ArraySlice<UInt8>, rawStart: inout Int, into decoded: inout Decoded) {
        var esense: (poorSignal: Int32?, attention: Int32?, meditation: Int32?)
        for row in ThinkGearRows(payload: payload) where row.extendedLevel == 0 {
            let value = row.value
            switch (row.code, value.count) {
            case (ThinkGearRow.raw, 2):
                let bits = UInt16(value[value.startIndex]) << 8 | UInt16(value[value.startIndex + 1])
                decoded.values.append(Int32(Int16(bitPattern: bits)))
                sets.addRaw()
            case (ThinkGearRow.power, 24):
                appendMark(isStored: true, from: &rawStart, into: &decoded)
                for offset in stride(from: value.startIndex, to: value.endIndex, by: 3) {
                    decoded.values.append(
                        Int32(value[offset]) << 16 | Int32(value[offset + 1]) << 8 | Int32(value[offset + 2]))
                }
                Self.appendInstant(of: ThinkGearProfile.power, firstChannel: 0, from: &rawStart, into: &decoded)
            case (ThinkGearRow.floatingPower, 32): appendMark(isStored: false, from: &rawStart, into: &decoded)
            case (ThinkGearRow.poorSignal, 1): esense.poorSignal = value.first.map(Int32.init)
            case (ThinkGearRow.attention, 1): esense.attention = value.first.map(Int32.init)
            case (ThinkGearRow.meditation, 1): esense.meditation = value.first.map(Int32.init)
            case (ThinkGearRow.blink, 1):
                Self.endRaw(from: &rawStart, into: &decoded)
                let strength = value.first ?? 0
                decoded.items.append(
                    .event(
                        HeadsetEvent(
                            "Blink (strength \(strength))", of: HeadsetEvent.Sample(stream: ThinkGearProfile.eeg),
                            code: Int64(strength))))
            case (ThinkGearRow.battery, 1) where value.first != battery:
                battery = value.first
                let percent = Double(min(battery ?? 0, ThinkGearRow.batteryMaximum)) * 100 / Double(ThinkGearRow.batteryMaximum)
                decoded.items.append(.status(HeadsetStatus(condition: .streaming, batteryPercent: percent)))
            default: break
            }
        }
        guard esense.poorSignal != nil || esense.attention != nil || esense.meditation != nil else { return }
        Self.endRaw(from: &rawStart, into: &decoded)
        // Attention of 0 is the headset's own word for "cannot be computed"; it stands for one that is absent in between.
        if esense.poorSignal != nil && esense.meditation != nil && esense.attention == nil { esense.attention = 0 }
        let firstChannel = esense.poorSignal != nil ? 0 : esense.attention != nil ? 1 : 2
        if let value = esense.poorSignal { decoded.values.append(value) }
        if let value = esense.attention { decoded.values.append(value) }
        if let value = esense.meditation { decoded.values.append(value) }
        Self.appendInstant(of: ThinkGearProfile.esense, firstChannel: firstChannel, from: &rawStart, into: &decoded)
    }

    /// Makes the values from `start` on one instant of the stream.
    private static func appendInstant(of stream: Int, firstChannel: Int, from start: inout Int, into decoded: inout Decoded) {
        let end = decoded.values.count
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: nil, firstChannel: firstChannel, channelCount: end - start, instantCount: 1,
                    values: start..<end)))
        start = end
    }
}
