package import Bluetooth

/// InteraXon's Muse 2016, Muse 2 and Muse S, and the way to ``MuseAthenaProfile``. Which of them it is, the GATT database
/// shows; see ``adapted(to:)``.
package struct MuseProfile: HeadsetProfile {
    /// What the GATT database shows of a headset.
    package enum Variant: String, Hashable, Sendable, CaseIterable {
        /// Services are not discovered yet.
        case unknown
        /// Nothing but the control characteristic is visible: a state that ends with a command and another connection.
        case controlOnly
        /// Without optical channels: Muse 2016.
        case withoutPPG
        /// With optical channels: Muse 2, Muse S.
        case withPPG
    }

    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// The index of the stream of accelerations.
    package static let accelerometer = 1
    /// The index of the stream of angular velocities.
    package static let gyroscope = 2
    /// The index of the stream of optical samples.
    package static let ppg = 3

    /// Microvolts of one count of the EEG: ±1000 µV in 12 bits.
    package static let microvoltsPerCount = 125.0 / 256
    /// Degrees per second of one count of the gyroscope (muse-js, BlueMuse; BrainFlow rounds to 0.007476).
    package static let degreesPerSecondPerCount = 0.0074768
    /// Instants of one packet of the EEG.
    package static let eegInstantsPerPacket = 12

    /// What the headset has turned out to be.
    package let variant: Variant
    /// The preset that a person has chosen; nil for the headset's usual one.
    private let preset: String?

    /// Creates the profile.
    ///
    /// - Parameters:
    ///   - preset: one of ``presets``; any other word, and nil, stands for the headset's usual one.
    ///   - variant: what is known of the headset.
    package init(preset: String? = nil, variant: Variant = .unknown) {
        self.preset = preset
        self.variant = variant
    }

    /// Those of all headsets of the model: which one it is, is known when it is connected.
    package var presets: [String] {
        let older = MusePreset.allCases.map(\.rawValue)
        return older + MuseAthenaPreset.allCases.map(\.rawValue).filter { !older.contains($0) }
    }

    package func choosing(preset: String) -> any HeadsetProfile { MuseProfile(preset: preset, variant: variant) }

    /// How the headset is set, as far as it knows the preset.
    private var chosen: MusePreset? {
        guard let preset = preset.flatMap(MusePreset.init(rawValue:)) else { return nil }
        return variant == .withPPG ? preset : preset.withoutPPG
    }

    private var eegChannelCount: Int { chosen?.eegChannelCount ?? 4 }
    private var hasMotion: Bool { chosen?.hasMotion ?? true }
    private var hasPPG: Bool { variant == .withPPG && chosen?.hasPPG ?? true }

    package var model: String { "muse" }
    package var displayName: String { "InteraXon Muse" }
    package var manufacturer: String? { "InteraXon" }

    /// By service; by name too, since in some states the service is not advertised.
    package var recognition: Recognition {
        Recognition(
            serviceUUIDs: [MuseService.service],
            namePrefixes: ["Muse-", "MuseS-", "Muse S", "MuseAthena", "Muse Athena", "SMXT-"])
    }

    package var services: [BluetoothUUID] { [MuseService.service] }
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var sendsIdentityInStatus: Bool { true }
    /// The status holds nothing that the initialisation changes but the preset's number.
    package var isAskedOnceInitialised: Bool { false }
    package var isDiscriminatedByDatabase: Bool { true }
    package var controlCharacteristics: [BluetoothUUID] { [MuseService.control] }

    package var dataCharacteristics: [BluetoothUUID] {
        guard dataCharacteristicsAreKnown else { return [] }
        var characteristics = Array(MuseService.eeg.prefix(eegChannelCount))
        if hasMotion { characteristics += [MuseService.accelerometer, MuseService.gyroscope] }
        characteristics.append(MuseService.telemetry)
        if hasPPG { characteristics += MuseService.ppg }
        return characteristics
    }

    /// Each channel has to keep sending. An array that exists once: it is looked at with every packet.
    package var vitalCharacteristics: [BluetoothUUID] { dataCharacteristicsAreKnown ? Self.vital : [] }
    private static let vital = Array(MuseService.eeg.prefix(4))

    /// Of every Muse, whichever it turns out to be.
    package var countedCharacteristics: [BluetoothUUID] {
        [MuseService.control, MuseService.gyroscope, MuseService.accelerometer, MuseService.telemetry]
            + [MuseService.multiplexed] + MuseService.eeg + MuseService.ppg
    }

    private var dataCharacteristicsAreKnown: Bool { variant == .withPPG || variant == .withoutPPG }

    /// What a connection does to the packets' numbers is not known; each one counts as a new run.
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// 12 samples at 256 Hz are a packet each 47 ms. Users report streams that end after 10 to 15 minutes, and a keep-alive
    /// as the likely cure; its interval is a guess below that of the Muse of 2014, for which 10 s were prescribed.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(47), silenceLimit: .milliseconds(5500), keepAliveInterval: .seconds(10))
    }

    package var streams: [StreamDescription] {
        var streams = [
            StreamDescription(
                name: "eeg", samplingFrequency: 256, samplesPerCount: Self.eegInstantsPerPacket, counterModulus: 1 << 16,
                channels: ["TP9", "AF7", "AF8", "TP10", "AUX"].prefix(eegChannelCount).map {
                    ChannelDescription(
                        name: $0, scale: Self.microvoltsPerCount, offset: -2048 * Self.microvoltsPerCount, rawMinimum: 0,
                        rawMaximum: 4095)
                })
        ]
        if hasMotion {
            streams.append(Self.motion("accelerometer", type: "ACCEL", unit: "g", scale: 1.0 / 16_384))
            streams.append(Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scale: Self.degreesPerSecondPerCount))
        }
        if hasPPG {
            // Which colour is which differs between Muse 2 and Muse S, and is disputed.
            streams.append(
                StreamDescription(
                    name: "ppg", samplingFrequency: 64, samplesPerCount: 6, counterModulus: 1 << 16,
                    channels: (1...3).map {
                        ChannelDescription(
                            name: "PPG\($0)", type: "PPG", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: 0xFF_FFFF)
                    }))
        }
        return streams
    }

    private static func motion(_ name: String, type: String, unit: String, scale: Double) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: 52, samplesPerCount: 3, counterModulus: 1 << 16,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(
                    name: $0, type: type, unit: unit, scale: scale, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
            })
    }

    /// The chosen preset, or 50, which other programs use with a Muse 2 and Muse S, and 21 without optical channels. What is
    /// not subscribed is not sent.
    private var usedPreset: MusePreset { chosen ?? (variant == .withPPG ? .p50 : .p21) }

    /// The status query asks for the versions where there is no status: a headset in its bootloader says so only there.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: Self.statusQuery(version: MuseCommand.version)
        // The headset restarts and drops the link by itself.
        case .wake: [MuseCommand.step(MuseCommand.reset), .wait(.seconds(1))]
        case .initialise where variant == .controlOnly:
            [
                MuseCommand.step(MuseCommand.halt), .wait(.milliseconds(100)),
                .abandonLink(reason: "the headset shows its control characteristic only; the next connection shows the rest"),
            ]
        case .initialise: Self.initialisation(preset: usedPreset.rawValue, status: status)
        case .start: [MuseCommand.step(MuseCommand.start)]
        case .queryVersion: [MuseCommand.step(MuseCommand.version)]
        case .keepAlive: [MuseCommand.step(MuseCommand.keepAlive)]
        case .stop: [MuseCommand.step(MuseCommand.halt)]
        }
    }

    /// Halts the headset and chooses a preset, where its status does not say that it is set. muse-js sends these commands
    /// without a pause; here the second one waits for the answer to the first, and the start for the subscriptions, each of
    /// which takes a connection interval or more.
    static func initialisation(preset: String, status: HeadsetStatus?) -> [CommandStep] {
        let halt = MuseCommand.step(MuseCommand.halt)
        if isSet(status, to: preset) { return [halt] }
        return [halt, .awaitReply(timeout: .milliseconds(50), otherwise: []), MuseCommand.step(MuseCommand.bytes(preset))]
    }

    /// True where the status says which preset the headset is set to, and that it is this one. `ps` is the number behind the
    /// `p`, whose digits are hexadecimal: 32 after `p20` (muse-js). A headset keeps it until it is switched off.
    static func isSet(_ status: HeadsetStatus?, to preset: String) -> Bool {
        guard let status, let number = Int(preset.dropFirst(), radix: 16) else { return false }
        return MuseReply(text: status.raw).number("ps") == Double(number)
    }

    /// Asks for the status, one command at a time: answers to two can interleave, and are lost then. An answer of eight
    /// notifications comes within 0.3 s at connection intervals of 30 ms.
    static func statusQuery(version: [UInt8]) -> [CommandStep] {
        let status = MuseCommand.step(MuseCommand.status)
        let timeout = Duration.milliseconds(500)
        let again: [CommandStep] = [
            MuseCommand.step(version), .awaitReply(timeout: timeout, otherwise: []), status,
        ]
        return [status, .awaitReply(timeout: timeout, otherwise: again)]
    }

    /// What the headset is, by the characteristics that it has.
    package func adapted(to database: GATTDatabase) -> any HeadsetProfile {
        if database[MuseService.multiplexed] != nil {
            return MuseAthenaProfile(preset: preset.flatMap(MuseAthenaPreset.init(rawValue:)) ?? .p1041)
        }
        let variant: Variant =
            if database[MuseService.ppg[0]] != nil {
                .withPPG
            } else if database[MuseService.eeg[0]] != nil {
                .withoutPPG
            } else {
                .controlOnly
            }
        return MuseProfile(preset: preset, variant: variant)
    }

    package func makeDecoder() -> any HeadsetDecoder {
        MuseDecoder(eegChannelCount: eegChannelCount, hasMotion: hasMotion, hasPPG: hasPPG)
    }
}
