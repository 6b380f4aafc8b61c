/// One stream of a headset: channels that are sampled together.
package struct StreamDescription: Hashable, Sendable, Codable {
    /// The most channels that one bank holds; wider streams are described as several banks of one name.
    package static let channelsPerBank = 8

    /// The stream's name, lower case, such as `eeg` or `accelerometer`; unique within a headset together with ``bank``.
    package var name: String
    /// The number of the bank, from 0.
    package var bank: Int
    /// What people call the bank, such as `optics-2`.
    package var bankName: String { Self.bankName(name, bank) }
    /// Samples per second and channel, nominal, in hertz; greater than 0.
    package var samplingFrequency: Double
    /// How many samples one step of the packet counter stands for; 1 where the counter counts samples.
    package var samplesPerCount: Int
    /// The number of values of the headset's counter before it wraps to 0; nil where there is no counter.
    package var counterModulus: Int64?
    /// 1 ... ``channelsPerBank`` channels, in the order of the samples.
    package var channels: [ChannelDescription]
    /// Where the channels' converter saturates, in raw counts; nil where it uses the whole range of the channel. A railed
    /// channel is known by it. The database does not keep it.
    package var saturation: ClosedRange<Int32>?

    /// Creates a description.
    package init(
        name: String, bank: Int = 0, samplingFrequency: Double, samplesPerCount: Int = 1, counterModulus: Int64?,
        channels: [ChannelDescription], saturation: ClosedRange<Int32>? = nil
    ) {
        self.name = name
        self.bank = bank
        self.samplingFrequency = samplingFrequency
        self.samplesPerCount = samplesPerCount
        self.counterModulus = counterModulus
        self.channels = channels
        self.saturation = saturation
    }

    /// What people call a bank: the stream's name, and behind it, from the second bank on, the bank's number from 2.
    package static func bankName(_ name: String, _ bank: Int) -> String { bank == 0 ? name : "\(name)-\(bank + 1)" }

    /// The nominal time between two samples.
    package var samplePeriod: Duration { .nanoseconds(Int64((1e9 / samplingFrequency).rounded())) }
}

/// One channel of a stream.
package struct ChannelDescription: Hashable, Sendable, Codable {
    /// The channel's name, such as `TP9`.
    package var name: String
    /// The channel's type in BIDS's words (`EEG`, `ACCEL`, `GYRO`, `PPG`, `MISC`).
    package var type: String
    /// The physical unit in BIDS's words, such as `uV`.
    package var unit: String
    /// Physical value = `scale` × raw + `offset`, in ``unit``; not 0.
    package var scale: Double
    /// Physical value of raw 0, in ``unit``.
    package var offset: Double
    /// The lowest raw value that the headset can send.
    package var rawMinimum: Int32
    /// The highest raw value that the headset can send.
    package var rawMaximum: Int32

    /// Creates a description.
    package init(
        name: String, type: String = "EEG", unit: String = "uV", scale: Double, offset: Double = 0, rawMinimum: Int32,
        rawMaximum: Int32
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.scale = scale
        self.offset = offset
        self.rawMinimum = rawMinimum
        self.rawMaximum = rawMaximum
    }
}
