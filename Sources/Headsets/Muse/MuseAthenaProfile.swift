public import Bluetooth

/// InteraXon's Muse S Athena (2025): what ``MuseProfile`` becomes where the characteristic of multiplexed packets is there.
public struct MuseAthenaProfile: HeadsetProfile {
    /// The place of the stream of EEG samples.
    public static let eeg = 0
    /// The place of the stream of accelerations.
    public static let accelerometer = 1
    /// The place of the stream of angular velocities.
    public static let gyroscope = 2
    /// The place of the first bank of optical samples.
    public static let optics = 3

    /// Microvolts of one count of the EEG. All current programs use it; nobody has proven it against a known voltage.
    public static let microvoltsPerCount = 1450.0 / 16_383

    private let preset: MuseAthenaPreset
    private let general = MuseProfile()

    /// Creates the profile.
    public init(preset: MuseAthenaPreset = .p1041) {
        self.preset = preset
    }

    public var model: String { general.model }
    public var displayName: String { "InteraXon Muse S Athena" }
    public var recognition: Recognition { general.recognition }
    public var services: [BluetoothUUID] { general.services }
    public var identityCharacteristic: BluetoothUUID? { nil }
    public var tellsIdentityInStatus: Bool { true }
    public var controlCharacteristics: [BluetoothUUID] { general.controlCharacteristics }
    public var dataCharacteristics: [BluetoothUUID] { [MuseService.multiplexed] }
    public var epochRule: EpochRule { .connection }
    public var memory: MemoryCapability { .none }
    public var timing: ProfileTiming { general.timing }

    public var streams: [StreamDescription] {
        let channels = ["TP9", "AF7", "AF8", "TP10", "AUX1", "AUX2", "AUX3", "AUX4"].prefix(preset.eegChannelCount)
        let scale = Self.microvoltsPerCount
        let streams = [
            StreamDescription(
                name: "eeg", samplingFrequency: 256, samplesPerCount: 16 / channels.count, counterModulus: 256,
                channels: channels.map {
                    // The middle of 14 bits is 0: inputs that are open lie there.
                    ChannelDescription(name: $0, scale: scale, offset: -8192 * scale, rawMinimum: 0, rawMaximum: 16_383)
                }),
            Self.motion("accelerometer", type: "ACCEL", unit: "g", scale: 1.0 / 16_384),
            Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scale: -MuseProfile.degreesPerSecondPerCount),
        ]
        return streams + optics + [Self.reference]
    }

    /// Banks of at most 8 channels.
    private var optics: [StreamDescription] {
        let count = preset.opticsChannelCount
        // Its tag promises 64 Hz for 8 channels too, but a recording of 7 s holds 32 Hz of them, with no block missing.
        let (instants, frequency) = count == 16 ? (1, 64.0) : count == 8 ? (2, 32.0) : (3, 64.0)
        return stride(from: 0, to: count, by: StreamDescription.channelsPerBank).map { first in
            StreamDescription(
                name: "optics", bank: first / StreamDescription.channelsPerBank, samplingFrequency: frequency,
                samplesPerCount: instants, counterModulus: 256,
                channels: (first..<min(count, first + StreamDescription.channelsPerBank)).map {
                    ChannelDescription(
                        name: "OPT\($0 + 1)", type: "MISC", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 0xF_FFFF)
                })
        }
    }

    /// Two channels of 16 bits near 8192, the middle of the EEG's 14 bits, in a recording. BrainFlow names them; which is which
    /// nobody has proven, nor their scale. The tag promises 32 Hz; three recordings hold 29.9 to 30.9 Hz.
    private static let reference = StreamDescription(
        name: "reference", samplingFrequency: 31, samplesPerCount: 6, counterModulus: 256,
        channels: ["DRL", "REF"].map {
            ChannelDescription(name: $0, type: "MISC", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 0xFFFF)
        })

    private static func motion(_ name: String, type: String, unit: String, scale: Double) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: 52, samplesPerCount: 3, counterModulus: 256,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(
                    name: $0, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
            })
    }

    /// Commands that follow each other within some 200 ms are dropped (BlueMuse). The start comes after the
    /// pause behind the preset, and is sent twice, as by everybody.
    public func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        func step(_ text: String) -> CommandStep { MuseCommand.step(MuseCommand.bytes(text)) }
        let pause = CommandStep.wait(.milliseconds(200))
        return switch purpose {
        case .queryStatus: [step("v6"), pause, step("s")]
        case .initialise: [step("h"), pause, step(preset.rawValue), pause]
        case .start:
            [step("dc001"), .wait(.milliseconds(50)), step("dc001"), .wait(.milliseconds(100)), step("L1")]
        case .wake, .keepAlive, .stop: general.commands(for: purpose, status: status)
        }
    }

    public func makeDecoder() -> any HeadsetDecoder { MuseAthenaDecoder(preset: preset) }
}
