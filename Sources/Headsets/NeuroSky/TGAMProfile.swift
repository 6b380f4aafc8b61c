package import Bluetooth

/// A board with NeuroSky's ThinkGear module (TGAM) behind a radio that passes its serial port through.
package struct TGAMProfile: HeadsetProfile {
    /// A radio that makes a serial port of one characteristic.
    package enum Radio: String, Hashable, Sendable, CaseIterable {
        /// HM-10 and its many copies; Sichiray's boards have one.
        case hm10
        /// ISSC, now Microchip: Transparent UART.
        case issc

        /// The service.
        package var service: BluetoothUUID {
            switch self {
            case .hm10: BluetoothUUID(UInt16(0xFFE0))
            case .issc: BluetoothUUID(high: 0x4953_5343_FE7D_4AE5, low: 0x8FA9_9FAF_D205_E455)
            }
        }

        /// What the module sends: notify.
        package var data: BluetoothUUID {
            switch self {
            case .hm10: BluetoothUUID(UInt16(0xFFE1))
            case .issc: BluetoothUUID(high: 0x4953_5343_1E4D_4BD9, low: 0xBA61_23C6_4724_9616)
            }
        }
    }

    private let radio: Radio

    /// Creates the profile.
    ///
    /// - Parameter radio: the board's radio; the GATT database of the link shows it again.
    package init(radio: Radio = .hm10) {
        self.radio = radio
    }

    package var model: String { "tgam" }
    package var displayName: String { "TGAM board" }
    package var manufacturer: String? { "NeuroSky" }

    /// By the radios' services, which belong to every serial device with such a radio: only ThinkGear frames show that it is
    /// one.
    package var recognition: Recognition { Recognition(serviceUUIDs: services) }
    package var services: [BluetoothUUID] { Radio.allCases.map(\.service) }
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var isDiscriminatedByDatabase: Bool { true }

    /// The stream is listened to before anything else, so that the first frame can show what it is that was found.
    package var controlCharacteristics: [BluetoothUUID] { [radio.data] }
    package var dataCharacteristics: [BluetoothUUID] { [] }
    /// The module is that of the other ThinkGear headsets.
    package var constantDelay: ConstantDelay? { ThinkGearProfile().constantDelay }
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// 207 notifications a second of 20 bytes, where raw samples are on; one a second without.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(5), silenceLimit: .milliseconds(2500), statusLimit: .milliseconds(1500))
    }

    package var streams: [StreamDescription] { ThinkGearProfile().streams }

    /// Nothing is asked: the first frame is the answer. Where none comes, something else has this radio, and is left alone.
    ///
    /// The module takes commands that change its rate, but the radio would not follow: none is sent.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: [.wait(.zero)]
        case .initialise: status == nil ? [.abandonLink(reason: "it sends no ThinkGear frames")] : []
        case .start, .stop, .wake, .keepAlive, .queryVersion: []
        }
    }

    package func adapted(to database: GATTDatabase) -> any HeadsetProfile {
        TGAMProfile(radio: Radio.allCases.first { database[$0.data] != nil } ?? radio)
    }

    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        controlCharacteristics.first.map {
            HeadsetByteStream(characteristic: $0, bytesPerSecond: HeadsetByteStream.thinkGearBytesPerSecond)
        }
    }

    package func makeDecoder() -> any HeadsetDecoder { TGAMDecoder(characteristic: radio.data) }
}

/// Decodes the byte stream of a TGAM board, and recognises by its frames that it is one.
package struct TGAMDecoder: HeadsetDecoder {
    private var stream: ThinkGearDecoder
    /// The number of frames at which the status is reported next.
    private var nextStatus: UInt64 = 1

    /// Creates a decoder for one link.
    ///
    /// - Parameter characteristic: where the bytes come from.
    package init(characteristic: BluetoothUUID) {
        stream = ThinkGearDecoder(characteristic: characteristic)
    }

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        stream.decode(bytes, from: characteristic, into: &decoded)
        // Frames may come before anybody has asked: at 1, 2, 4 ... frames it is said again, for some seconds.
        guard stream.frameCount >= nextStatus, nextStatus <= 2048 else { return }
        while nextStatus <= stream.frameCount { nextStatus *= 2 }
        decoded.items.append(.status(HeadsetStatus(condition: .streaming)))
    }
}
