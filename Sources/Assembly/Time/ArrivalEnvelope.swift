/// The line under the arrivals of a stretch of samples.
///
/// An arrival is never early, but may be late by anything (a busy radio, a stalled process). Where lateness is exponential, the
/// likeliest line is the highest one that lies under all arrivals, measured at their centre; how late the late ones are does
/// not matter to it. What was known of the slope before joins as a normal distribution, so that a few arrivals do not decide
/// on a clock.
struct ArrivalEnvelope: Hashable, Sendable {
    /// An arrival beside a clock that runs at its nominal rate.
    struct Point: Hashable, Sendable {
        /// Nominal nanoseconds since the origin.
        var x: Double
        /// By how many nanoseconds it arrived later than that.
        var y: Double
    }

    /// What is known of a clock's rate: by how much it is slow, as a part of the nominal rate.
    struct Rate: Hashable, Sendable {
        var slope: Double
        /// Standard deviation.
        var deviation: Double

        /// Before anything was seen of a headset: three standard deviations are what crystals and RC oscillators keep to.
        static let unknown = Rate(slope: 0, deviation: toleratedSlope / 3)
        /// Most are quartzes within some hundred parts per million. What is not known better than this is taken for such a one
        /// until arrivals say otherwise: its distribution has a sharp peak and long tails (Laplace's).
        private static let peakedDeviation = 0.002
        private static let peakWidth = 300e-6

        /// The derivative of the logarithm of its distribution, at a slope.
        func pull(at other: Double) -> Double {
            if deviation > Self.peakedDeviation { return other > slope ? -1 / Self.peakWidth : 1 / Self.peakWidth }
            return -(other - slope) / (deviation * deviation)
        }

        /// The logarithm of its distribution at a slope, less that at its peak.
        func logarithm(at other: Double) -> Double {
            let distance = abs(other - slope)
            if deviation > Self.peakedDeviation { return -distance / Self.peakWidth }
            return -(distance * distance) / (2 * deviation * deviation)
        }
    }

    /// The middle of the arrivals.
    let centre: Double
    /// The line's y there.
    let level: Double
    /// The standard deviation of ``level``.
    let levelDeviation: Double
    /// The line's slope.
    let rate: Rate
    /// The median of how late the arrivals are against the line, in nanoseconds.
    let lateness: Double
    /// From the centre to the ends of the stretch.
    private let reach: Double
    /// How many arrivals it rests on.
    let pointCount: Int

    /// Clocks within these bounds of their nominal rate are followed; beyond ``toleratedSlope`` it is said that something is
    /// wrong.
    private static let slopeBounds = -0.9...4.0
    /// What fewer arrivals than ``fewPoints`` may say: one and a half times what crystals and oscillators keep to.
    private static let crystalBounds = -0.03...0.03
    private static let fewPoints = 16
    /// Nothing arrives more evenly: the scheduler's and the radio's granularity.
    private static let latenessMinimum = 20e3
    /// So many arrivals more than there are: a handful says little about how late arrivals are.
    private static let supposedCount = 4.0
    /// Halvings of the interval of slopes until a nanosecond in a day.
    private static let halvings = 50
    /// Halvings until a ten-millionth of the interval: enough for what a slope is uncertain by.
    private static let rangeHalvings = 24
    /// Three standard deviations from its peak the logarithm of a normal distribution is lower by so much.
    private static let likelihoodDrop = 4.5

    /// What crystals and oscillators of headsets keep to: a frequency that is 2 % too low is a period that is 2.04 % too long,
    /// and it wanders.
    static let toleratedSlope = 0.0205
    /// By how much the rate may wander in a second, as a part: a crystal that is put on a warm head.
    static let wanderPerSecond = 0.2e-6
    /// How far it wanders from where it was, as a part.
    static let wanderMaximum = 50e-6

    /// Fits the line.
    ///
    /// - Parameters:
    ///   - points: the arrivals; nil results where there is none.
    ///   - prior: what was known of the slope.
    ///   - supposedLateness: how late arrivals are supposed to be before it was measured, in nanoseconds.
    init?(_ points: ArraySlice<Point>, prior: Rate, supposedLateness: Double = 1e6) {
        guard let first = points.first, let last = points.last else { return nil }
        let count = Double(points.count)
        let centre = points.reduce(0) { $0 + $1.x } / count
        reach = max(1, max(last.x - centre, centre - first.x))
        var scale = supposedLateness
        var (slope, level) = (prior.slope, 0.0)
        var latenesses: [Double] = []
        for _ in 0..<2 {
            slope = Self.slope(of: points, centre: centre, scale: scale, prior: prior)
            level = Self.level(of: points, slope: slope, centre: centre)
            latenesses = points.map { $0.y - level - slope * ($0.x - centre) }.sorted()
            // The median of an exponential distribution is ln 2 of its mean.
            let measured = latenesses[latenesses.count / 2] / 0.693 * count
            scale = (measured + supposedLateness * Self.supposedCount) / (count + Self.supposedCount)
            scale = max(Self.latenessMinimum, scale)
        }
        self.centre = centre
        pointCount = points.count
        self.level = level
        lateness = latenesses[latenesses.count / 2]
        // Of a handful of arrivals all may be late; after that the earliest of many is late by little.
        levelDeviation = scale / count.squareRoot() + (points.count < 8 ? 30e6 / (count * count) : 0)
        let measured = max(
            3 * scale / (reach * count.squareRoot()) + (points.count < 4 ? 1 : 0),
            Self.slopeRange(of: points, around: slope, centre: centre, scale: scale, prior: prior) / 3)
        rate = Rate(
            slope: slope,
            deviation: 1 / (1 / (prior.deviation * prior.deviation) + 1 / (measured * measured)).squareRoot())
    }

    /// The slope whose line lies highest at the centre: that of the lower hull there, drawn towards what was known.
    private static func slope(of points: ArraySlice<Point>, centre: Double, scale: Double, prior: Rate) -> Double {
        guard points.count > 1 else { return prior.slope }
        let weight = Double(points.count) / scale
        // Of a handful one may be late by a stall: no crystal is believed to be so far off because of it.
        let bounds = points.count < fewPoints ? crystalBounds : slopeBounds
        var (low, high) = (bounds.lowerBound, bounds.upperBound)
        for _ in 0..<halvings {
            let middle = (low + high) / 2
            var (least, x) = (Double.infinity, 0.0)
            for point in points {
                let value = point.y - middle * (point.x - centre)
                if value < least { (least, x) = (value, point.x - centre) }
            }
            // The derivative of the likelihood: it falls with the slope.
            if -x * weight + prior.pull(at: middle) > 0 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// How high a line of a slope lies at the centre that touches the arrivals from below.
    private static func level(of points: ArraySlice<Point>, slope: Double, centre: Double) -> Double {
        points.reduce(.infinity) { min($0, $1.y - slope * ($1.x - centre)) }
    }

    /// How far a slope may lie from the likeliest one and still be likely enough: a line may rest on a few arrivals near to
    /// each other, while the far ones came late.
    private static func slopeRange(
        of points: ArraySlice<Point>, around slope: Double, centre: Double, scale: Double, prior: Rate
    ) -> Double {
        let weight = Double(points.count) / scale
        func likelihood(at slope: Double) -> Double {
            level(of: points, slope: slope, centre: centre) * weight + prior.logarithm(at: slope)
        }
        let least = likelihood(at: slope) - likelihoodDrop
        let bounds = points.count < fewPoints ? crystalBounds : slopeBounds
        var widest = 0.0
        for end in [bounds.lowerBound, bounds.upperBound] {
            var (inside, outside) = (slope, end)
            for _ in 0..<rangeHalvings {
                let middle = (inside + outside) / 2
                if likelihood(at: middle) > least { inside = middle } else { outside = middle }
            }
            widest = max(widest, abs(inside - slope))
        }
        return widest
    }

    /// The line's y at x.
    func y(at x: Double) -> Double { level + rate.slope * (x - centre) }

    /// Within what the line's y at x lies: three standard deviations of level and slope, and what the clock may have wandered
    /// within the stretch, which the line cuts short, and beyond it.
    func uncertainty(at x: Double) -> Double {
        let distance = abs(x - centre)
        let beyond = max(0, distance - reach)
        let wandered = min(beyond / 1e9 * Self.wanderPerSecond, Self.wanderMaximum) / 2
        let bent = min(reach / 1e9 * Self.wanderPerSecond, Self.wanderMaximum) / 2 * reach
        return 3 * levelDeviation + bent + (3 * rate.deviation + wandered) * distance
    }

    /// By how many nanoseconds a clock may lie beside a line between two samples so far apart without evidence between them.
    static func bend(between nanoseconds: Double) -> Double {
        let half = max(0, nanoseconds) / 2
        return min(half / 1e9 * wanderPerSecond, wanderMaximum) / 2 * half
    }
}
