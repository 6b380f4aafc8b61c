import Bluetooth
import Headsets

/// A headset's own clock, by which the n of a stream is known behind a pause, also over links: whatever the host's radio and
/// queues do, the headset has stamped its samples before.
///
/// How many samples come in a second of it is learnt, because the two need not have one crystal. It is believed where it agrees
/// with the host's clock: a headset that was switched off begins anew.
struct DeviceClock: Hashable, Sendable {
    let stamps: SampleStamps

    /// The latest sample that was stamped.
    private var latest: Stamp?
    /// The first one of this stretch, from which the rate is learnt.
    private var first: Stamp?
    /// Samples per second of the headset's clock, and its standard deviation, as a part.
    private var rate: Double
    private var deviation = ArrivalEnvelope.Rate.unknown.deviation
    /// By how many seconds stamps deviated from the samples' distance at the most.
    private var jitter = 0.0
    private var stampCount = 0
    /// True where the latest stamp is as far from the one before as their samples are.
    private(set) var isSteady = false

    /// A sample with its stamp.
    private struct Stamp: Hashable, Sendable {
        var n: Int64
        var ticks: UInt64
        var arrival: MonotonicTime
    }

    /// Before so many stamps their jitter is supposed to be ``supposedJitter``.
    private static let jitterCount = 64
    private static let supposedJitter = 0.05
    /// From so many seconds on the rate is learnt.
    private static let learningSeconds = 10.0
    /// The clocks of headset and host differ by no more: crystals, and the lateness of two arrivals, in seconds.
    private static let clockDifference = 0.025
    private static let latenessSum = 1.0
    /// Stamps so near to each other are reckoned from one to the other: a crystal that is 2 % off makes 2 ms of them.
    private static let nearSeconds = 0.1
    /// A stamp that deviates so much from its sample's distance to the one before may be damaged.
    private static let steadySeconds = 0.02
    /// What a rate may change by while nothing is stamped, as a part.
    private static let rateDrift = 20e-6

    /// Creates a clock that has stamped nothing yet.
    ///
    /// - Parameter samplingFrequency: of the stream, nominal.
    init(_ stamps: SampleStamps, samplingFrequency: Double) {
        self.stamps = stamps
        rate = samplingFrequency
    }

    /// Takes the stamp of sample n.
    mutating func stamp(n: Int64, ticks: UInt64, at arrival: MonotonicTime) {
        let stamp = Stamp(n: n, ticks: ticks, arrival: arrival)
        guard let latest, let first, let elapsed = seconds(from: latest, to: ticks, at: arrival), n > latest.n else {
            isSteady = false
            if self.latest.map({ $0.n < n }) ?? true { (self.latest, self.first) = (stamp, stamp) }
            return
        }
        stampCount += 1
        let unsteadiness = abs(elapsed - Double(n - latest.n) / rate)
        isSteady = unsteadiness <= Self.steadySeconds
        jitter = max(jitter, unsteadiness)
        if let span = seconds(from: first, to: ticks, at: arrival), span >= Self.learningSeconds {
            let part = uncertainJitter / span
            let fresh = (part * part + Self.rateDrift * Self.rateDrift).squareRoot()
            if fresh < deviation { (rate, deviation) = (Double(n - first.n) / span, fresh) }
        }
        self.latest = stamp
    }

    /// Another run of n begins, at an n that was itself known by a clock: the rate is learnt anew from there, and kept until
    /// then.
    mutating func beginStretch() { first = nil }

    /// Which n the sample has that bears a stamp; nil where the clock cannot show it.
    func position(ticks: UInt64, at arrival: MonotonicTime) -> StreamPosition? {
        guard let latest, let elapsed = seconds(from: latest, to: ticks, at: arrival) else { return nil }
        let uncertainty = (2 * uncertainJitter + 3 * deviation * abs(elapsed)) * rate + 1
        return StreamPosition(
            n: latest.n.addingClamped(Int64(clamping: (elapsed * rate).rounded())),
            uncertainty: Int64(clamping: uncertainty.rounded(.up)))
    }

    /// The latest stamped sample, and how many seconds of the host lie between it and another stamp of the headset's; nil where
    /// they are not near to each other.
    ///
    /// - Parameter period: the host's seconds between two samples.
    func latestSample(
        near ticks: UInt64, at arrival: MonotonicTime, period: Double
    ) -> (n: Int64, ticks: UInt64, seconds: Double)? {
        guard stamps.isExact, isSteady, let latest, let elapsed = seconds(from: latest, to: ticks, at: arrival),
            abs(elapsed) <= Self.nearSeconds
        else { return nil }
        return (latest.n, latest.ticks, elapsed * rate * period)
    }

    private var uncertainJitter: Double { stampCount < Self.jitterCount ? max(jitter, Self.supposedJitter) : jitter }

    /// The seconds of the headset's clock that have passed, less than 0 for a stamp that is a little older; nil where they are
    /// not those of the host's.
    private func seconds(from stamp: Stamp, to ticks: UInt64, at arrival: MonotonicTime) -> Double? {
        let difference = ticks &- stamp.ticks
        let host = (arrival - stamp.arrival).inSeconds
        guard let modulus = stamps.modulus, modulus > 0 else {
            return agreeing(Double(Int64(bitPattern: difference)) / stamps.tickFrequency, host)
        }
        // Whole wraps of the clock are hours: the host's knows how many.
        let wrap = Double(modulus) / stamps.tickFrequency
        let part = Double(difference % modulus) / stamps.tickFrequency
        return agreeing(part + ((host - part) / wrap).rounded() * wrap, host)
    }

    private func agreeing(_ seconds: Double, _ host: Double) -> Double? {
        abs(seconds - host) <= Self.latenessSum + Self.clockDifference * abs(host) ? seconds : nil
    }
}
