package import Bluetooth

/// The OpenBCI Ganglion: 4 channels at 200 Hz and an accelerometer; firmware 2 and 3.
package struct GanglionProfile: HeadsetProfile {
    /// The index of the stream of EEG samples.
    package static let eeg = 0
    /// The index of the stream of accelerations.
    package static let accelerometer = 1

    /// Microvolts of one count: MCP3912 with 24 bits, reference 1.2 V, gain 1.5 before an amplifier of 51 (OpenBCI).
    package static let microvoltsPerCount = 1.2e6 / (8_388_607 * 1.5 * 51)

    private let isAccelerometerOn: Bool

    /// Creates the profile.
    ///
    /// - Parameter isAccelerometerOn: true for 18-bit samples and accelerations, false for 19-bit samples without.
    package init(isAccelerometerOn: Bool = true) {
        self.isAccelerometerOn = isAccelerometerOn
    }

    package var model: String { "ganglion" }
    package var displayName: String { "OpenBCI Ganglion" }
    package var manufacturer: String? { "OpenBCI" }

    /// By service; by name too, because the service number FE84 belongs to the maker of the radio.
    package var recognition: Recognition {
        Recognition(serviceUUIDs: [GanglionService.service], namePrefixes: ["Ganglion", "Simblee"])
    }

    package var services: [BluetoothUUID] { [GanglionService.service] }

    /// The headset has no serial number; its name is not unique.
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var controlCharacteristics: [BluetoothUUID] { [] }
    package var dataCharacteristics: [BluetoothUUID] { [GanglionService.data] }
    package var countedCharacteristics: [BluetoothUUID] { [GanglionService.data] }

    /// The packet identifiers begin anew at each start, and the headset stops when the link ends.
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }

    /// A packet each 10 ms. After a lost packet, firmware 2 cannot be decoded for up to a cycle of 1.005 s: two of them are
    /// waited for.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(10), silenceLimit: .milliseconds(2500))
    }

    /// The accelerometer's rows follow from the packets' numbers: 10 of them in a cycle.
    package var streams: [StreamDescription] {
        let eeg = StreamDescription(
            name: "eeg", samplingFrequency: 200, counterModulus: Int64(GanglionService.cycleLength),
            channels: (1...4).map {
                ChannelDescription(
                    name: "Ch\($0)", scale: Self.microvoltsPerCount, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
            })
        let accelerometer = StreamDescription(
            name: "accelerometer", samplingFrequency: 2000 / Double(GanglionService.cycleLength), counterModulus: 10,
            channels: ["X", "Y", "Z"].map {
                ChannelDescription(name: $0, type: "ACCEL", unit: "g", scale: 0.016, rawMinimum: -128, rawMaximum: 127)
            })
        return isAccelerometerOn ? [eeg, accelerometer] : [eeg]
    }

    /// `z` stops the samples, and `Z` starts them again where `z` has stopped them. A second `z` makes the firmware forget that
    /// it has, so `b` follows, which the firmware ignores while it samples. OpenBCI's GUI halves the number and does not say
    /// why (source: OpenBCI's Ganglion firmware library 3.0.2; OpenBCI_GUI, W_GanglionImpedance).
    package var impedance: ImpedanceMeasurement? {
        ImpedanceMeasurement(
            electrodes: ["Ch1", "Ch2", "Ch3", "Ch4", "reference"], pausesSamples: true,
            otherReading: ImpedanceMeasurement.OtherReading(name: "OpenBCI GUI", factor: 0.5),
            start: [GanglionCommand.impedanceOn.step],
            end: [GanglionCommand.impedanceOff.step, .wait(.milliseconds(50)), GanglionCommand.start.step])
    }

    /// The status query reads the firmware's version, which shows how samples are packed; where it was not answered, the
    /// version is read again, and the headset is not used without it.
    ///
    /// The headset is stopped before it is configured, for a link that outlived this program. The radio confirms a
    /// write before the firmware has looked at it: it gets time between two.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: [.read(.softwareRevisionString)]
        case .initialise:
            (status == nil ? [.read(.softwareRevisionString)] : []) + [
                GanglionCommand.stop.step, .wait(.milliseconds(50)),
                (isAccelerometerOn ? GanglionCommand.accelerometerOn : .accelerometerOff).step, .wait(.milliseconds(50)),
            ]
        case .start: [GanglionCommand.start.step]
        case .stop: [GanglionCommand.stop.step]
        case .wake, .keepAlive, .queryVersion: []
        }
    }

    package var settings: [HeadsetSetting] {
        [
            HeadsetSetting(
                name: "accelerometer",
                meaning: "Whether accelerations are sent; without them each sample has one bit more", usual: true)
        ]
    }

    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        GanglionProfile(isAccelerometerOn: stated["accelerometer"] != "false")
    }

    package func makeDecoder() -> any HeadsetDecoder { GanglionDecoder(isAccelerometerOn: isAccelerometerOn) }
}
