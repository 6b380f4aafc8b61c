package import Bluetooth

/// Mentalab's Explore: 4, 8, 16 or 32 channels, motion and environment over Bluetooth Low Energy.
package struct ExploreProfile: HeadsetProfile {
    /// The index of the stream of accelerations.
    package static let accelerometer = ExploreLayout.accelerometer
    /// The index of the stream of angular velocities.
    package static let gyroscope = ExploreLayout.gyroscope
    /// The index of the stream of magnetic fields.
    package static let magnetometer = ExploreLayout.magnetometer
    /// The index of the stream of temperature, light and battery voltage.
    package static let environment = ExploreLayout.environment
    /// The index of the first bank of EEG; the others follow.
    package static let eeg = ExploreLayout.eeg

    /// The frequencies that explorepy sets over the air, in hertz; a headset can be set to more of them by cable.
    private static let frequenciesByRadio = ExploreLayout.frequencies.filter { $0 <= 1000 }

    /// Through which characteristics the headset sends.
    package let service: ExploreService
    private let samplingFrequency: Double?

    /// Creates the profile.
    ///
    /// - Parameters:
    ///   - samplingFrequency: how many samples a second there are to be, 250 × a power of 2; nil for whatever the headset is
    ///     set to.
    ///   - service: through which characteristics it sends; the database shows it.
    package init(samplingFrequency: Double? = nil, service: ExploreService = .explorePro) {
        self.samplingFrequency = samplingFrequency
        self.service = service
    }

    package var model: String { "explore" }
    package var displayName: String { "Mentalab Explore" }
    package var manufacturer: String? { "Mentalab" }

    /// By service or name, such as `Explore_8441`. Nordic's UART service is everybody's: it is not looked for.
    package var recognition: Recognition {
        Recognition(serviceUUIDs: [ExploreService.explorePro.service], namePrefixes: ["Explore_"])
    }

    package var services: [BluetoothUUID] { [ExploreService.explorePro.service] }

    /// The board's name, which the headset sends, is that of a series.
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var isDiscriminatedByDatabase: Bool { true }

    /// Answers and samples come through the same characteristic, as soon as it notifies.
    package var controlCharacteristics: [BluetoothUUID] { [service.data] }
    package var dataCharacteristics: [BluetoothUUID] { [] }

    /// The headset's clock goes on, but nothing shows whether it restarted meanwhile.
    package var epochRule: EpochRule { .connection }

    /// What the headset has stored comes over a cable only.
    package var memory: MemoryCapability { .none }

    /// 10 µs. The decoder counts the wraps of its 32 bits, on each link from those that its first packet has.
    package var sampleStamps: SampleStamps? {
        SampleStamps(tickFrequency: ExplorePacket.tickFrequency, modulus: 1 << 32, isExact: true)
    }

    /// 33 instants at 250 Hz, the most in a packet, are one each 132 ms. The status is the answer to a command, once the
    /// packets have shown what they are: 0.3 s.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(132), silenceLimit: .milliseconds(3000), statusLimit: .milliseconds(2000))
    }

    /// Eight channels, for a headset that does not answer; the others describe themselves.
    package var streams: [StreamDescription] { ExploreLayout().streams }

    /// The question is a command that changes nothing for a headset that does not measure impedances, and ends that where it
    /// does.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: return [step(.impedanceOff)]
        case .initialise:
            guard let samplingFrequency, let index = ExploreLayout.frequencies.firstIndex(of: samplingFrequency) else {
                return []
            }
            return [step(.samplingFrequency(doublings: UInt8(index))), .wait(.milliseconds(500))]
        case .start, .stop, .wake, .keepAlive, .queryVersion: return []
        }
    }

    private func step(_ command: ExploreCommand) -> CommandStep {
        .write(command.bytes, to: service.command, type: .withoutResponse)
    }

    package func adapted(to database: GATTDatabase) -> any HeadsetProfile {
        let service = ExploreService.allCases.first { database[$0.data] != nil } ?? .explorePro
        return ExploreProfile(samplingFrequency: samplingFrequency, service: service)
    }

    package var settings: [HeadsetSetting] {
        [
            HeadsetSetting(
                name: "sampling_frequency", meaning: "Samples a second of each channel of EEG", unit: "Hz",
                values: Self.frequenciesByRadio.map { "\(Int($0))" }, usual: nil)
        ]
    }

    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        ExploreProfile(samplingFrequency: stated["sampling_frequency"].flatMap { Double($0) }, service: service)
    }

    /// As many as the times in the packets say.
    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        HeadsetByteStream(characteristic: service.data, bytesPerSecond: ExplorePacket.bytesPerSecond(in: beginning))
    }

    package func makeDecoder() -> any HeadsetDecoder {
        ExploreDecoder(service: service, wantedFrequency: samplingFrequency)
    }
}
