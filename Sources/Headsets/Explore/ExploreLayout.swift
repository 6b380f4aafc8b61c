/// What the packets of an Explore hold: learned from the packets themselves, and described as streams.
struct ExploreLayout: Hashable, Sendable {
    /// The indices of the streams. Those of the EEG come last: their number differs.
    static let accelerometer = 0
    static let gyroscope = 1
    static let magnetometer = 2
    static let environment = 3
    static let eeg = 4

    /// Microvolts of one count: 2.4 V reference, gain 6, 24 bits with sign (explorepy).
    static let microvoltsPerCount = 2.4e6 / (8_388_607 * 6)
    /// Rows of motion a second (explorepy).
    static let motionFrequency = 20.0
    /// Rows of the environment a second, by Mentalab's own simulated headset; a headset's own was not seen.
    static let environmentFrequency = 1.0
    /// The frequencies that a headset can have, in hertz.
    static let frequencies: [Double] = [250, 500, 1000, 2000, 4000, 8000, 16000]

    /// Channels of EEG.
    var channelCount = 8
    /// Samples a second.
    var samplingFrequency = 250.0
    /// Which of the two kinds of motion packets comes; their scales differ.
    var motion = ExplorePacket.Kind.orientation

    /// The banks of the EEG.
    var bankCount: Int { (channelCount + StreamDescription.channelsPerBank - 1) / StreamDescription.channelsPerBank }

    var streams: [StreamDescription] {
        let isFirstKind = motion == .orientation
        return [
            Self.motion("accelerometer", type: "ACCEL", unit: "g", scales: [isFirstKind ? 0.061e-3 : 0.122e-3]),
            Self.motion("gyroscope", type: "GYRO", unit: "deg/s", scales: [isFirstKind ? 0.00875 : 0.07]),
            // The first axis of the magnetometer points the other way.
            Self.motion("magnetometer", type: "MAGN", unit: "uT", scales: [-0.152, 0.152, 0.152]),
            StreamDescription(
                name: "environment", samplingFrequency: Self.environmentFrequency, counterModulus: 1 << 32,
                channels: [
                    ChannelDescription(
                        name: "temperature", type: "TEMP", unit: "oC", scale: 1, rawMinimum: 0, rawMaximum: 0xFF),
                    ChannelDescription(
                        name: "light", type: "MISC", unit: "lx", scale: 1000.0 / 4095, rawMinimum: 0, rawMaximum: 0xFFFF),
                    ChannelDescription(
                        name: "battery", type: "MISC", unit: "V", scale: ExploreBattery.voltsPerCount, rawMinimum: 0,
                        rawMaximum: 0xFFFF),
                ]),
        ]
            + (0..<bankCount).map { bank in
                StreamDescription(
                    name: "eeg", bank: bank, samplingFrequency: samplingFrequency, counterModulus: 1 << 32,
                    channels: (bank * 8..<min(channelCount, bank * 8 + 8)).map {
                        ChannelDescription(
                            name: "Ch\($0 + 1)", scale: Self.microvoltsPerCount, rawMinimum: -0x80_0000,
                            rawMaximum: 0x7F_FFFF)
                    })
            }
    }

    private static func motion(_ name: String, type: String, unit: String, scales: [Double]) -> StreamDescription {
        StreamDescription(
            name: name, samplingFrequency: motionFrequency, counterModulus: 1 << 32,
            channels: ["X", "Y", "Z"].enumerated().map { index, axis in
                ChannelDescription(
                    name: axis, type: type, unit: unit, scale: scales[index % scales.count], rawMinimum: -0x8000,
                    rawMaximum: 0x7FFF)
            })
    }

    /// The frequency that lies nearest to a measured one, by ratio.
    static func frequency(near measured: Double) -> Double {
        frequencies.last { measured > $0 * 0.75 } ?? frequencies[0]
    }
}

/// The battery of an Explore, as its library computes it.
enum ExploreBattery {
    /// Volts of one count: a divider before a converter of 1.8 V.
    static let voltsPerCount = 16.8 / 6.8 * 1.8 / 2457

    /// 3.45 V are empty, 4.1 V are full.
    static func percent(ofCount count: Int32) -> Double {
        let percent = (Double(count) * voltsPerCount - 3.45) / (4.1 - 3.45) * 100
        return max(0, min(100, percent.rounded(.down)))
    }
}
