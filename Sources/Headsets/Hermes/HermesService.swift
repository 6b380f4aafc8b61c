package import Bluetooth

/// The GATT services of RE-AK's Nucleus-Kit headset, which advertises itself as `Hermes V1`. All its UUIDs are
/// `9fa48NNN-4967-11e5-a151-0002a5d5c51b`.
///
/// Source: the published firmware (fs-re-ak/Alchmiac-fw at 9729746).
package enum HermesService {
    /// Samples and configuration.
    package static let eeg = uuid(0x0E0)
    /// Packets of EEG samples: notify. The headset samples while this is switched on.
    package static let eegData = uuid(0x0E1)
    /// Commands; a read gives what was written last: read, write without response.
    package static let configuration = uuid(0x0E2)
    /// Accelerometer, gyroscope and magnetometer.
    package static let motion = uuid(0x200)
    /// One sample of all three: notify.
    package static let motionData = uuid(0x201)
    /// Buttons.
    package static let event = uuid(0x300)
    /// What happened to a button: notify.
    package static let eventData = uuid(0x301)

    /// Bytes of a notification of EEG samples: the counter, then 10 × 8 samples of 24 bits.
    package static let packetLength = 241
    /// Sampling instants of a packet.
    package static let samplesPerPacket = 10
    /// Values of the packet counter. It wraps after 5.12 s.
    package static let counterModulus = 128
    /// Bytes of a notification of motion: 9 × 16 bits.
    package static let motionLength = 18
    /// Bytes of a notification about a button.
    package static let eventLength = 3
    /// Packets that the headset holds back while the radio is busy: 1.2 s.
    package static let heldPackets = 30

    /// The characteristics as a headset shows them in its GATT database.
    package static let characteristics: [Characteristic] = [
        Characteristic(service: eeg, uuid: eegData, properties: [.notify]),
        Characteristic(service: eeg, uuid: configuration, properties: [.read, .writeWithoutResponse]),
        Characteristic(service: event, uuid: eventData, properties: [.notify]),
        Characteristic(service: motion, uuid: motionData, properties: [.notify]),
    ]

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x9FA4_8000_4967_11E5 | number << 32, low: 0xA151_0002_A5D5_C51B)
    }
}

/// What the headset's converter is connected to.
package enum HermesMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Channels powered down and shorted.
    case off = 0
    /// The converter's own square wave.
    case test = 1
    /// The electrodes, at gain 12.
    case eeg = 2
    /// Named by the firmware, which does nothing for it yet.
    case impedance = 3
}

/// The value of one register of the headset's converter, an ADS1299 (Texas Instruments, SBAS499).
package struct HermesRegister: Hashable, Sendable {
    /// CONFIG1, whose lowest three bits are the sampling frequency.
    package static let config1: UInt8 = 0x01
    /// CH1SET, whose bits 4 ... 6 are the gain of channel 1; the other seven channels follow.
    package static let channel1: UInt8 = 0x05

    /// The register's address, 0x01 ... 0x17.
    package var address: UInt8
    /// What it holds.
    package var value: UInt8

    /// Creates a register's value.
    package init(address: UInt8, value: UInt8) {
        self.address = address
        self.value = value
    }

    /// The samples per second that a value of CONFIG1 stands for; nil for the reserved one.
    package static func samplingFrequency(config1: UInt8) -> Double? {
        let rate = config1 & 7
        return rate == 7 ? nil : 16_000 / Double(1 << rate)
    }

    /// The gains, in the order of the numbers that stand for them in a channel's register.
    package static let gains: [Double] = [1, 2, 4, 6, 8, 12, 24]

    /// The gain that a value of a channel's register stands for; nil for the reserved one.
    package static func gain(channelSetting: UInt8) -> Double? {
        let index = Int(channelSetting >> 4 & 7)
        return index < gains.count ? gains[index] : nil
    }
}

/// A command of the headset: 4 bytes to ``HermesService/configuration``.
package enum HermesCommand: Hashable, Sendable {
    /// Stops the converter's output.
    case stop
    /// Goes on with it; needed after a register was written, which stops it.
    case start
    /// Writes a register of the converter.
    case write(HermesRegister)
    /// Chooses what is measured, with all registers that belong to it.
    case mode(HermesMode)

    /// The command's bytes.
    package var encoded: [UInt8] {
        switch self {
        case .stop: [1, 0, 0, 0]
        case .start: [1, 1, 0, 0]
        case .write(let register): [2, 1, register.address, register.value]
        case .mode(let mode): [3, mode.rawValue, 0, 0]
        }
    }

    /// The write that sends the command.
    package var step: CommandStep { .write(encoded, to: HermesService.configuration, type: .withoutResponse) }
}
