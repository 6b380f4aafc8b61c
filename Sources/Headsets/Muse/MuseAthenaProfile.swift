package import Bluetooth

/// InteraXon's Muse S Athena (2025): what ``MuseProfile`` becomes where the characteristic of multiplexed packets is there.
package struct MuseAthenaProfile: HeadsetProfile {
    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// The index of the stream of accelerations.
    package static let accelerometer = 1
    /// The index of the stream of angular velocities.
    package static let gyroscope = 2
    /// The index of the first bank of optical samples.
    package static let optics = 3

    /// Microvolts of one count of the EEG. All current programs use it; nobody has proven it against a known voltage.
    package static let microvoltsPerCount = 1450.0 / 16_383

    private let preset: MuseAthenaPreset
    private let general = MuseProfile()

    /// Creates the profile.
    package init(preset: MuseAthenaPreset = .p1041) {
        self.preset = preset
    }

    package var model: String { general.model }
    package var displayName: String { "InteraXon Muse S Athena" }
    package var manufacturer: String? { "InteraXon" }
    package var recognition: Recognition { general.recognition }
    package var services: [BluetoothUUID] { general.services }
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var sendsIdentityInStatus: Bool { true }
    package var isAskedOnceInitialised: Bool { general.isAskedOnceInitialised }
    package var controlCharacteristics: [BluetoothUUID] { general.controlCharacteristics }
    package var dataCharacteristics: [BluetoothUUID] { [MuseService.multiplexed] }
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// The clock of each packet's header, 48 bits of milliseconds: when the packet's first block was complete, and the others
    /// up to 130 ms later; see ``MuseAthenaDecoder``. Blocks of all streams come in common packets, which aligns them better.
    package var sampleStamps: SampleStamps? { SampleStamps(tickFrequency: 1000, modulus: 1 << 48, isExact: false) }

    package var timing: ProfileTiming { general.timing }

    package var streams: [StreamDescription] { preset.layout.streams }

    /// Commands that follow each other within some 200 ms can be dropped (BlueMuse): each one waits for the answer to the one
    /// before, and is sent again after that time where there is none. The start is sent twice, as by everybody; its two
    /// commands and the one behind them wait for an answer, too, and no longer than other programs do.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        func step(_ text: String) -> CommandStep { MuseCommand.step(MuseCommand.bytes(text)) }
        func answered(_ text: String) -> [CommandStep] {
            let pause = Duration.milliseconds(200)
            return [step(text), .awaitReply(timeout: pause, otherwise: [step(text), .wait(pause)])]
        }
        return switch purpose {
        case .queryStatus: MuseProfile.statusQuery(version: MuseCommand.bytes("v6"))
        case .initialise:
            answered("h") + (MuseProfile.isSet(status, to: preset.rawValue) ? [] : answered(preset.rawValue))
        case .start:
            [
                step("dc001"), .awaitReply(timeout: .milliseconds(50), otherwise: []),
                step("dc001"), .awaitReply(timeout: .milliseconds(100), otherwise: []), step("L1"),
            ]
        case .queryVersion: [MuseCommand.step(MuseCommand.bytes("v6"))]
        case .wake, .keepAlive, .stop: general.commands(for: purpose, status: status)
        }
    }

    package func makeDecoder() -> any HeadsetDecoder { MuseAthenaDecoder(preset: preset) }
}
