package import Bluetooth

/// Decodes the notifications of a MindWave Mobile 2 into the streams of ``ThinkGearProfile``.
///
/// No notification has a counter: one that never came does not show in its neighbours. Signal quality and powers come once
/// in 512 raw samples, as from the module behind a serial port, in three notifications: the first that arrives is a mark
/// (``DecodedItem/periodMark(stream:sampleCount:blockLength:)``), to a notification of raw samples.
package struct MindWaveDecoder: HeadsetDecoder {
    /// The type of the notification of eSense values or powers that came last.
    private var lastType: UInt8?

    /// Creates a decoder for one link.
    package init() {}

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard bytes.count == MindWaveService.packetLength else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        if characteristic == MindWaveService.esense { markPeriod(bytes[0], into: &decoded) }
        let start = decoded.values.count
        switch (characteristic, bytes[0]) {
        case (MindWaveService.raw, _):
            for offset in stride(from: 0, to: bytes.count, by: 2) {
                decoded.values.append(Int32(Int16(bitPattern: UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]))))
            }
            Self.appendBlock(
                ThinkGearProfile.eeg, channelCount: 1, instantCount: MindWaveService.samplesPerPacket, from: start,
                into: &decoded)
        case (MindWaveService.esense, MindWavePacket.esenseType):
            for offset in MindWavePacket.esenseOffsets { decoded.values.append(Int32(bytes[offset])) }
            Self.appendBlock(ThinkGearProfile.esense, channelCount: 3, from: start, into: &decoded)
        case (MindWaveService.esense, MindWavePacket.lowPowersType):
            Self.appendPowers(bytes, firstChannel: 0, into: &decoded)
        case (MindWaveService.esense, MindWavePacket.highPowersType):
            Self.appendPowers(bytes, firstChannel: 4, into: &decoded)
        default: decoded.items.append(.discarded(byteCount: bytes.count))
        }
    }

    /// The three notifications come in the order of their types: one that is no further than the last belongs to a new set.
    private mutating func markPeriod(_ type: UInt8, into decoded: inout Decoded) {
        guard (MindWavePacket.esenseType...MindWavePacket.highPowersType).contains(type) else { return }
        defer { lastType = type }
        if let lastType, type > lastType { return }
        decoded.items.append(
            .periodMark(
                stream: ThinkGearProfile.eeg, sampleCount: ThinkGearProfile.samplesPerPower,
                blockLength: MindWaveService.samplesPerPacket))
    }

    /// Four of the eight powers; the other four come in a packet of their own.
    private static func appendPowers(_ bytes: [UInt8], firstChannel: Int, into decoded: inout Decoded) {
        let start = decoded.values.count
        for offset in MindWavePacket.powerOffsets {
            decoded.values.append(Int32(bytes[offset]) << 16 | Int32(bytes[offset + 1]) << 8 | Int32(bytes[offset + 2]))
        }
        appendBlock(ThinkGearProfile.power, firstChannel: firstChannel, channelCount: 4, from: start, into: &decoded)
    }

    private static func appendBlock(
        _ stream: Int, firstChannel: Int = 0, channelCount: Int, instantCount: Int = 1, from start: Int,
        into decoded: inout Decoded
    ) {
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: nil, firstChannel: firstChannel, channelCount: channelCount,
                    instantCount: instantCount, values: start..<decoded.values.count)))
    }
}
