import Bluetooth
import Storage

/// Fits the line from a stream's n to `CLOCK_BOOTTIME` through the arrivals of live samples.
///
/// An arrival is never early, but may be late by anything (a busy radio, a stalled process). So of each second only the
/// earliest arrival counts, the slope is the median of the slopes between pairs (Theil-Sen: up to 29 % of the seconds may be
/// outliers) and the line runs through the median of the rest. The time of a sample is that of its earliest
/// arrival: the constant part of the radio's delay stays in it. Long runs are cut into segments, so that a crystal that warms
/// up is followed.
struct TimeMap: Sendable {
    /// The segment as it is fitted now.
    private(set) var segment: SegmentRecord
    /// True where the segment has changed since it was last taken.
    private(set) var isChanged = true

    /// Nominal nanoseconds between two samples.
    private let nominalPeriod: Double
    /// The earliest arrivals, relative to the nominal line: (n, nanoseconds).
    private var points: [Point] = []
    private var window: Point?
    private var windowEnd: Int64 = .min
    /// How many samples one window spans; doubled whenever ``points`` is full.
    private var windowLength: Int64
    /// No time of this segment lies before this one: the end of the segment before it.
    private var floorNanoseconds: Int64?

    private struct Point: Sendable {
        var n: Int64
        var nanoseconds: Int64
    }

    /// More points make the fit dearer (their square), not better.
    private static let pointLimit = 64
    /// Crystals of consumer headsets are within 100 ppm; five times that is an error of measurement.
    private static let slopeTolerance = 500e-6
    /// After this many samples' nominal time a segment ends: 10 minutes.
    private static let segmentNanoseconds = 600e9

    /// Begins a time map at sample n, whose first arrival is `time`.
    init(stream: StreamID, epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime, samplingFrequency: Double) {
        nominalPeriod = 1e9 / samplingFrequency
        windowLength = max(1, Int64(samplingFrequency.rounded()))
        segment = SegmentRecord(
            stream: stream, firstN: firstN, lastN: firstN, epoch: epoch, referenceN: referenceN, referenceTime: time,
            periodNanoseconds: nominalPeriod, residualNanoseconds: nil, observationCount: 0)
    }

    /// The instant of sample n on the line.
    func time(of n: Int64) -> MonotonicTime {
        segment.referenceTime + .nanoseconds(Int64((Double(n - segment.referenceN) * segment.periodNanoseconds).rounded()))
    }

    /// The n whose instant lies nearest to `time`.
    func n(at time: MonotonicTime) -> Int64 {
        let elapsed = Double(time.nanoseconds - segment.referenceTime.nanoseconds)
        return segment.referenceN + Int64((elapsed / segment.periodNanoseconds).rounded())
    }

    /// The segment reaches to sample n at least.
    mutating func extend(to n: Int64) {
        if n > segment.lastN {
            segment.lastN = n
            isChanged = true
        }
    }

    /// Takes the arrival of a live block whose last sample is n.
    mutating func observe(n: Int64, at time: MonotonicTime) {
        segment.observationCount += 1
        let nominal = Int64((Double(n - segment.referenceN) * nominalPeriod).rounded())
        let point = Point(n: n, nanoseconds: time.nanoseconds - nominal)
        if segment.observationCount == 1 || (points.isEmpty && point.nanoseconds < segment.referenceTime.nanoseconds) {
            segment.referenceTime = MonotonicTime(nanoseconds: point.nanoseconds)
            raiseToFloor()
        }
        if n >= windowEnd {
            closeWindow()
            window = point
            windowEnd = n + windowLength
        } else if let earliest = window, point.nanoseconds < earliest.nanoseconds {
            window = point
        }
    }

    /// Ends the segment where it has become long. Returns the finished one; the map goes on with a new one at `nextN`.
    mutating func rollOver(at nextN: Int64) -> SegmentRecord? {
        let length = Double(segment.lastN - segment.firstN) * nominalPeriod
        guard length >= Self.segmentNanoseconds, nextN > segment.lastN else { return nil }
        let finished = segment
        let boundary = time(of: nextN)
        floorNanoseconds = time(of: finished.lastN).nanoseconds
        points = points.suffix(Self.pointLimit / 2)
        for index in points.indices {
            let shift = Int64((Double(nextN - finished.referenceN) * nominalPeriod).rounded())
            points[index].nanoseconds += shift
        }
        window = nil
        windowEnd = .min
        segment.firstN = nextN
        segment.lastN = nextN
        segment.referenceN = nextN
        segment.referenceTime = boundary
        segment.observationCount = points.count
        isChanged = true
        return finished
    }

    /// No time of the segment may lie before `time`: the last of the segment before it.
    mutating func setFloor(_ time: MonotonicTime) {
        floorNanoseconds = time.nanoseconds
        raiseToFloor()
    }

    /// Hands over the segment if it has changed.
    mutating func take() -> SegmentRecord? {
        guard isChanged else { return nil }
        isChanged = false
        return segment
    }

    private mutating func closeWindow() {
        guard let window else { return }
        points.append(window)
        if points.count >= Self.pointLimit { thin() }
        fit()
    }

    /// Halves the points: of two neighbours the one that arrived earlier against the line stays.
    private mutating func thin() {
        let drift = segment.periodNanoseconds - nominalPeriod
        func lateness(_ point: Point) -> Double {
            Double(point.nanoseconds - segment.referenceTime.nanoseconds) - Double(point.n - segment.referenceN) * drift
        }
        var kept: [Point] = []
        for index in stride(from: 0, to: points.count - 1, by: 2) {
            kept.append(lateness(points[index]) <= lateness(points[index + 1]) ? points[index] : points[index + 1])
        }
        points = kept
        windowLength *= 2
    }

    private mutating func fit() {
        isChanged = true
        let reference = points[0].nanoseconds
        var drift = 0.0
        if points.count >= 8 {
            var slopes: [Double] = []
            slopes.reserveCapacity(points.count * (points.count - 1) / 2)
            for later in 1..<points.count {
                for earlier in 0..<later {
                    let span = Double(points[later].n - points[earlier].n)
                    slopes.append(Double(points[later].nanoseconds - points[earlier].nanoseconds) / span)
                }
            }
            let limit = nominalPeriod * Self.slopeTolerance
            drift = min(limit, max(-limit, Self.median(&slopes)))
        }
        var intercepts = points.map { Double($0.nanoseconds - reference) - drift * Double($0.n - segment.referenceN) }
        let intercept = Self.median(&intercepts)
        var deviations = intercepts.map { abs($0 - intercept) }
        segment.referenceTime = MonotonicTime(nanoseconds: reference + Int64(intercept.rounded()))
        segment.periodNanoseconds = nominalPeriod + drift
        segment.residualNanoseconds = Self.median(&deviations)
        raiseToFloor()
    }

    private mutating func raiseToFloor() {
        guard let floorNanoseconds else { return }
        let first = time(of: segment.firstN).nanoseconds
        if first <= floorNanoseconds {
            segment.referenceTime = segment.referenceTime + .nanoseconds(floorNanoseconds - first + 1)
        }
    }

    private static func median(_ values: inout [Double]) -> Double {
        values.sort()
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }
}
