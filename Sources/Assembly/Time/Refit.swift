import Bluetooth
package import Storage

/// A stream's time map, computed anew from all of its evidence at once.
///
/// The acquisition knew only the past: at the beginning of a link neither how fast the clock runs nor how late arrivals are.
/// Here each knot lies on the ``ArrivalEnvelope`` of the evidence on both sides of it, and the rate is known from everything
/// before and behind, in other links and in the nearest other recording of the headset. What has no evidence stays as it is.
///
/// The result depends on the evidence, on the gaps of no count, on what the segments cover and on their epochs and host boots,
/// and on nothing else of them: to compute it twice gives the same.
package struct Refit: Sendable {
    /// The whole map, ascending; what had no evidence as it was.
    package let segments: [StoredSegment]
    /// How many arrivals it rests on.
    package let evidenceCount: Int
    /// True where some segments are as they were, for want of evidence or because losses are in doubt.
    package let isPartial: Bool
    /// True where losses are in doubt somewhere: in a stream without counter, arrivals are later than any line allows.
    package let isInDoubt: Bool
    /// By how much times have moved, forth or back, in nanoseconds: at most, and in the mean of the samples with evidence.
    package let shiftMaximum: Double
    package let shiftMean: Double
    /// Within what times were said to be right, and are: the largest and the mean at the evidence, in nanoseconds. Nil without.
    package let uncertaintyBefore: Uncertainty?
    package let uncertaintyAfter: Uncertainty?
    /// By how much the headset's clock is fast in the mean, as a part, with three standard deviations; nil without evidence.
    package let rate: (fast: Double, uncertainty: Double)?

    /// What segments state, where evidence is.
    package struct Uncertainty: Hashable, Sendable {
        /// In nanoseconds.
        package var maximum: Double
        package var mean: Double
    }

    /// Computes the map.
    ///
    /// - Parameter neighbour: a stream of another recording of the headset.
    package init(_ evidence: StreamEvidence, neighbour: NeighbouringEvidence? = nil) {
        let runs = EvidenceRun.runs(of: evidence)
        let known = neighbour.map(Self.rate)
        let isEarlier = neighbour?.isEarlier ?? true
        let rates = EvidenceRates(
            runs, earlier: isEarlier ? known ?? .unknown : .unknown, later: isEarlier ? .unknown : known ?? .unknown)
        let drawings = runs.indices.map {
            RefitDrawing(runs[$0], number: $0, rates: rates, isCounted: evidence.isCounted)
        }
        let isDoubtful = drawings.map { !evidence.isCounted && $0.isContradicted }
        isInDoubt = isDoubtful.contains(true)
        let maps = Self.assembled(runs, drawings, isKept: zip(runs, isDoubtful).map { $0.stretches.isEmpty || $1 })
        segments = maps.flatMap { $0.segments }
        let fitted = maps.indices.filter { maps[$0].isRefitted }
        evidenceCount = fitted.reduce(0) { $0 + runs[$1].arrivals.count }
        isPartial = fitted.count < runs.count
        var shift = Shift()
        for index in fitted { shift.compare(runs[index].segments, maps[index].segments) }
        (shiftMaximum, shiftMean) = (shift.maximum, shift.mean)
        let arrivals = fitted.flatMap { runs[$0].arrivals }
        uncertaintyBefore = Self.uncertainty(of: evidence.segments, at: arrivals)
        uncertaintyAfter = Self.uncertainty(of: segments, at: arrivals)
        rate = Self.mean(of: fitted.flatMap { drawings[$0].rates })
    }

    /// What the neighbour's end that is nearer says of the rate.
    private static func rate(of neighbour: NeighbouringEvidence) -> ArrivalEnvelope.Rate {
        let rates = EvidenceRates(EvidenceRun.runs(of: neighbour.evidence))
        var rate = neighbour.isEarlier ? rates.last : rates.first
        let drift = StreamClock.learntDeviation
        rate.deviation = (rate.deviation * rate.deviation + drift * drift).squareRoot()
        return rate
    }

    /// The maps of all runs, so that time never goes back from one to the next on the same clock.
    private static func assembled(
        _ runs: [EvidenceRun], _ drawings: [RefitDrawing], isKept: [Bool]
    ) -> [(segments: [StoredSegment], isRefitted: Bool)] {
        var isKept = isKept
        while true {
            var maps: [(segments: [StoredSegment], isRefitted: Bool)] = []
            var conflict: Int?
            for (index, run) in runs.enumerated() {
                let before = maps.last?.segments.last
                let floor = before?.hostBoot == run.hostBoot ? before.map { $0.nanoseconds(of: $0.record.lastN) } : nil
                if isKept[index] {
                    let begin = run.segments.first.map { $0.nanoseconds(of: $0.record.firstN) }
                    // Two that were left alone are as they were.
                    if let floor, let begin, begin < floor, index > 0, !isKept[index - 1] { conflict = index - 1 }
                    maps.append((Array(run.segments), false))
                } else {
                    maps.append((drawings[index].segments(floor: floor), true))
                }
            }
            guard let conflict else { return maps }
            isKept[conflict] = true
        }
    }

    private static func uncertainty(of segments: [StoredSegment], at arrivals: [ArrivalRecord]) -> Uncertainty? {
        var index = 0
        var (maximum, sum, count) = (0.0, 0.0, 0.0)
        for arrival in arrivals {
            while index + 1 < segments.count, segments[index + 1].record.firstN <= arrival.n { index += 1 }
            guard index < segments.count, let stated = segments[index].record.uncertaintyNanoseconds else { continue }
            (maximum, sum, count) = (max(maximum, stated), sum + stated, count + 1)
        }
        return count > 0 ? Uncertainty(maximum: maximum, mean: sum / count) : nil
    }

    private static func mean(of rates: [ArrivalEnvelope.Rate]) -> (fast: Double, uncertainty: Double)? {
        guard let first = rates.first else { return nil }
        let all = rates.dropFirst().reduce(first, EvidenceRates.combined)
        return (1 / (1 + all.slope) - 1, 3 * all.deviation)
    }
}

/// By how much the times of samples differ between two maps.
private struct Shift {
    var maximum = 0.0
    private var sum = 0.0
    private var count = 0.0

    /// Over all samples.
    var mean: Double { count > 0 ? sum / count : 0 }

    /// Both cover the same samples.
    mutating func compare(_ old: ArraySlice<StoredSegment>, _ new: [StoredSegment]) {
        var index = 0
        for before in old {
            var n = before.record.firstN
            while n <= before.record.lastN {
                while index + 1 < new.count, new[index + 1].record.firstN <= n { index += 1 }
                guard index < new.count else { return }
                // The lines are straight until one of them ends.
                let end = index + 1 < new.count ? new[index + 1].record.firstN : .max
                let last = max(n, min(before.record.lastN, end.addingClamped(-1)))
                add(
                    new[index].difference(to: before, at: n), new[index].difference(to: before, at: last),
                    last.distance(from: n) + 1)
                if last == .max { return }
                n = last + 1
            }
        }
    }

    private mutating func add(_ first: Double, _ last: Double, _ samples: Double) {
        let (one, other) = (abs(first), abs(last))
        maximum = max(maximum, one, other)
        count += samples
        let isCrossing = first * last < 0
        sum += samples * (isCrossing ? (one * one + other * other) / (2 * (one + other)) : (one + other) / 2)
    }
}

extension StoredSegment {
    /// The instant of sample n.
    func nanoseconds(of n: Int64) -> Int64 {
        record.referenceTime.nanoseconds.addingClamped(
            Int64(clamping: (Double(n &- record.referenceN) * record.periodNanoseconds).rounded()))
    }

    fileprivate func difference(to other: StoredSegment, at n: Int64) -> Double {
        Double(record.referenceTime.nanoseconds) - Double(other.record.referenceTime.nanoseconds)
            + Double(n &- record.referenceN) * record.periodNanoseconds
            - Double(n &- other.record.referenceN) * other.record.periodNanoseconds
    }
}
