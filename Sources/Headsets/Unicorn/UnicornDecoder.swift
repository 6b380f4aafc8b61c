package import Bluetooth

/// Decodes the byte stream of a Unicorn Hybrid Black: frames, and the answers to commands between them.
///
/// A frame has no checksum: it counts where its first two and last two bytes are right and what follows, if it is there
/// already, begins another frame or an answer.
package struct UnicornDecoder: HeadsetDecoder {
    /// A battery that wavers between two steps is reported once in so many frames: a minute.
    static let framesPerReport = 15_000

    private var stream = ByteStream()
    private var reportedBattery: UInt8?
    private var framesSinceReport = 0

    /// Creates a decoder for one link.
    package init() {}

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard characteristic == .serialPort else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        stream.append(bytes)
        while stream.count >= UnicornCommand.acknowledgement.count {
            // Within a frame that has lost its beginning, three zeros are no answer.
            if stream.isAligned, stream[0] == 0, stream[1] == 0, stream[2] == 0 {
                stream.consume(UnicornCommand.acknowledgement.count)
                decoded.items.append(.message("Command acknowledged"))
                continue
            }
            guard stream[0] == UnicornFrame.header.0, stream[1] == UnicornFrame.header.1 else {
                stream.skip()
                continue
            }
            guard stream.count >= UnicornFrame.length else { break }
            guard isFrame else {
                stream.skip()
                continue
            }
            appendDamage(to: &decoded)
            decodeFrame(into: &decoded)
            stream.consume(UnicornFrame.length)
        }
        appendDamage(to: &decoded)
    }

    private var isFrame: Bool {
        guard stream[UnicornFrame.trailerOffset] == UnicornFrame.trailer.0,
            stream[UnicornFrame.trailerOffset + 1] == UnicornFrame.trailer.1
        else { return false }
        guard stream.count > UnicornFrame.length else { return true }
        let next = stream[UnicornFrame.length]
        return next == UnicornFrame.header.0 || next == UnicornCommand.acknowledgement[0]
    }

    private mutating func appendDamage(to decoded: inout Decoded) {
        let count = stream.takeSkipped()
        if count > 0 { decoded.items.append(.discarded(byteCount: count)) }
    }

    private mutating func decodeFrame(into decoded: inout Decoded) {
        let counter = stream.uint32(littleEndianAt: UnicornFrame.counterOffset)
        var start = decoded.values.count
        for channel in 0..<UnicornFrame.channelCount {
            decoded.values.append(stream.int24(bigEndianAt: UnicornFrame.eegOffset + 3 * channel))
        }
        Self.appendInstant(of: UnicornProfile.eeg, counter: counter, from: &start, into: &decoded)
        for axis in 0..<3 { decoded.values.append(stream.int16(littleEndianAt: UnicornFrame.accelerometerOffset + 2 * axis)) }
        Self.appendInstant(of: UnicornProfile.accelerometer, counter: counter, from: &start, into: &decoded)
        for axis in 0..<3 { decoded.values.append(stream.int16(littleEndianAt: UnicornFrame.gyroscopeOffset + 2 * axis)) }
        Self.appendInstant(of: UnicornProfile.gyroscope, counter: counter, from: &start, into: &decoded)
        reportBattery(stream[UnicornFrame.batteryOffset] & 0x0F, into: &decoded)
    }

    private mutating func reportBattery(_ battery: UInt8, into decoded: inout Decoded) {
        framesSinceReport += 1
        if battery == reportedBattery || (reportedBattery != nil && framesSinceReport < Self.framesPerReport) { return }
        reportedBattery = battery
        framesSinceReport = 0
        decoded.items.append(.status(HeadsetStatus(condition: .streaming, batteryPercent: Double(battery) * 100 / 15)))
    }

    /// Makes the values from `start` on one instant of a stream.
    private static func appendInstant(of stream: Int, counter: UInt32, from start: inout Int, into decoded: inout Decoded) {
        let end = decoded.values.count
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: stream, counter: counter, channelCount: end - start, instantCount: 1, values: start..<end)))
        start = end
    }
}
