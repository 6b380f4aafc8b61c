package import Bluetooth

/// Decodes the notifications of a Muse 2016, Muse 2 or Muse S: each channel of the EEG comes in packets of its own, which
/// carry the number of the packet. A lost one is missing in its channel and nowhere else.
package struct MuseDecoder: HeadsetDecoder {
    private var control = MuseControl()
    private let eegChannelCount: Int
    private let hasMotion: Bool
    private let hasPPG: Bool

    /// Creates a decoder for one link; what belongs to a stream that the profile does not have is discarded.
    ///
    /// - Parameters:
    ///   - eegChannelCount: 4, or 5 with the auxiliary input.
    ///   - hasMotion: whether there are accelerometer and gyroscope.
    ///   - hasPPG: whether there are optical channels.
    package init(eegChannelCount: Int = 5, hasMotion: Bool = true, hasPPG: Bool = true) {
        self.eegChannelCount = eegChannelCount
        self.hasMotion = hasMotion
        self.hasPPG = hasPPG
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        if characteristic == MuseService.control { return control.decode(bytes, into: &decoded) }
        guard bytes.count == MuseService.packetLength || characteristic == MuseService.telemetry && bytes.count >= 10 else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let start = decoded.values.count
        var block = SampleBlock(
            stream: 0, counter: UInt32(number), channelCount: 1, instantCount: 0, values: start..<start)
        if let channel = MuseService.eeg.firstIndex(of: characteristic), channel < eegChannelCount {
            Self.appendUnsigned12(bytes, to: &decoded.values)
            block.stream = MuseProfile.eeg
            block.firstChannel = channel
            block.instantCount = 12
            control.hasSamples = true
        } else if hasMotion, characteristic == MuseService.accelerometer || characteristic == MuseService.gyroscope {
            for offset in stride(from: 2, to: bytes.count, by: 2) {
                decoded.values.append(Int32(Int16(bitPattern: UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]))))
            }
            block.stream = characteristic == MuseService.gyroscope ? MuseProfile.gyroscope : MuseProfile.accelerometer
            block.channelCount = 3
            block.instantCount = 3
        } else if hasPPG, let channel = MuseService.ppg.firstIndex(of: characteristic) {
            for offset in stride(from: 2, to: bytes.count, by: 3) {
                decoded.values.append(
                    Int32(bytes[offset]) << 16 | Int32(bytes[offset + 1]) << 8 | Int32(bytes[offset + 2]))
            }
            block.stream = MuseProfile.ppg
            block.firstChannel = channel
            block.instantCount = 6
        } else if characteristic == MuseService.telemetry {
            // 512 steps a percent. The other fields, voltages and a temperature, are disputed.
            let battery = Double(UInt16(bytes[2]) << 8 | UInt16(bytes[3])) / 512
            decoded.items.append(
                .status(HeadsetStatus(condition: .streaming, batteryPercent: min(100, battery), raw: bytes)))
            return
        } else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        block.values = start..<decoded.values.count
        decoded.items.append(.samples(block))
    }

    /// 12 samples of 12 bits, the highest bit first.
    private static func appendUnsigned12(_ bytes: [UInt8], to values: inout [Int32]) {
        for offset in stride(from: 2, to: MuseService.packetLength, by: 3) {
            values.append(Int32(bytes[offset]) << 4 | Int32(bytes[offset + 1]) >> 4)
            values.append(Int32(bytes[offset + 1] & 0x0F) << 8 | Int32(bytes[offset + 2]))
        }
    }
}
