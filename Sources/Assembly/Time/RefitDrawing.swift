import Bluetooth
import Storage

/// The new map of one run of evidence: its knots, and the segments between them.
struct RefitDrawing: Sendable {
    private let run: EvidenceRun
    private var knots: [Knot] = []
    /// What each stretch by itself says of the rate.
    private(set) var rates: [ArrivalEnvelope.Rate] = []

    private struct Knot: Sendable {
        var n: Int64
        var y: Double
        var uncertainty: Double
        var lateness: Double?
        /// True where no evidence lies between this knot and the next one.
        var beginsInterruption = false
        /// By so many nanoseconds rows behind it may be later, besides.
        var displacement = 0.0
    }

    /// Finds the knots of a run.
    ///
    /// - Parameters:
    ///   - number: which of the runs it is.
    ///   - rates: what is known of the rate.
    ///   - isCounted: false where no counter shows that samples were lost.
    init(_ run: EvidenceRun, number: Int, rates: EvidenceRates, isCounted: Bool = true) {
        self.run = run
        for index in run.stretches.indices {
            let first = knots.count
            addStretch(index, run: number, rates: rates)
            if !isCounted { addLateEnd(of: run.stretches[index], from: first) }
        }
    }

    /// Where a stretch begins and ends: half way to its neighbours, but not further than the time that an arrival stands for.
    private func ends(of index: Int) -> (first: Int64, last: Int64) {
        let stretch = run.stretches[index]
        let (firstN, lastN) = (run.n(at: stretch.begin), run.n(at: stretch.end))
        let before = index == 0 ? run.firstN : run.n(at: run.stretches[index - 1].end)
        let after = index + 1 < run.stretches.count ? run.n(at: run.stretches[index + 1].begin) : run.lastN.addingClamped(1)
        // All of a stretch that reaches close to the run's end belongs to it.
        func reach(_ distance: Int64, isOuter: Bool) -> Int64 {
            let isNear = Double(distance) * run.period <= TimeMap.interruptionNanoseconds
            return max(0, isOuter && isNear ? distance : min(distance / 3, run.windowLength))
        }
        return (
            firstN.addingClamped(-reach(Int64(clamping: firstN.distance(from: before)), isOuter: index == 0)),
            lastN.addingClamped(reach(Int64(clamping: after.distance(from: lastN)), isOuter: index + 1 == run.stretches.count))
        )
    }

    private mutating func addStretch(_ index: Int, run number: Int, rates: EvidenceRates) {
        let stretch = run.stretches[index]
        let (firstN, lastN) = ends(of: index)
        let count = stretch.intervalCount
        let width = (stretch.end - stretch.begin) / Double(count)
        let reach = TimeMap.reachNanoseconds
        var added: [Knot] = []
        var outer: (begin: ArrivalEnvelope, end: ArrivalEnvelope)?
        for boundary in 0...count {
            let middle = stretch.boundary(boundary)
            // As much evidence at the ends as elsewhere.
            let begin = max(stretch.begin, min(middle - reach, stretch.end - 2 * reach))
            let end = min(stretch.end, max(middle + reach, stretch.begin + 2 * reach))
            let first = width > 0 ? min(count - 1, max(0, Int((begin - stretch.begin) / width))) : 0
            let last = width > 0 ? min(count - 1, max(first, Int(((end - stretch.begin) / width).rounded(.up)) - 1)) : 0
            let prior = rates.prior(run: number, stretch: index, first: first, last: last)
            let points = run.points(of: stretch, from: begin, through: end)
            let fitted = ArrivalEnvelope(points, prior: prior, supposedLateness: EvidenceRates.supposedLateness)
            guard let fit = fitted else { continue }
            outer = (outer?.begin ?? fit, fit)
            let n = boundary == 0 ? firstN : boundary == count ? lastN : run.n(at: middle)
            let x = run.x(of: n)
            added.append(Knot(n: n, y: fit.y(at: x), uncertainty: fit.uncertainty(at: x), lateness: fit.lateness))
        }
        guard let outer else { return }
        noteRate(added, outer.begin.rate)
        // What lies further away than evidence reaches: along the line, ever less certain.
        func far(_ n: Int64, _ fit: ArrivalEnvelope) -> Knot {
            Knot(n: n, y: fit.y(at: run.x(of: n)), uncertainty: fit.uncertainty(at: run.x(of: n)))
        }
        if index == 0, firstN > run.firstN {
            knots.append(far(run.firstN, outer.begin))
            knots[0].beginsInterruption = true
        }
        added[added.count - 1].beginsInterruption = true
        knots += added
        if index + 1 == run.stretches.count, lastN <= run.lastN { knots.append(far(run.lastN.addingClamped(1), outer.end)) }
    }

    /// Where the latest arrivals of a stretch are all later than a link keeps anything back, samples may have been lost before
    /// them: their times are drawn as they were counted, and said to be later by as much, perhaps.
    private mutating func addLateEnd(of stretch: EvidenceRun.Stretch, from first: Int) {
        var least = Double.infinity
        var count = 0
        var onTime: Int?
        for index in stretch.points.reversed() {
            let point = run.points[index]
            guard let position = knot(before: point.x, from: first) else { break }
            let lateness = point.y - y(at: point.x, behind: position)
            onTime = index
            guard lateness > knots[position].uncertainty + LossByTime.backlog * 1e9 else { break }
            least = min(least, lateness)
            count += 1
        }
        // More of them are a contradiction.
        guard let onTime, (1..<Self.doubtfulCount).contains(count) else { return }
        let x = run.points[onTime].x
        guard let position = knot(before: x, from: first) else { return }
        let n = run.n(at: x).addingClamped(1)
        var knot = knots[position]
        (knot.n, knot.y, knot.displacement) = (n, y(at: run.x(of: n), behind: position), least)
        for index in knots.indices.dropFirst(position + 1) where knots[index].n > n { knots[index].displacement = least }
        let next = position + 1 < knots.count ? knots[position + 1].n : .max
        if n < next { knots.insert(knot, at: position + 1) }
    }

    /// The last knot before x, of those from `first` on.
    private func knot(before x: Double, from first: Int) -> Int? {
        knots.indices.dropFirst(first).last { run.x(of: knots[$0].n) <= x }
    }

    /// The line between a knot and the next one.
    private func y(at x: Double, behind position: Int) -> Double {
        let knot = knots[position]
        guard position + 1 < knots.count else { return knot.y }
        let (begin, end) = (run.x(of: knot.n), run.x(of: knots[position + 1].n))
        return knot.y + (knots[position + 1].y - knot.y) * (x - begin) / max(run.period, end - begin)
    }

    private mutating func noteRate(_ knots: [Knot], _ fitted: ArrivalEnvelope.Rate) {
        var rate = fitted
        if let first = knots.first, let last = knots.last, last.n > first.n {
            let span = run.x(of: last.n) - run.x(of: first.n)
            let deviation = (first.uncertainty + last.uncertainty) / 3 / span
            if deviation < rate.deviation {
                rate = ArrivalEnvelope.Rate(slope: (last.y - first.y) / span, deviation: deviation)
            }
        }
        rates.append(rate)
    }

    /// The segments between the knots, where the run had segments before.
    ///
    /// - Parameter floor: the last instant of what lies before on the same clock, in nanoseconds.
    func segments(floor: Int64?) -> [StoredSegment] {
        guard let model = run.segments.first else { return [] }
        var drawn: [StoredSegment] = []
        var latest = floor
        func instant(of knot: Knot) -> Int64 {
            let time = run.nanoseconds(x: run.x(of: knot.n), y: knot.y)
            let bounded = max(time, latest?.addingClamped(1) ?? time)
            latest = bounded
            return bounded
        }
        let ordered = knots.reduce(into: [Knot]()) { if $1.n > $0.last?.n ?? .min { $0.append($1) } }
        var begin = ordered.first.map(instant) ?? 0
        for (knot, next) in zip(ordered, ordered.dropFirst()) {
            let end = instant(of: next)
            var segment = model
            segment.record.firstN = knot.n
            segment.record.lastN = next.n &- 1
            segment.record.referenceN = knot.n
            segment.record.referenceTime = MonotonicTime(nanoseconds: begin)
            segment.record.periodNanoseconds = (Double(end) - Double(begin)) / next.n.distance(from: knot.n)
            segment.record.residualNanoseconds = knot.beginsInterruption ? nil : next.lateness ?? knot.lateness
            segment.record.uncertaintyNanoseconds = uncertainty(from: knot, to: next)
            segment.record.observationCount = run.count(from: knot.n, to: next.n)
            drawn.append(segment)
            begin = end
        }
        return cut(drawn)
    }

    /// So many arrivals in a row are not all late by chance.
    private static let doubtfulCount = 8
    /// A busy radio or a serial port that is read in steps delays all packets of some seconds by less, in nanoseconds.
    private static let doubtfulLateness = 50e6

    /// True where arrivals in a row are all later than the map says, by more than it is uncertain: their numbers are behind the
    /// clock, as samples are missing before them that were noticed later or never.
    var isContradicted: Bool {
        let segments = segments(floor: nil)
        var index = 0
        var row = 0
        for arrival in run.arrivals {
            while index + 1 < segments.count, segments[index + 1].record.firstN <= arrival.n { index += 1 }
            guard index < segments.count else { return false }
            let lateness = arrival.at.nanoseconds.distance(from: segments[index].nanoseconds(of: arrival.n))
            let record = segments[index].record
            let due = (record.uncertaintyNanoseconds ?? .infinity) + Self.doubtfulLateness
            row = lateness > due ? row + 1 : 0
            if row == Self.doubtfulCount { return true }
        }
        return false
    }

    /// Between two knots without evidence the clock may have wandered to and fro; and where an arrival lies before the line
    /// between them, the samples there are earlier by so much, as nothing arrives before it was sent.
    private func uncertainty(from knot: Knot, to next: Knot) -> Double {
        let stated = max(knot.uncertainty, next.uncertainty) + knot.displacement
        let (begin, end) = (run.x(of: knot.n), run.x(of: next.n))
        guard !knot.beginsInterruption else { return stated + ArrivalEnvelope.bend(between: end - begin) }
        let slope = (next.y - knot.y) / max(run.period, end - begin)
        return run.points(from: begin, to: end).reduce(stated) { max($0, knot.y + slope * ($1.x - begin) - $1.y) }
    }

    /// The segments where segments were: a hole stays one.
    private func cut(_ drawn: [StoredSegment]) -> [StoredSegment] {
        var covers: [ClosedRange<Int64>] = []
        for segment in run.segments.map(\.record) {
            if let last = covers.last, last.upperBound.addingClamped(1) >= segment.firstN {
                covers[covers.count - 1] = last.lowerBound...max(last.upperBound, segment.lastN)
            } else {
                covers.append(segment.firstN...max(segment.firstN, segment.lastN))
            }
        }
        var parts: [StoredSegment] = []
        var first = 0
        for cover in covers {
            while first < drawn.count, drawn[first].record.lastN < cover.lowerBound { first += 1 }
            var index = first
            while index < drawn.count, drawn[index].record.firstN <= cover.upperBound {
                var part = drawn[index]
                part.record.firstN = max(part.record.firstN, cover.lowerBound)
                part.record.lastN = min(part.record.lastN, cover.upperBound)
                parts.append(part)
                index += 1
            }
        }
        return parts
    }
}
