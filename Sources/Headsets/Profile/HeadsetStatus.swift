/// What a headset answers to the status query.
package struct HeadsetStatus: Hashable, Sendable, Codable {
    /// What the headset does.
    package enum Condition: String, Hashable, Sendable, Codable, CaseIterable {
        /// Samples and sends them; it needs only a subscription.
        case streaming
        /// Samples into its memory, but does not send live samples.
        case sampling
        /// Does not sample; it needs to be initialised and started.
        case idle
        /// Sleeps; the wake sequence brings it back.
        case lowPower
        /// Runs its bootloader; the wake sequence starts the firmware.
        case bootloader
        /// Samples, but with another configuration than the recording's; it needs to be initialised.
        case wrongConfiguration
    }

    /// What the headset holds of one stream.
    package struct BufferedRange: Hashable, Sendable, Codable {
        /// The stream's index in the headset's list of streams.
        package var stream: Int
        /// Index of the oldest sample in memory, as sent (modulo the stream's counter modulus).
        package var oldest: UInt32
        /// Index after the newest sample taken, as sent.
        package var end: UInt32

        /// Creates a range.
        package init(stream: Int, oldest: UInt32, end: UInt32) {
            self.stream = stream
            self.oldest = oldest
            self.end = end
        }
    }

    /// What the headset does.
    package var condition: Condition
    /// A number that is new after each power-on; nil where the model has none.
    package var bootIdentifier: UInt32?
    /// The streams, where the headset describes them itself.
    package var streams: [StreamDescription]?
    /// What the headset holds in memory, one entry a stream; empty where it has none.
    package var buffered: [BufferedRange]
    /// Battery charge, 0 ... 100 %; nil where not sent.
    package var batteryPercent: Double?
    /// The headset's own clock, in ticks since power-on; nil where there is none.
    package var deviceTicks: UInt64?
    /// Ticks per second of ``deviceTicks``.
    package var tickFrequency: Double?
    /// What distinguishes two headsets of the model, where the status holds it.
    package var serialNumber: String?
    /// The bytes that held it, as sent, where they hold more than is decoded; else empty.
    package var raw: [UInt8]

    /// Creates a status.
    package init(
        condition: Condition, bootIdentifier: UInt32? = nil, streams: [StreamDescription]? = nil,
        buffered: [BufferedRange] = [], batteryPercent: Double? = nil, deviceTicks: UInt64? = nil,
        tickFrequency: Double? = nil, serialNumber: String? = nil, raw: [UInt8] = []
    ) {
        self.condition = condition
        self.bootIdentifier = bootIdentifier
        self.streams = streams
        self.buffered = buffered
        self.batteryPercent = batteryPercent
        self.deviceTicks = deviceTicks
        self.tickFrequency = tickFrequency
        self.serialNumber = serialNumber
        self.raw = raw
    }
}
