import Bluetooth

/// One frame of the serial stream of an OpenBCI Cyton: 8 samples and 6 further bytes, 33 bytes in all.
///
/// Source: OpenBCI's Cyton firmware library 3.1.2 and the packets of its NodeJS library.
package struct CytonFrame: Hashable, Sendable {
    /// What the 6 further bytes are. The raw value is the lower half of a frame's last byte; the upper half is C.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// Three accelerations; zeros where there is no new one.
        case acceleration = 0
        /// Three readings of the auxiliary pins.
        case auxiliary = 1
        /// Whatever a firmware's owner makes of them.
        case userDefined = 2
        /// One acceleration and the board's time, in the first frame since the time was asked for.
        case accelerationTimeSet = 3
        /// One acceleration and the board's time.
        case accelerationTimeSynced = 4
        /// One reading of an auxiliary pin and the board's time, in the first frame since the time was asked for.
        case auxiliaryTimeSet = 5
        /// One reading of an auxiliary pin and the board's time.
        case auxiliaryTimeSynced = 6
        /// No samples, but an impedance as text (WiFi shield).
        case impedance = 7

        /// True where the last four of the further bytes are the board's time.
        var bearsTime: Bool {
            switch self {
            case .accelerationTimeSet, .accelerationTimeSynced, .auxiliaryTimeSet, .auxiliaryTimeSynced: true
            case .acceleration, .auxiliary, .userDefined, .impedance: false
            }
        }
    }

    /// Bytes of a frame.
    package static let length = 33
    /// Channels in a frame.
    package static let channelCount = 8
    /// The first byte.
    static let header: UInt8 = 0xA0
    /// The upper half of the last byte.
    static let trailer: UInt8 = 0xC0
    /// Where the further bytes stand.
    static let auxiliaryOffset = 26
    /// Where the board's time stands, in milliseconds, big-endian.
    static let timeOffset = 28

    /// Counts frames; wraps from 255 to 0. With a Daisy, odd frames hold the board's 8 channels, even ones the Daisy's.
    package var number: UInt8
    /// Eight samples of 24 bits, big-endian on the air.
    package var eeg: [Int32]
    /// The 6 further bytes.
    package var auxiliary: [UInt8]
    /// What they are.
    package var kind: Kind

    /// Creates a frame.
    package init(number: UInt8, eeg: [Int32], auxiliary: [UInt8] = [], kind: Kind = .acceleration) {
        self.number = number
        self.eeg = eeg
        self.auxiliary = auxiliary
        self.kind = kind
    }

    /// The frame's bytes; what is absent is sent as 0.
    package func encoded() -> [UInt8] {
        var bytes = [Self.header, number]
        for channel in 0..<Self.channelCount { bytes.append(bigEndianInt24: channel < eeg.count ? eeg[channel] : 0) }
        for index in 0..<6 { bytes.append(index < auxiliary.count ? auxiliary[index] : 0) }
        return bytes + [Self.trailer | kind.rawValue]
    }

    /// The further bytes of three numbers.
    package static func bytes(of values: [Int16]) -> [UInt8] {
        values.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
}
