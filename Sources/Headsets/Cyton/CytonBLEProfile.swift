package import Bluetooth

/// The GATT service of an RFduino, the radio of a Cyton. Its numbers are no assigned ones.
package enum RFduinoService {
    /// The service, advertised.
    package static let service = BluetoothUUID(UInt16(0x2220))
    /// Packets: notify.
    package static let data = BluetoothUUID(UInt16(0x2221))
    /// Commands: write without response.
    package static let command = BluetoothUUID(UInt16(0x2222))
    /// Any write makes the radio close the link.
    package static let disconnect = BluetoothUUID(UInt16(0x2223))

    /// The characteristics as a headset shows them in its GATT database.
    package static let characteristics: [Characteristic] = [
        Characteristic(service: service, uuid: data, properties: [.read, .notify]),
        Characteristic(service: service, uuid: command, properties: [.writeWithoutResponse]),
        Characteristic(service: service, uuid: disconnect, properties: [.writeWithoutResponse]),
    ]
}

/// The OpenBCI Cyton whose radio speaks Bluetooth Low Energy itself: two channels at 125 Hz.
package struct CytonBLEProfile: HeadsetProfile {
    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// Channels that fit through the radio.
    package static let channelCount = 2
    /// Instants in a packet.
    package static let instantsPerPacket = 3
    /// Bytes of a packet: kind, number, samples.
    package static let packetLength = 20

    private let setup: CytonSettings

    /// Creates the profile.
    ///
    /// - Parameter settings: how the amplifiers of the two channels are to be set.
    package init(settings: CytonSettings = CytonSettings()) {
        setup = settings
    }

    package var model: String { "cyton-ble" }
    package var displayName: String { "OpenBCI Cyton (Bluetooth Low Energy)" }
    package var manufacturer: String? { "OpenBCI" }
    package var recognition: Recognition { Recognition(serviceUUIDs: [RFduinoService.service]) }
    package var services: [BluetoothUUID] { [RFduinoService.service] }
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var controlCharacteristics: [BluetoothUUID] { [] }
    package var dataCharacteristics: [BluetoothUUID] { [RFduinoService.data] }
    package var countedCharacteristics: [BluetoothUUID] { [RFduinoService.data] }

    /// The samples' numbers begin anew at each start.
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    package var constantDelay: ConstantDelay? {
        let mean = ConstantDelay.Part(
            .milliseconds(2), meaning: "the mean of two conversions: half of one",
            source: "OpenBCI's firmware (OpenBCI_32bit_Library)")
        return ConstantDelay(parts: [.ads1299Filter(frequency: CytonProfile.frameFrequency), mean])
    }

    /// A packet each 24 ms.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(24), silenceLimit: .milliseconds(2500))
    }

    /// The firmware sends the mean of each two conversions: half of the board's 250 Hz.
    package var streams: [StreamDescription] {
        [
            StreamDescription(
                name: "eeg", samplingFrequency: CytonProfile.frameFrequency / 2, counterModulus: 256,
                channels: (0..<Self.channelCount).map { CytonProfile.channel($0, setup) })
        ]
    }

    /// The board does not notice the end of a link and streams on; it is stopped before it is set. Its texts do not fit
    /// through the radio: nothing is asked.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .initialise:
            let commands = ["s", "d"] + setup.commands(channelCount: Self.channelCount).filter { $0.hasPrefix("x") }
            return commands.flatMap { [Self.step($0), .wait(.milliseconds(100))] }
        case .start: return [Self.step("b")]
        case .stop: return [Self.step("s")]
        case .queryStatus, .wake, .keepAlive, .queryVersion: return []
        }
    }

    private static func step(_ command: String) -> CommandStep {
        .write(Array(command.utf8), to: RFduinoService.command, type: .withoutResponse)
    }

    package func makeDecoder() -> any HeadsetDecoder { CytonBLEDecoder() }
}

/// Decodes the packets of a Cyton's own radio: each holds three instants of two channels, and the number of the first.
package struct CytonBLEDecoder: HeadsetDecoder {
    /// Creates a decoder for one link.
    package init() {}

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        guard characteristic == RFduinoService.data, bytes.count == CytonBLEProfile.packetLength,
            bytes[0] & 0xF0 == CytonFrame.trailer
        else {
            decoded.items.append(.discarded(byteCount: bytes.count))
            return
        }
        let start = decoded.values.count
        for offset in stride(from: 2, to: CytonBLEProfile.packetLength, by: 3) {
            let bits = UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
            decoded.values.append(Int32(bitPattern: bits) >> 8)
        }
        decoded.items.append(
            .samples(
                SampleBlock(
                    stream: CytonBLEProfile.eeg, counter: UInt32(bytes[1]), channelCount: CytonBLEProfile.channelCount,
                    instantCount: CytonBLEProfile.instantsPerPacket, values: start..<decoded.values.count)))
    }
}
