import Bluetooth

/// One frame of the Unicorn Hybrid Black: everything that was measured at one instant, in 45 bytes without a checksum.
///
/// Source: unicorn2lsl and FieldTrip's Unicorn reader, whose offsets agree; see the profile's page for the one that differs.
package struct UnicornFrame: Hashable, Sendable {
    /// Bytes of a frame.
    package static let length = 45
    /// Channels of EEG.
    package static let channelCount = 8
    /// The bytes that begin and end a frame.
    static let header: (UInt8, UInt8) = (0xC0, 0x00)
    static let trailer: (UInt8, UInt8) = (0x0D, 0x0A)
    /// Where the parts of a frame stand.
    static let batteryOffset = 2
    static let eegOffset = 3
    static let accelerometerOffset = 27
    static let gyroscopeOffset = 33
    static let counterOffset = 39
    static let trailerOffset = 43

    /// Battery charge in fifteenths, 0 ... 15.
    package var battery: UInt8
    /// Eight samples of 24 bits, big-endian on the air.
    package var eeg: [Int32]
    /// Three accelerations, then three angular velocities, little-endian on the air.
    package var motion: [Int16]
    /// Counts frames; wraps from 2^32 - 1 to 0.
    package var counter: UInt32

    /// Creates a frame.
    package init(battery: UInt8, eeg: [Int32], motion: [Int16], counter: UInt32) {
        self.battery = battery
        self.eeg = eeg
        self.motion = motion
        self.counter = counter
    }

    /// The frame's bytes; samples that are absent are sent as 0.
    package func encoded() -> [UInt8] {
        var bytes = [Self.header.0, Self.header.1, battery & 0x0F]
        for channel in 0..<Self.channelCount { bytes.append(bigEndianInt24: channel < eeg.count ? eeg[channel] : 0) }
        for axis in 0..<6 { bytes.append(littleEndian: axis < motion.count ? motion[axis] : 0) }
        bytes.append(littleEndian: counter)
        return bytes + [Self.trailer.0, Self.trailer.1]
    }
}

/// A command of the Unicorn: one byte and its checksum. The answer is ``acknowledgement``.
package enum UnicornCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// Starts to send frames.
    case start = 0x61
    /// Stops to send frames.
    case stop = 0x63

    /// What the headset answers to each command, before the first frame and behind the last one.
    package static let acknowledgement: [UInt8] = [0, 0, 0]

    /// The bytes to write.
    package var bytes: [UInt8] {
        let checksum = Self.checksum(of: [rawValue])
        return [rawValue, UInt8(checksum >> 8), UInt8(truncatingIfNeeded: checksum)]
    }

    /// CRC-16 with the polynomial x^16 + x^12 + x^5 + 1 and preset 0, as in g.tec's Android example.
    static func checksum(of bytes: [UInt8]) -> UInt16 {
        var register: UInt16 = 0
        for byte in bytes {
            register ^= UInt16(byte) << 8
            for _ in 0..<8 { register = register & 0x8000 != 0 ? register << 1 ^ 0x1021 : register << 1 }
        }
        return register
    }
}
