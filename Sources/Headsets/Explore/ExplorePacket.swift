import Bluetooth

/// A packet of Mentalab's Explore: kind, number, length, time, content, trailer.
///
/// Source: Mentalab's own library explorepy 4 and its test files.
package struct ExplorePacket: Hashable, Sendable {
    /// What a packet holds.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case orientation = 13
        case orientationWithQuaternion = 14
        case environment = 19
        case timestamp = 27
        case deviceInformation1 = 96
        case deviceInformation2 = 97
        /// Of an Explore Pro.
        case deviceInformationBLE = 98
        /// Of an Explore whose packets have times of 64 bits; of old firmware, the same as 96.
        case deviceInformationHypersync = 99
        case disconnect = 111
        case eeg4 = 144
        case eeg8 = 146
        case eeg32 = 148
        case eeg8USBC = 150
        case eeg8BLE = 151
        case eeg32BLE = 152
        case eeg16BLE = 153
        case triggerOut = 177
        case triggerIn = 178
        case commandReceived = 192
        case commandStatus = 193
        case pushMarker = 194
        case calibration = 195
        case calibrationUSBC = 197
        case version = 199

        /// The channels of EEG; nil where the packet holds none.
        package var channelCount: Int? {
            switch self {
            case .eeg4: 4
            case .eeg8, .eeg8USBC, .eeg8BLE: 8
            case .eeg16BLE: 16
            case .eeg32, .eeg32BLE: 32
            default: nil
            }
        }

        /// True where a packet of EEG is one instant, most significant bytes first, each eight channels in reverse.
        var isSingleInstant: Bool { self == .eeg8BLE || self == .eeg16BLE || self == .eeg32BLE }

        /// Bytes of content, where that is always the same.
        var contentLength: Int? {
            switch self {
            case .orientation: 18
            case .orientationWithQuaternion: 34
            case .environment: 5
            case .pushMarker: 2
            case .triggerIn, .triggerOut: 8
            case .eeg8BLE: 24
            case .eeg16BLE: 48
            case .eeg32BLE: 96
            case .deviceInformationBLE: 22
            default: nil
            }
        }

        /// The four bytes that a packet ends with.
        var trailer: (UInt8, UInt8, UInt8, UInt8) {
            self == .timestamp ? (0xFF, 0xFF, 0xFF, 0xFF) : (0xAF, 0xBE, 0xAD, 0xDE)
        }
    }

    /// Kind, number and length.
    static let headerLength = 4
    static let trailerLength = 4
    /// What the length of a packet counts at most: no packet has more than 503 (explorepy takes 550).
    package static let lengthMaximum = 550
    /// Ticks of the headset's clock a second.
    package static let tickFrequency = 100_000.0

    /// What the packet holds.
    package var kind: Kind
    /// A number of 8 bits whose rule is not known.
    package var number: UInt8
    /// The headset's clock, in 1/100,000 s; the lowest 32 bits of it, but for headsets with times of 64 bits.
    package var ticks: UInt64
    /// The content.
    package var content: [UInt8]

    /// Creates a packet.
    package init(kind: Kind, number: UInt8 = 0, ticks: UInt64, content: [UInt8]) {
        self.kind = kind
        self.number = number
        self.ticks = ticks
        self.content = content
    }

    /// The packet's bytes.
    ///
    /// - Parameter timeLength: bytes of the time, 4 or 8.
    package func encoded(timeLength: Int = 4) -> [UInt8] {
        var bytes = [kind.rawValue, number]
        bytes.append(littleEndian: UInt16(truncatingIfNeeded: timeLength + content.count + Self.trailerLength))
        if timeLength == 8 {
            bytes.append(littleEndian: ticks)
        } else {
            bytes.append(littleEndian: UInt32(truncatingIfNeeded: ticks))
        }
        let trailer = kind.trailer
        return bytes + content + [trailer.0, trailer.1, trailer.2, trailer.3]
    }

    /// How many bytes come in a second of the headset's clock; nil where they hold less than a tenth of one.
    static func bytesPerSecond(in bytes: [UInt8]) -> Double? {
        var first: (offset: Int, ticks: UInt32)?
        var latest: (offset: Int, ticks: UInt32)?
        var offset = 0
        while offset + headerLength + 4 <= bytes.count {
            let length = Int(bytes[offset + 2]) | Int(bytes[offset + 3]) << 8
            let end = offset + headerLength + length
            guard let kind = Kind(rawValue: bytes[offset]), length >= 8, length <= lengthMaximum, end <= bytes.count,
                (bytes[end - 4], bytes[end - 3], bytes[end - 2], bytes[end - 1]) == kind.trailer
            else {
                offset += 1
                continue
            }
            if kind.channelCount != nil {
                let ticks = (0..<4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[offset + headerLength + $1]) }
                if first == nil { first = (offset, ticks) }
                latest = (offset, ticks)
            }
            offset = end
        }
        guard let first, let latest else { return nil }
        let seconds = Double(latest.ticks &- first.ticks) / tickFrequency
        // A clock that was set meanwhile shows nothing.
        guard (0.1...3600).contains(seconds) else { return nil }
        return Double(latest.offset - first.offset) / seconds
    }

    /// The content of a packet of one instant of EEG: each eight channels in reverse, most significant bytes first.
    package static func content(ofInstant samples: [Int32]) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in samples.indices { bytes.append(bigEndianInt24: samples[index ^ 7]) }
        return bytes
    }

    /// The content of a packet of several instants of EEG, each behind a word that names the sampling frequency.
    ///
    /// - Parameter frequencyCode: 16,000 Hz divided by 2 so many times.
    package static func content(ofInstants instants: [[Int32]], frequencyCode: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        for samples in instants {
            bytes += [0xFF, 0x00, frequencyCode]
            for sample in samples {
                bytes.append(UInt8(truncatingIfNeeded: sample))
                bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
                bytes.append(UInt8(truncatingIfNeeded: sample >> 16))
            }
        }
        return bytes
    }
}
