package import Bluetooth

/// The GATT service of NeuroSky's MindWave Mobile 2 and Mobile+. All its UUIDs are `039affNN-2c94-11e3-9e06-0002a5d5c51b`.
///
/// Source: NeuroSky's SDKs for Apple and Android. Makers of other devices use the same service.
package enum MindWaveService {
    /// The service.
    package static let service = uuid(0xF0)
    /// Commands of 20 bytes: write with response.
    package static let handshake = uuid(0xA0)
    /// Raw samples: notify. On the headset of 2013 it carries the whole ThinkGear stream.
    package static let raw = uuid(0xF4)
    /// Signal quality, attention, meditation and powers: notify. The headset of 2013 has no such characteristic.
    package static let esense = uuid(0xF8)

    /// Bytes of a notification, of either kind.
    package static let packetLength = 20
    /// Raw samples of a notification.
    package static let samplesPerPacket = 10

    /// The characteristics of a MindWave Mobile 2 in its GATT database.
    package static let characteristics: [Characteristic] = [
        Characteristic(service: .deviceInformation, uuid: .modelNumberString, properties: [.read]),
        Characteristic(service: service, uuid: raw, properties: [.notify]),
        Characteristic(service: service, uuid: esense, properties: [.notify]),
        Characteristic(service: service, uuid: handshake, properties: [.write]),
    ]

    /// The characteristics of the headset of 2013, as far as they are known.
    package static let characteristics2013: [Characteristic] = [
        Characteristic(service: service, uuid: raw, properties: [.notify]),
        Characteristic(service: service, uuid: handshake, properties: [.write]),
    ]

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x039A_FF00_2C94_11E3 | number << 32, low: 0x9E06_0002_A5D5_C51B)
    }
}

/// A command of a MindWave Mobile 2.
package enum MindWaveCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// Starts raw samples.
    case startRaw = 0x15
    /// Stops raw samples.
    case stopRaw = 0x16
    /// Starts signal quality, attention, meditation and powers.
    case startESense = 0x17
    /// Stops them.
    case stopESense = 0x18
    /// Filters out mains of 50 Hz.
    case notch50Hz = 0x1B
    /// Filters out mains of 60 Hz.
    case notch60Hz = 0x1C

    /// Begins every command.
    static let header: UInt8 = 0x77
    /// What starts the headset of 2013.
    package static let start2013: [UInt8] = [header, 0x00, 0x01, 0xFE]

    /// The 20 bytes: header, 1, the command, zeros, and the complement of the sum of all but the header.
    package var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: MindWaveService.packetLength)
        bytes[0] = Self.header
        bytes[1] = 1
        bytes[2] = rawValue
        bytes[bytes.count - 1] = Self.checksum(of: bytes)
        return bytes
    }

    /// The command of 20 bytes; nil where the header, the checksum or the command is wrong.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count == MindWaveService.packetLength, bytes[0] == Self.header, bytes[1] == 1,
            bytes.last == Self.checksum(of: bytes), let command = MindWaveCommand(rawValue: bytes[2])
        else { return nil }
        self = command
    }

    private static func checksum(of bytes: [UInt8]) -> UInt8 {
        ~bytes[1..<MindWaveService.packetLength - 1].reduce(0, &+)
    }

    /// The write that sends the command.
    package var step: CommandStep { .write(encoded, to: MindWaveService.handshake, type: .withResponse) }
}
