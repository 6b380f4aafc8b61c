/// How the amplifiers of a Cyton are set, and what it sends beside EEG: data, from which commands and scales follow.
package struct CytonSettings: Hashable, Sendable {
    /// What the 6 bytes beside the samples are to be.
    package enum Auxiliary: UInt8, Hashable, Sendable, CaseIterable {
        /// Accelerations.
        case accelerometer = 0x30
        /// Three analog pins.
        case analog = 0x32
        /// Digital pins.
        case digital = 0x33
    }

    /// Settings of one channel.
    package struct Channel: Hashable, Sendable {
        /// False where the amplifier is switched off.
        package var isOn: Bool
        /// The amplification.
        package var gain: Gain
        /// What is measured; 0 is the electrode.
        package var input: UInt8
        /// True where the channel feeds the bias electrode.
        package var isInBias: Bool
        /// True where the common electrode SRB2 is connected.
        package var usesSRB2: Bool
        /// True where the common electrode SRB1 is connected, for all channels of the board.
        package var usesSRB1: Bool

        /// Creates the settings; those of a board that was just reset where nothing is given.
        package init(
            isOn: Bool = true, gain: Gain = .x24, input: UInt8 = 0, isInBias: Bool = true, usesSRB2: Bool = true,
            usesSRB1: Bool = false
        ) {
            self.isOn = isOn
            self.gain = gain
            self.input = min(input, 7)
            self.isInBias = isInBias
            self.usesSRB2 = usesSRB2
            self.usesSRB1 = usesSRB1
        }
    }

    /// Amplifications of the ADS1299. The raw value is the digit of the command.
    package enum Gain: UInt8, Hashable, Sendable, CaseIterable {
        case x1, x2, x4, x6, x8, x12, x24

        /// The factor.
        package var factor: Double { [1, 2, 4, 6, 8, 12, 24][Int(rawValue)] }

        /// Microvolts of one count: 4.5 V reference, 24 bits with sign.
        package var microvoltsPerCount: Double { 4.5e6 / factor / 8_388_607 }
    }

    /// The channels of the board, then those of the Daisy; the rest are as after a reset.
    package var channels: [Channel]
    /// What is sent beside EEG.
    package var auxiliary: Auxiliary
    /// True where the board's time is sent too; a frame then holds one acceleration or reading less.
    package var stampsTime: Bool
    /// True where a Daisy is used if there is one: 16 channels at 125 Hz instead of 8 at 250 Hz.
    package var usesDaisy: Bool

    /// The most channels, with a Daisy.
    package static let channelCountMaximum = 16

    /// Creates settings.
    package init(
        channels: [Channel] = [], auxiliary: Auxiliary = .accelerometer, stampsTime: Bool = false, usesDaisy: Bool = true
    ) {
        self.channels = Array(channels.prefix(Self.channelCountMaximum))
        self.auxiliary = auxiliary
        self.stampsTime = stampsTime
        self.usesDaisy = usesDaisy
    }

    /// The settings of a channel, 0 ... 15.
    package func channel(_ number: Int) -> Channel { number < channels.count ? channels[number] : Channel() }

    /// The commands that bring a board with `channelCount` channels from its defaults to these settings.
    ///
    /// A command is a text that goes out as one write: the firmware takes the characters of `x...X` within a second.
    package func commands(channelCount: Int) -> [String] {
        var commands = ["d", "/" + Self.text(auxiliary.rawValue), stampsTime ? "<" : ">"]
        for number in 0..<min(channelCount, Self.channelCountMaximum) where channel(number) != Channel() {
            let channel = channel(number)
            let digits = [
                channel.isOn ? 0 : 1, channel.gain.rawValue, channel.input, channel.isInBias ? 1 : 0,
                channel.usesSRB2 ? 1 : 0, channel.usesSRB1 ? 1 : 0,
            ]
            let name = Self.text(Self.names[number])
            commands.append("x" + name + digits.map { Self.text(UInt8(ascii: "0") + $0) }.joined() + "X")
        }
        return commands
    }

    /// What the channels are called in commands: digits on the board, letters on the Daisy.
    private static let names = Array("12345678QWERTYUI".utf8)

    private static func text(_ character: UInt8) -> String { String(decoding: [character], as: UTF8.self) }
}
