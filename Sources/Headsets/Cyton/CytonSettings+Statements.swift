extension CytonSettings.Auxiliary {
    /// The word for it in a configuration.
    var word: String {
        switch self {
        case .accelerometer: "accelerometer"
        case .analog: "analog"
        case .digital: "digital"
        }
    }
}

extension CytonSettings {
    /// What a person may set about the amplifiers of a board.
    ///
    /// - Parameter channelCount: how many channels it can have.
    static func amplifierSettings(channelCount: Int) -> [HeadsetSetting] {
        [
            HeadsetSetting(
                name: "gain", meaning: "Amplification of the channels", values: Gain.allCases.map { "\(Int($0.factor))" },
                usual: "24", channelCount: channelCount),
            HeadsetSetting(
                name: "power", meaning: "Whether the amplifiers of the channels are on; one that is off is still sent",
                usual: true, channelCount: channelCount),
            HeadsetSetting(
                name: "bias", meaning: "Whether the channels feed the bias electrode", usual: true, channelCount: channelCount),
            HeadsetSetting(
                name: "srb2", meaning: "Whether the channels are measured against the electrode SRB2", usual: true,
                channelCount: channelCount),
        ]
    }

    /// What a person may set about a board whose serial stream comes whole: what goes beside the EEG, too.
    static let boardSettings =
        amplifierSettings(channelCount: channelCountMaximum) + [
            HeadsetSetting(
                name: "daisy", meaning: "Whether a Daisy is used if there is one: 16 channels at 125 Hz", usual: true),
            HeadsetSetting(
                name: "auxiliary", meaning: "What is sent beside EEG: accelerations, or readings of pins",
                values: Auxiliary.allCases.map(\.word), usual: Auxiliary.accelerometer.word),
            HeadsetSetting(
                name: "time_stamps", meaning: "Whether the board's time is sent too, instead of two readings of pins",
                usual: false),
        ]

    /// The settings that a person has stated; the rest is as after a reset.
    init(_ stated: HeadsetSettings, channelCount: Int = channelCountMaximum) {
        self.init(
            channels: (0..<channelCount).map { number in
                let usual = Channel()
                let gain = stated["gain", number]
                return Channel(
                    isOn: stated["power", number].map { $0 == "true" } ?? usual.isOn,
                    gain: Gain.allCases.first { "\(Int($0.factor))" == gain } ?? usual.gain,
                    isInBias: stated["bias", number].map { $0 == "true" } ?? usual.isInBias,
                    usesSRB2: stated["srb2", number].map { $0 == "true" } ?? usual.usesSRB2)
            },
            auxiliary: Auxiliary.allCases.first { $0.word == stated["auxiliary"] } ?? .accelerometer,
            stampsTime: stated["time_stamps"] == "true", usesDaisy: stated["daisy"] != "false")
    }
}

extension CytonProfile {
    package var settings: [HeadsetSetting] { CytonSettings.boardSettings }
    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        CytonProfile(settings: CytonSettings(stated))
    }
}

extension CytonBLEProfile {
    package var settings: [HeadsetSetting] { CytonSettings.amplifierSettings(channelCount: Self.channelCount) }
    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        CytonBLEProfile(settings: CytonSettings(stated, channelCount: Self.channelCount))
    }
}
