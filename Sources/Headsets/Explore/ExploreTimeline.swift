/// Numbers the samples of one stream of an Explore by the headset's clock: packets have no number that shows how many are
/// missing.
///
/// A packet lies where the clock says, to the nearest whole packet; the line follows the clock slowly, so that a clock that
/// differs from the converter's by some parts in a thousand does no harm.
struct ExploreTimeline: Sendable {
    /// How far a packet may come too late or too early, in packets, before it counts as one further on or back.
    static let tolerance = 0.75
    /// Farther steps of the clock are no losses, since a silent link ends long before: the clock was set. In seconds.
    static let stepMaximum = 60.0
    /// The part of a deviation that the line follows.
    private static let following = 0.25

    /// Ticks of one sampling period.
    let period: Double
    /// What the next packet's first sample is expected to be.
    private var next: Int64?
    private var lastTicks: UInt64 = 0
    /// By how many ticks the last packet came later than the line says.
    private var lag = 0.0
    private var lastCount = 0

    init(samplingFrequency: Double) {
        period = ExplorePacket.tickFrequency / samplingFrequency
    }

    /// The index of a packet's first sample; nil for a packet that came twice.
    mutating func index(at ticks: UInt64, count: Int) -> Int64? {
        guard let next else { return restart(at: ticks, count: count) }
        let packet = Double(max(1, count)) * period
        let elapsed = Double(Int64(bitPattern: ticks &- lastTicks))
        let deviation = elapsed - Double(lastCount) * period + lag
        if abs(deviation) > Self.stepMaximum * ExplorePacket.tickFrequency { return restart(at: ticks, count: count) }
        if deviation < -Self.tolerance * packet {
            // It was overtaken, or came twice.
            let back = Int64((deviation / packet).rounded()) * Int64(count)
            return back == -Int64(lastCount) ? nil : next + back
        }
        let missing = deviation > Self.tolerance * packet ? Int64((deviation / packet).rounded()) : 0
        let index = next + missing * Int64(count)
        lag = (deviation - Double(missing) * packet) * (1 - Self.following)
        lastTicks = ticks
        lastCount = count
        self.next = index + Int64(count)
        return index
    }

    /// The index of the sample that was taken nearest to an instant of the headset's clock; nil before the first packet, and
    /// for an instant that is too far from the last one.
    func index(of ticks: UInt64) -> Int64? {
        guard let next else { return nil }
        let elapsed = Double(Int64(bitPattern: ticks &- lastTicks))
        guard abs(elapsed) <= Self.stepMaximum * ExplorePacket.tickFrequency else { return nil }
        let index = next - Int64(lastCount) + Int64((elapsed / period).rounded())
        return index >= 0 ? index : nil
    }

    private mutating func restart(at ticks: UInt64, count: Int) -> Int64 {
        // Never back within a link: what follows is new.
        let index = max(next ?? 0, Int64((Double(ticks) / period).rounded()))
        lag = 0
        lastTicks = ticks
        lastCount = count
        next = index + Int64(count)
        return index
    }
}
