import Bluetooth
import Storage

/// Segments of one epoch and host boot that follow each other without a gap of no count between them, with their evidence: one
/// counter, which goes on, against one clock.
struct EvidenceRun: Sendable {
    /// The segments as they are stored, ascending.
    let segments: ArraySlice<StoredSegment>
    let arrivals: ArraySlice<ArrivalRecord>
    /// The evidence beside a clock of nominal rate, as ``arrivals``, from 0 on.
    let points: [ArrivalEnvelope.Point]
    /// Parts of the evidence without an interruption.
    let stretches: [Stretch]
    /// Nominal nanoseconds between two samples.
    let period: Double
    /// How many samples an arrival stands for.
    let windowLength: Int64

    /// Evidence without an interruption, divided evenly into intervals of about a minute.
    struct Stretch: Hashable, Sendable {
        /// Which of the points.
        var points: Range<Int>
        /// Where the first one and the last one lie.
        var begin: Double
        var end: Double
        var intervalCount: Int

        /// Of an interval, where it begins.
        func boundary(_ interval: Int) -> Double {
            interval == intervalCount ? end : begin + (end - begin) / Double(intervalCount) * Double(interval)
        }
    }

    private init(segments: ArraySlice<StoredSegment>, arrivals: ArraySlice<ArrivalRecord>, samplingFrequency: Double) {
        self.segments = segments
        self.arrivals = arrivals
        period = 1e9 / samplingFrequency
        windowLength = ArrivalWindow(samplingFrequency: samplingFrequency).length
        var points: [ArrivalEnvelope.Point] = []
        var stretches: [Stretch] = []
        if let origin = arrivals.first {
            points.reserveCapacity(arrivals.count)
            for arrival in arrivals {
                let x = arrival.n.distance(from: origin.n) * period
                points.append(.init(x: x, y: arrival.at.nanoseconds.distance(from: origin.at.nanoseconds) - x))
            }
            var begin = 0
            for index in 1...points.count
            where index == points.count || points[index].x - points[index - 1].x > TimeMap.interruptionNanoseconds {
                let (first, last) = (points[begin].x, points[index - 1].x)
                stretches.append(
                    Stretch(
                        points: begin..<index, begin: first, end: last,
                        intervalCount: max(1, Int(Int64(clamping: ((last - first) / TimeMap.knotNanoseconds).rounded())))))
                begin = index
            }
        }
        self.points = points
        self.stretches = stretches
    }

    /// The runs of a stream, ascending. What an earlier version wrote, which kept no evidence, is a run of its own. Where a
    /// headset paused, its ledger says; that the times leap does not, as they do behind a long absence as well.
    static func runs(of evidence: StreamEvidence) -> [EvidenceRun] {
        let (segments, arrivals) = (evidence.segments, evidence.arrivals)
        var runs: [EvidenceRun] = []
        var gaps = evidence.gapsOfNoCount[...]
        var (firstSegment, firstArrival, arrival) = (0, 0, 0)
        while arrival < arrivals.count, arrivals[arrival].n < segments.first?.record.firstN ?? .max { arrival += 1 }
        firstArrival = arrival
        var before: (segment: StoredSegment, isBare: Bool)?
        func end(at index: Int) {
            runs.append(
                EvidenceRun(
                    segments: segments[firstSegment..<index], arrivals: arrivals[firstArrival..<arrival],
                    samplingFrequency: evidence.samplingFrequency))
            (firstSegment, firstArrival) = (index, arrival)
        }
        for (index, segment) in segments.enumerated() {
            let nextN = index + 1 < segments.count ? segments[index + 1].record.firstN : .max
            var after = arrival
            while after < arrivals.count, arrivals[after].n < nextN { after += 1 }
            let isBare = segment.record.uncertaintyNanoseconds == nil && after == arrival
            gaps = gaps.drop { $0 < segment.record.firstN }
            let isBehindGap = gaps.first == segment.record.firstN
            if let before,
                before.segment.hostBoot != segment.hostBoot || before.segment.record.epoch != segment.record.epoch
                    || before.isBare != isBare || isBehindGap
            {
                end(at: index)
            }
            arrival = after
            before = (segment, isBare)
        }
        if !segments.isEmpty { end(at: segments.count) }
        return runs
    }

    var hostBoot: Int64 { segments.first?.hostBoot ?? 0 }
    /// What the run covers; there may be holes in it.
    var firstN: Int64 { segments.first?.record.firstN ?? 0 }
    var lastN: Int64 { segments.last?.record.lastN ?? 0 }

    func x(of n: Int64) -> Double { n.distance(from: arrivals.first?.n ?? 0) * period }

    /// The sample whose x is nearest.
    func n(at x: Double) -> Int64 { (arrivals.first?.n ?? 0).addingClamped(Int64(clamping: (x / period).rounded())) }

    /// The instant of a point beside the clock of nominal rate.
    func nanoseconds(x: Double, y: Double) -> Int64 {
        (arrivals.first?.at.nanoseconds ?? 0).addingClamped(Int64(clamping: (x + y).rounded()))
    }

    /// How many arrivals lie in a range of samples.
    func count(from first: Int64, to end: Int64) -> Int { points(from: x(of: first), to: x(of: end)).count }

    /// The points from x to x, the latter not included.
    func points(from first: Double, to end: Double) -> ArraySlice<ArrivalEnvelope.Point> {
        let begin = firstIndex(in: points.indices) { $0 >= first }
        return points[begin..<max(begin, firstIndex(in: points.indices) { $0 >= end })]
    }

    /// The points of a stretch from x to x, both included.
    func points(of stretch: Stretch, from first: Double, through last: Double) -> ArraySlice<ArrivalEnvelope.Point> {
        let begin = firstIndex(in: stretch.points) { $0 >= first }
        return points[begin..<max(begin, firstIndex(in: stretch.points) { $0 > last })]
    }

    /// The first point of a range whose x fulfils what all after it fulfil.
    private func firstIndex(in range: Range<Int>, where isBehind: (Double) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(points[middle].x) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Int64 {
    /// The difference, whatever the numbers are.
    func distance(from other: Int64) -> Double {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? Double(self) - Double(other) : Double(difference)
    }
}
