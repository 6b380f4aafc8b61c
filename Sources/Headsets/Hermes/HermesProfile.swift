package import Bluetooth

/// RE-AK's Nucleus-Kit headset, `Hermes V1`: 8 channels at 250 Hz, accelerometer, gyroscope, magnetometer, two buttons.
package struct HermesProfile: HeadsetProfile {
    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// The index of the stream of accelerations.
    package static let accelerometer = 1
    /// The index of the stream of angular velocities.
    package static let gyroscope = 2
    /// The index of the stream of magnetic fields.
    package static let magnetometer = 3
    /// The three streams of one notification, in its order.
    static let motionStreams = [accelerometer, gyroscope, magnetometer]

    /// EEG channels.
    package static let channelCount = 8

    /// Where the electrodes sit, by RE-AK's own processing (NucleusKit-ProcessingPipeline); older programs of theirs have
    /// another order, so that a configuration may name them.
    package static let montage = ["AF8", "AF7", "CHEEK_R", "CHEEK_L", "EAR_R", "AFz", "BROW_L", "NOSE"]

    /// The firmware's own settings: 250 samples per second.
    private static let config1: UInt8 = 0x96
    /// The firmware's own setting of each channel: gain 12.
    static let channelSetting: UInt8 = 0x50
    /// Notifications of motion per second: the firmware reads the sensors by a timer of 20 ms.
    package static let motionFrequency = 50.0

    private let mode: HermesMode
    private let registers: [HermesRegister]

    /// Creates the profile.
    ///
    /// - Parameters:
    ///   - mode: what is measured.
    ///   - registers: values of the converter that differ from those of the mode, in the order in which they are written.
    package init(mode: HermesMode = .eeg, registers: [HermesRegister] = []) {
        self.mode = mode
        self.registers = registers
    }

    package var model: String { "hermes" }
    package var displayName: String { "RE-AK Nucleus-Kit (Hermes V1)" }
    package var manufacturer: String? { "RE-AK" }

    /// By name, because the published firmware advertises no service; by service too, because RE-AK's own program looks for it.
    package var recognition: Recognition {
        Recognition(serviceUUIDs: [HermesService.eeg], namePrefixes: ["Hermes V1"])
    }

    package var services: [BluetoothUUID] { [HermesService.eeg] }

    /// The headset has neither a serial number nor the Device Information Service.
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var controlCharacteristics: [BluetoothUUID] { [HermesService.eventData] }

    /// By the firmware's own settings.
    package var constantDelay: ConstantDelay? { ConstantDelay(parts: [.ads1299Filter(frequency: 250)]) }

    /// The EEG comes last: the firmware sends motion only while EEG is switched on, so that both begin together.
    package var dataCharacteristics: [BluetoothUUID] { [HermesService.motionData, HermesService.eegData] }
    package var vitalCharacteristics: [BluetoothUUID] { [HermesService.eegData] }
    /// Motion has no counter.
    package var countedCharacteristics: [BluetoothUUID] { [HermesService.eventData, HermesService.eegData] }

    /// The counter goes on where it stood, but stands still while nobody listens: it says nothing about the time between two
    /// links, which are therefore placed by the time that has passed.
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// A packet each 40 ms. The headset can hold back 30 of them: nothing is gained by waiting for twice as long, and a new
    /// link continues motion, which has no counter, by the time. The limit is below the 5.12 s after which the counter wraps.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(40), silenceLimit: .milliseconds(2500))
    }

    package var streams: [StreamDescription] {
        [
            StreamDescription(
                name: "eeg",
                samplingFrequency: HermesRegister.samplingFrequency(config1: value(of: HermesRegister.config1)) ?? 250,
                samplesPerCount: HermesService.samplesPerPacket, counterModulus: Int64(HermesService.counterModulus),
                channels: Self.montage.enumerated().map { index, name in
                    ChannelDescription(
                        name: name, scale: microvoltsPerCount(channel: index), rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
                }),
            Self.motion("accelerometer", type: "ACCEL", unit: "g", scale: 0.000_061),
            Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scale: 0.00875),
            // LIS3MDL at ±4 gauss: 6842 counts a gauss (STMicroelectronics, DS9463); a gauss is 100 microtesla.
            Self.motion("magnetometer", type: "MAGN", unit: "uT", scale: 100.0 / 6842),
        ]
    }

    /// The status query reads back the last command: the headset keeps it from link to link, and forgets it with its power.
    ///
    /// Samples begin when the notifications are switched on, and end with them.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: [.read(HermesService.configuration)]
        // The firmware waits some 30 ms between the registers of a mode, and 10 ms at each register.
        case .initialise:
            configuration.flatMap {
                [.write($0, to: HermesService.configuration, type: .withoutResponse), .wait(.milliseconds(60))]
            }
        case .start, .stop, .wake, .keepAlive, .queryVersion: []
        }
    }

    package func makeDecoder() -> any HeadsetDecoder { HermesDecoder(configured: configuration.last ?? []) }

    /// The writes that configure the headset. Writing a register stops the converter, so that it is started at the end; the
    /// start carries a sum of the registers in the bytes that the firmware ignores, to distinguish them from others when it is
    /// read back.
    private var configuration: [[UInt8]] {
        guard !registers.isEmpty else { return [HermesCommand.mode(mode).encoded] }
        var sum = UInt16(mode.rawValue)
        for register in registers { sum = sum &* 31 &+ UInt16(register.address) << 8 &+ UInt16(register.value) }
        var start = HermesCommand.start.encoded
        start[2] = UInt8(sum >> 8)
        start[3] = UInt8(truncatingIfNeeded: sum)
        return [HermesCommand.mode(mode).encoded] + registers.map { HermesCommand.write($0).encoded } + [start]
    }

    /// Microvolts of one count: reference 4.5 V, gain of the channel.
    private func microvoltsPerCount(channel: Int) -> Double {
        let setting = value(of: HermesRegister.channel1 + UInt8(channel))
        return 4.5e6 / ((HermesRegister.gain(channelSetting: setting) ?? 12) * 0x80_0000)
    }

    /// What a register holds after the configuration.
    private func value(of address: UInt8) -> UInt8 {
        if let register = registers.last(where: { $0.address == address }) { return register.value }
        return address == HermesRegister.config1 ? Self.config1 : Self.channelSetting
    }

    private static func motion(_ name: String, type: String, unit: String, scale: Double) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: motionFrequency, counterModulus: nil,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(name: $0, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
            })
    }
}
