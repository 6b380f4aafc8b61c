package import Bluetooth

/// NeuroSky's MindWave Mobile 2 and Mobile+ over Bluetooth Low Energy, and the headset of 2013 on the same service.
package struct MindWaveProfile: HeadsetProfile {
    /// What the raw characteristic carries.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        /// Ten samples a notification; the rest comes from the eSense characteristic.
        case packets
        /// The ThinkGear stream, cut anywhere: the headset of 2013.
        case stream
    }

    private let format: Format
    private let notch: MindWaveCommand?

    /// Creates the profile.
    ///
    /// - Parameters:
    ///   - format: what the headset sends; the GATT database of the link shows it again.
    ///   - notch: ``MindWaveCommand/notch50Hz`` or ``MindWaveCommand/notch60Hz`` to set the headset's mains filter; nil leaves
    ///     it as it is.
    package init(format: Format = .packets, notch: MindWaveCommand? = nil) {
        self.format = format
        self.notch = notch
    }

    package var model: String { "mindwave" }
    package var displayName: String { "NeuroSky MindWave Mobile 2" }
    package var manufacturer: String? { "NeuroSky" }

    /// By name as well: NeuroSky's own program looks for nothing else, and whether the service is advertised is not known.
    package var recognition: Recognition {
        Recognition(serviceUUIDs: [MindWaveService.service], namePrefixes: ["MindWave Mobile"])
    }

    package var services: [BluetoothUUID] { [MindWaveService.service] }

    /// It has a Serial Number String, but nobody has shown that it differs from headset to headset; the address is fixed.
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var isDiscriminatedByDatabase: Bool { true }
    package var controlCharacteristics: [BluetoothUUID] { [] }
    package var dataCharacteristics: [BluetoothUUID] {
        format == .packets ? [MindWaveService.esense, MindWaveService.raw] : [MindWaveService.raw]
    }
    package var vitalCharacteristics: [BluetoothUUID] { format == .packets ? [MindWaveService.raw] : [] }
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// 51.2 notifications of raw samples a second.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .microseconds(19_531), silenceLimit: .milliseconds(2000))
    }

    package var streams: [StreamDescription] { ThinkGearProfile().streams }

    /// There is no command that asks anything: each link starts from scratch.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch (purpose, format) {
        case (.initialise, .packets): notch.map { [$0.step] } ?? []
        case (.start, .packets): [MindWaveCommand.startESense.step, MindWaveCommand.startRaw.step]
        case (.start, .stream): [.write(MindWaveCommand.start2013, to: MindWaveService.handshake, type: .withResponse)]
        case (.stop, .packets): [MindWaveCommand.stopRaw.step, MindWaveCommand.stopESense.step]
        case (.initialise, .stream), (.stop, .stream), (.queryStatus, _), (.wake, _), (.keepAlive, _), (.queryVersion, _): []
        }
    }

    /// The headset of 2013 is sent none: its commands are not known.
    package var settings: [HeadsetSetting] {
        [
            HeadsetSetting(
                name: "notch", meaning: "Which mains hum the headset itself filters out", unit: "Hz", values: ["50", "60"],
                usual: nil)
        ]
    }

    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        switch stated["notch"] {
        case "50": MindWaveProfile(format: format, notch: .notch50Hz)
        case "60": MindWaveProfile(format: format, notch: .notch60Hz)
        default: self
        }
    }

    /// The headset of 2013 has the raw characteristic alone, and sends everything there.
    package func adapted(to database: GATTDatabase) -> any HeadsetProfile {
        let isStream = database[MindWaveService.esense] == nil && database[MindWaveService.raw] != nil
        return MindWaveProfile(format: isStream ? .stream : .packets, notch: notch)
    }

    package func makeDecoder() -> any HeadsetDecoder {
        format == .packets ? MindWaveDecoder() : ThinkGearDecoder(characteristic: MindWaveService.raw)
    }
}
