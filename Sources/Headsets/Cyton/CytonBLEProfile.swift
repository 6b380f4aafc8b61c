public import Bluetooth

/// The GATT service of an RFduino, the radio of a Cyton. Its numbers are no assigned ones.
public enum RFduinoService {
    /// The service, advertised.
    public static let service = BluetoothUUID(UInt16(0x2220))
    /// Packets: notify.
    public static let data = BluetoothUUID(UInt16(0x2221))
    /// Commands: write without response.
    public static let command = BluetoothUUID(UInt16(0x2222))
    /// Any write makes the radio close the link.
    public static let disconnect = BluetoothUUID(UInt16(0x2223))

    /// The characteristics as a headset shows them in its GATT database.
    public static let characteristics: [Characteristic] = [
        Characteristic(service: service, uuid: data, properties: [.read, .notify]),
        Characteristic(service: service, uuid: command, properties: [.writeWithoutResponse]),
        Characteristic(service: service, uuid: disconnect, properties: [.writeWithoutResponse]),
    ]
}

/// The OpenBCI Cyton whose radio speaks Bluetooth Low Energy itself: two channels at 125 Hz.
public struct CytonBLEProfile: HeadsetProfile {
    /// The index of the stream of EEG samples.
    public static let eeg = 0
    /// Channels that fit through the radio.
    public static let channelCount = 2
    /// Instants in a packet.
    public static let instantsPerPacket = 3
    /// Bytes of a packet: kind, number, samples.
    public static let packetLength = 20

    private let setup: CytonSettings

    /// Creates the profile.
    ///
    /// - Parameter settings: how the amplifiers of the two channels are to be set.
    public init(settings: CytonSettings = CytonSettings()) {
        setup = settings
    }

    public var model: String { "cyton-ble" }
    public var displayName: String { "OpenBCI Cyton (Bluetooth Low Energy)" }
    public var recognition: Recognition { Recognition(serviceUUIDs: [RFduinoService.service]) }
    public var services: [BluetoothUUID] { [RFduinoService.service] }
    public var identityCharacteristic: BluetoothUUID? { nil }
    public var controlCharacteristics: [BluetoothUUID] { [] }
    public var dataCharacteristics: [BluetoothUUID] { [RFduinoService.data] }

    /// The samples' numbers begin anew at each start.
    public var epochRule: EpochRule { .connection }
    public var memory: MemoryCapability { .none }

    public var constantDelay: ConstantDelay? {
        let mean = ConstantDelay.Part(
            .milliseconds(2), meaning: "the mean of two conversions: half of one",
            source: "OpenBCI's firmware (OpenBCI_32bit_Library)")
        return ConstantDelay(parts: [.ads1299Filter(frequency: CytonProfile.frameFrequency), mean])
    }

    /// A packet each 24 ms.
    public var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(24), silenceLimit: .milliseconds(2500))
    }

    /// The firmware sends the mean of each two conversions: half of the board's 250 Hz.
    public var streams: [StreamDescription] {
        [
            StreamDescription(
                name: "eeg", samplingFrequency: CytonProfile.frameFrequency / 2, counterModulus: 256,
                channels: (0..<Self.channelCount).map { CytonProfile.channel($0, setup) })
        ]
    }

    /// The board does not notice the end of a link and streams on; it is stopped before it is set. Its texts do not fit
    /// through the radio: nothing is asked.
    public func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .initialise:
            let commands = ["s", "d"] + setup.commands(channelCount: Self.channelCount).filter { $0.hasPrefix("x") }
            return commands.flatMap { [Self.step($0), .wait(.milliseconds(100))] }
        case .start: return [Self.step("b")]
        case .stop: return [Self.step("s")]
        case .queryStatus, .wake, .keepAlive: return []
        }
    }

    private static func step(_ command: String) -> CommandStep {
        .write(Array(command.utf8), to: RFduinoService.command, type: .withoutResponse)
    }

    public func makeDecoder() -> any HeadsetDecoder { CytonBLEDecoder() }
}

/// Decodes the packets of a Cyton's own radio: each holds three instants of two channels, and the number of the first.
public struct CytonBLEDecoder: HeadsetDecoder {
    /// Creates a decoder for one link.
    public init() {}

    public mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
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
