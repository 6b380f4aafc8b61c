package import Bluetooth

/// Decodes the notifications of a Nucleus-Kit headset (Hermes V1).
package struct HermesDecoder: HeadsetDecoder {
    /// The command that the headset was configured with last: what ``HermesService/configuration`` then holds.
    private let configured: [UInt8]

    /// Creates a decoder for one link.
    ///
    /// - Parameter configured: the last bytes that the configuration writes.
    package init(configured: [UInt8] = HermesCommand.mode(.eeg).encoded) {
        self.configured = configured
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        switch (characteristic, bytes.count) {
        case (HermesService.eegData, HermesService.packetLength) where bytes[0] < HermesService.counterModulus:
            Self.decodeSamples(bytes, into: &decoded)
        case (HermesService.motionData, HermesService.motionLength): Self.decodeMotion(bytes, into: &decoded)
        case (HermesService.eventData, HermesService.eventLength): Self.decodeEvent(bytes, into: &decoded)
        case (HermesService.configuration, _):
            // The firmware forgets commands when it restarts: what is not ours has to be written again.
            let condition = bytes == configured ? HeadsetStatus.Condition.streaming : .idle
            decoded.items.append(.status(HeadsetStatus(condition: condition)))
        default: decoded.items.append(.discarded(byteCount: bytes.count))
        }
    }

    /// A counter, then 10 instants of 8 channels, each 24 bits, most significant byte first.
    private static func decodeSamples(_ bytes: [UInt8], into decoded: inout Decoded) {
        let start = decoded.values.count
        for offset in stride(from: 1, to: HermesService.packetLength, by: 3) {
            let bits = UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
            decoded.values.append(Int32(bitPattern: bits) >> 8)
        }
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: HermesProfile.eeg, counter: UInt32(bytes[0]), channelCount: HermesProfile.channelCount,
                    instantCount: HermesService.samplesPerPacket, values: start..<decoded.values.count)))
    }

    /// Three axes each of the accelerometer, the gyroscope and the magnetometer, 16 bits, least significant byte first.
    private static func decodeMotion(_ bytes: [UInt8], into decoded: inout Decoded) {
        for (offset, stream) in HermesProfile.motionStreams.enumerated() {
            let start = decoded.values.count
            for index in stride(from: offset * 6, to: offset * 6 + 6, by: 2) {
                decoded.values.append(Int32(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)))
            }
            decoded.items.append(
                .samples(
                    SampleBlock(
                        stream: stream, counter: nil, channelCount: 3, instantCount: 1, values: start..<decoded.values.count)))
        }
    }

    /// What happened, to which button, and the counter of the packet that was being filled.
    private static func decodeEvent(_ bytes: [UInt8], into decoded: inout Decoded) {
        let event: String? =
            switch bytes[0] {
            case 1: "pressed"
            case 2: "released"
            case 3: "pressed for long"
            case 4: "pressed twice"
            default: nil
            }
        let button: String? =
            switch bytes[1] {
            case 1: "A"
            case 2: "B"
            default: nil
            }
        guard let event, let button else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        // A number that no packet has says nothing.
        let isCounter = bytes[2] < HermesService.counterModulus
        decoded.items.append(
            .event(
                HeadsetEvent(
                    "Button \(button) \(event) (EEG packet \(bytes[2]))",
                    of: isCounter ? HeadsetEvent.Sample(stream: HermesProfile.eeg, counter: UInt32(bytes[2])) : nil,
                    code: Int64(bytes[0]) << 8 | Int64(bytes[1]))))
    }
}
