import Bluetooth

/// NeuroSky headsets that send the ThinkGear stream over a classic serial port, such as the MindWave Mobile.
package struct ThinkGearProfile: SerialPortProfile {
    /// The index of the stream of raw samples.
    package static let eeg = 0
    /// The index of the stream of band powers.
    package static let power = 1
    /// The index of the stream of signal quality, attention and meditation.
    package static let esense = 2

    /// Raw samples between two sets of powers, exactly, as a recording shows.
    package static let samplesPerPower = 512

    /// Bytes per second while the headset sends: 512 raw frames and 1 power frame. Gives the time of recorded bytes without
    /// times.
    package static let nominalBytesPerSecond = samplesPerPower * ThinkGearFrame.rawLength + ThinkGearFrame.powerLength

    /// Microvolts of one raw step: 1.8 V reference, 12 bits, gain 2000 (NeuroSky, "How to convert raw values to voltage").
    package static let microvoltsPerStep = 0.2197265625

    /// The raw values of the module's converter, whose 12 bits come in a field of 16 (NeuroSky, the same page).
    package static let converterRange: ClosedRange<Int32> = -2048...2047

    /// Creates the profile.
    package init() {}

    package var model: String { "thinkgear" }
    package var displayName: String { "NeuroSky ThinkGear headset" }
    package var manufacturer: String? { "NeuroSky" }

    /// What the module computes and filters before is not documented.
    package var constantDelay: ConstantDelay? {
        ConstantDelay(parts: [
            .serialPort(
                bytes: ThinkGearFrame.rawLength, baud: 57_600, source: "NeuroSky, ThinkGear Serial Stream Guide")
        ])
    }

    package var recognition: Recognition { Recognition(serviceUUIDs: [], namePrefixes: ["MindWave Mobile"]) }

    /// The port that programs open on a MindWave Mobile without asking for it (robintibor/python-mindwave-mobile).
    package var serialPortChannel: UInt8? { 1 }

    package var streams: [StreamDescription] {
        let bands = ["delta", "theta", "lowAlpha", "highAlpha", "lowBeta", "highBeta", "lowGamma", "midGamma"]
        return [
            StreamDescription(
                name: "eeg", samplingFrequency: 512, counterModulus: nil,
                channels: [
                    ChannelDescription(
                        name: "FP1", scale: Self.microvoltsPerStep, rawMinimum: -0x8000, rawMaximum: 0x7FFF)
                ], saturation: Self.converterRange),
            StreamDescription(
                name: "power", samplingFrequency: 1, counterModulus: nil,
                channels: bands.map { Self.number($0, maximum: 0xFF_FFFF) }),
            StreamDescription(
                name: "esense", samplingFrequency: 1, counterModulus: nil,
                channels: [
                    Self.number("poorSignal", maximum: 255), Self.number("attention", maximum: 255),
                    Self.number("meditation", maximum: 255),
                ]),
        ]
    }

    /// The headset sends as soon as it is connected and takes no commands.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] { [] }

    package func byteStream(beginning: [UInt8]) -> HeadsetByteStream? {
        HeadsetByteStream(characteristic: .serialPort, bytesPerSecond: HeadsetByteStream.thinkGearBytesPerSecond)
    }

    package func makeDecoder() -> any HeadsetDecoder { ThinkGearDecoder() }

    /// A channel of numbers without a unit.
    private static func number(_ name: String, maximum: Int32) -> ChannelDescription {
        ChannelDescription(name: name, type: "MISC", unit: "n/a", scale: 1, rawMinimum: 0, rawMaximum: maximum)
    }
}
