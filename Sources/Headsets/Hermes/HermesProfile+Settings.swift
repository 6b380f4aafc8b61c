extension HermesProfile {
    /// The gain of each channel. Of the converter's other registers nobody has shown what the firmware and its radio make of
    /// them; twice as many samples are twice as many packets.
    package var settings: [HeadsetSetting] {
        [
            HeadsetSetting(
                name: "gain", meaning: "Amplification of the channels", values: HermesRegister.gains.map { "\(Int($0))" },
                usual: "12", channelCount: Self.channelCount)
        ]
    }

    package func choosing(settings stated: HeadsetSettings) -> any HeadsetProfile {
        // The mode has set all registers already: only what differs is written, since each register costs 60 ms.
        HermesProfile(
            registers: (0..<Self.channelCount).compactMap { channel in
                guard let gain = stated["gain", channel].flatMap({ Double($0) }),
                    let index = HermesRegister.gains.firstIndex(of: gain)
                else { return nil }
                let setting = UInt8(index) << 4
                guard setting != Self.channelSetting else { return nil }
                return HermesRegister(address: HermesRegister.channel1 + UInt8(channel), value: setting)
            })
    }
}
