/// The pace of an Explore's EEG: the steps of the headset's clock between its latest packets, and how many of these came twice.
///
/// Packets that are lost lengthen a step and never shorten one. The mean of the steps is therefore that of a lower frequency,
/// as soon as packets are lost; their lower quartile is a period while a quarter of the packets follow the one before.
struct ExplorePace: Sendable {
    /// So many of the latest packets count.
    static let packetMaximum = 128
    /// Fewer steps show no frequency: as many as 0.2 s at 250 Hz have with 60 % lost.
    static let stepMinimum = 20
    /// So many that seem to have come twice, among the latest packets, show that the frequency may be a higher one: they lie
    /// closer together than it allows.
    static let repeatMinimum = 32

    /// A packet of EEG.
    private struct Packet: Sendable {
        /// Ticks since the one before; nil where that shows nothing of the frequency.
        var step: UInt64?
        var isRepeated = false
    }

    /// A ring, once it is full.
    private var packets: [Packet] = []
    private var latest = 0
    private var repeatCount = 0
    /// The clock at the latest packet, where it was one instant.
    private var lastTicks: UInt64?

    /// A packet has come.
    ///
    /// - Parameter isSingleInstant: false for one of several instants, which says its frequency itself.
    mutating func append(at ticks: UInt64, isSingleInstant: Bool) {
        var packet = Packet()
        if isSingleInstant, let lastTicks, ticks > lastTicks { packet.step = ticks - lastTicks }
        lastTicks = isSingleInstant ? ticks : nil
        if packets.count < Self.packetMaximum {
            latest = packets.count
            packets.append(packet)
        } else {
            latest = (latest + 1) % Self.packetMaximum
            if packets[latest].isRepeated { repeatCount -= 1 }
            packets[latest] = packet
        }
    }

    /// The latest packet seems to have come twice.
    ///
    /// - Returns: true where so many do that the frequency is to be measured again.
    mutating func noteRepeat() -> Bool {
        guard packets.indices.contains(latest), !packets[latest].isRepeated else { return false }
        packets[latest].isRepeated = true
        repeatCount += 1
        return repeatCount >= Self.repeatMinimum
    }

    /// The frequency that the steps show; nil where there are too few.
    var samplingFrequency: Double? {
        let steps = packets.compactMap(\.step).sorted()
        guard steps.count >= Self.stepMinimum else { return nil }
        return ExploreLayout.frequency(near: ExplorePacket.tickFrequency / Double(steps[(steps.count - 1) / 4]))
    }

    /// What came until now shows nothing of what follows.
    mutating func restart() {
        packets.removeAll(keepingCapacity: true)
        latest = 0
        repeatCount = 0
        lastTicks = nil
    }
}
