import Storage

/// What is known of a clock's rate at each interval of a stream's evidence: from all before it, and from all behind it.
struct EvidenceRates: Sendable {
    /// Before an interval's own evidence: from those before it.
    private(set) var before: [ArrivalEnvelope.Rate] = []
    /// The same from those behind it.
    private(set) var behind: [ArrivalEnvelope.Rate] = []
    /// After the last interval, and after the first one from behind.
    private(set) var last: ArrivalEnvelope.Rate
    private(set) var first: ArrivalEnvelope.Rate
    /// Of each run and stretch the first interval.
    private var firstIntervals: [[Int]] = []

    private struct Interval {
        var points: ArraySlice<ArrivalEnvelope.Point>
        var hostBoot: Int64
        /// On that boot's clock.
        var nanoseconds: Int64
    }

    /// How late arrivals are supposed to be before it was measured, in nanoseconds.
    static let supposedLateness = 2e6

    /// Goes through all evidence, forth and back.
    ///
    /// - Parameters:
    ///   - earlier: what is known from before the first run.
    ///   - later: what is known from after the last one.
    init(_ runs: [EvidenceRun], earlier: ArrivalEnvelope.Rate = .unknown, later: ArrivalEnvelope.Rate = .unknown) {
        var intervals: [Interval] = []
        for run in runs {
            firstIntervals.append([])
            for stretch in run.stretches {
                firstIntervals[firstIntervals.count - 1].append(intervals.count)
                for number in 0..<stretch.intervalCount {
                    let (begin, end) = (stretch.boundary(number), stretch.boundary(number + 1))
                    intervals.append(
                        Interval(
                            points: run.points(
                                of: stretch, from: begin, through: number + 1 < stretch.intervalCount ? end.nextDown : end),
                            hostBoot: run.hostBoot, nanoseconds: run.nanoseconds(x: (begin + end) / 2, y: 0)))
                }
            }
        }
        (before, last) = Self.pass(intervals, from: earlier)
        let (reversed, first) = Self.pass(intervals.reversed(), from: later)
        (behind, self.first) = (reversed.reversed(), first)
    }

    /// What is known of the rate where the evidence from interval `first` through `last` of a stretch is still to be taken.
    func prior(run: Int, stretch: Int, first: Int, last: Int) -> ArrivalEnvelope.Rate {
        let interval = firstIntervals[run][stretch]
        return Self.combined(before[interval + first], behind[interval + last])
    }

    private static func pass(
        _ intervals: [Interval], from initial: ArrivalEnvelope.Rate
    ) -> ([ArrivalEnvelope.Rate], ArrivalEnvelope.Rate) {
        var rate = initial
        var rates: [ArrivalEnvelope.Rate] = []
        for (index, interval) in intervals.enumerated() {
            if index > 0 { rate = drifted(rate, from: intervals[index - 1], to: interval) }
            rates.append(rate)
            if let fit = ArrivalEnvelope(interval.points, prior: rate, supposedLateness: supposedLateness) { rate = fit.rate }
        }
        return (rates, rate)
    }

    /// A clock wanders from minute to minute, but over a long time not further than temperature and age take it.
    private static func drifted(
        _ rate: ArrivalEnvelope.Rate, from one: Interval, to other: Interval
    ) -> ArrivalEnvelope.Rate {
        let elapsed = abs(Double(other.nanoseconds) - Double(one.nanoseconds))
        let minutes = one.hostBoot == other.hostBoot ? elapsed / 60e9 : .infinity
        let drift = min(minutes.squareRoot() * TimeMap.rateDrift, StreamClock.learntDeviation)
        var rate = rate
        rate.deviation = (rate.deviation * rate.deviation + drift * drift).squareRoot()
        return rate
    }

    static func combined(_ one: ArrivalEnvelope.Rate, _ other: ArrivalEnvelope.Rate) -> ArrivalEnvelope.Rate {
        let (first, second) = (1 / (one.deviation * one.deviation), 1 / (other.deviation * other.deviation))
        return ArrivalEnvelope.Rate(
            slope: (one.slope * first + other.slope * second) / (first + second),
            deviation: (1 / (first + second)).squareRoot())
    }
}
