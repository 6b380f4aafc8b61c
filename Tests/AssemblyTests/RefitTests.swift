import Bluetooth
import Simulation
import Storage
import Testing

@testable import Assembly

/// Time maps that are computed anew from all evidence at once.
struct RefitTests {
    /// A headset whose crystal is off and wanders, recorded over several links, each an epoch of its own.
    private struct Recorded {
        let ratePPM: Double
        let wanderPPM: Double
        let period: Double
        var map: TimeMap?
        var rate = ArrivalEnvelope.Rate.unknown
        private(set) var pieces: [Int64: StoredSegment] = [:]
        private(set) var arrivals: [ArrivalRecord] = []
        /// The first n of each link, and the n after its last one.
        private(set) var links: [Range<Int64>] = []
        private(set) var n: Int64 = 0
        private var clock: Int64 = 0
        private static let begin: Int64 = 7_000_000_000_000
        private static let packet: Int64 = 8

        /// - Parameter ratePPM: by how much the headset's clock is slow.
        init(ratePPM: Double, wanderPPM: Double = 0) {
            self.ratePPM = ratePPM
            self.wanderPPM = wanderPPM
            period = 4e6 * (1 + ratePPM * 1e-6)
        }

        /// The true instant of sample n: a crystal that bends by a parabola each quarter of an hour.
        func truth(_ n: Int64) -> Double {
            let elapsed = Double(n) * period
            let phase = (elapsed / 900e9).truncatingRemainder(dividingBy: 2)
            let bend = phase < 1 ? phase * (1 - phase) : -(phase - 1) * (2 - phase)
            return Double(Self.begin) + elapsed + wanderPPM * 1e-6 * 900e9 * bend
        }

        /// A link of so many seconds, after `pause` seconds without one.
        mutating func link(seconds: Double, after pause: Double = 5, epoch: Int, delay: (_ second: Double) -> Double) {
            n += Int64(pause * 250)
            let first = n
            let end = n + Int64(seconds * 250)
            while n < end {
                let last = n + Self.packet - 1
                clock = max(clock, Int64(truth(last) + delay(Double(last - first) / 250)))
                let at = MonotonicTime(nanoseconds: clock)
                if n == first {
                    let floor = map.map { $0.time(of: $0.segment.lastN) }
                    map = TimeMap(
                        stream: StreamID(rawValue: 1), epoch: epoch, firstN: n, referenceN: n, at: at, samplingFrequency: 250,
                        rate: map?.rate ?? rate)
                    if let floor { map?.setFloor(floor) }
                }
                map?.observe(n: last, count: Int(Self.packet), at: at)
                n += Self.packet
                map?.extend(to: n - 1)
                if n % 256 == 0 { take() }
            }
            map?.interrupt()
            take()
            links.append(first..<n)
        }

        private mutating func take() {
            for piece in map?.take() ?? [] { pieces[piece.firstN] = StoredSegment(piece, hostBoot: 1) }
            arrivals += map?.takeEvidence() ?? []
        }

        var evidence: StreamEvidence {
            StreamEvidence(
                stream: StreamID(rawValue: 1), name: "eeg", bank: 0, samplingFrequency: 250, isCounted: true,
                segments: pieces.values.sorted { $0.record.firstN < $1.record.firstN }, arrivals: arrivals,
                gapsOfNoCount: [])
        }

        /// The mean error of a map's times, their standard deviation and the largest distance from the mean, in milliseconds.
        func errors(_ segments: [StoredSegment], in links: ArraySlice<Range<Int64>>? = nil) -> Errors {
            var all: [Double] = []
            var isStated = true
            for link in links ?? self.links[...] {
                for n in stride(from: link.lowerBound, to: link.upperBound, by: 25) {
                    guard let piece = segments.last(where: { $0.record.firstN <= n })?.record else { continue }
                    let error = StoredStream.time(of: n, in: piece) - truth(n)
                    isStated = isStated && abs(error) <= piece.uncertaintyNanoseconds ?? 0
                    all.append(error / 1e6)
                }
            }
            let mean = all.reduce(0, +) / Double(all.count)
            let variance = all.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(all.count)
            return Errors(
                mean: mean, deviation: variance.squareRoot(), worst: all.reduce(0) { max($0, abs($1)) }, isStated: isStated)
        }
    }

    struct Errors {
        var mean: Double
        var deviation: Double
        /// Against the truth itself: no delay here is constant.
        var worst: Double
        /// True where no error is larger than its segment states.
        var isStated: Bool
    }

    /// Late by 4 ms (mean), 5 % by 70 ms more, a stall of 1 s each minute.
    private static func busyRadio(_ random: inout SeededGenerator, at second: Double) -> Double {
        var delay = random.exponential() * 4e6 + (random.strikes(0.05) ? 70e6 : 0)
        let within = second.truncatingRemainder(dividingBy: 60)
        if within >= 30, within < 31 { delay = max(delay, (31 - within) * 1e9) }
        return delay
    }

    /// Links of 10 s at first, then longer ones.
    private static func shortLinks(ratePPM: Double, wanderPPM: Double = 20, seed: UInt64 = 4, last: Double = 300) -> Recorded {
        var recorded = Recorded(ratePPM: ratePPM, wanderPPM: wanderPPM)
        var random = SeededGenerator(seed: seed)
        for (epoch, seconds) in [10.0, 10, 10, 60, 10, last].enumerated() {
            recorded.link(seconds: seconds, epoch: epoch) { busyRadio(&random, at: $0) }
        }
        return recorded
    }

    private static func checkCover(_ old: [StoredSegment], _ new: [StoredSegment]) {
        func covers(_ segments: [StoredSegment]) -> [[Int64]] {
            segments.reduce(into: [[Int64]]()) { covers, segment in
                let record = segment.record
                if let last = covers.last, last[1] + 1 == record.firstN, last[2] == Int64(record.epoch) {
                    covers[covers.count - 1][1] = record.lastN
                } else {
                    covers.append([record.firstN, record.lastN, Int64(record.epoch), segment.hostBoot])
                }
            }
        }
        #expect(covers(old) == covers(new))
        for (before, after) in zip(new, new.dropFirst()) where before.hostBoot == after.hostBoot {
            #expect(before.record.lastN < after.record.firstN)
            let step =
                StoredStream.time(of: after.record.firstN, in: after.record)
                - StoredStream.time(of: before.record.lastN, in: before.record)
            #expect(step > 0, "time goes back by \(-step) ns at \(after.record.firstN)")
        }
    }

    @Test(
        "Short links at the beginning get the rate that was learnt later, for any crystal within 2 %",
        arguments: [-20_000.0, -5_000, -300, 0, 80, 5_000, 20_000], [UInt64(4), 5, 6])
    func shortLinks(ratePPM: Double, seed: UInt64) {
        let recorded = Self.shortLinks(ratePPM: ratePPM, seed: seed)
        let refit = Refit(recorded.evidence)
        let (before, after) = (recorded.errors(recorded.evidence.segments), recorded.errors(refit.segments))
        // The first three links profit: none of their rates was known.
        let first = (
            recorded.errors(recorded.evidence.segments, in: recorded.links[..<3]),
            recorded.errors(refit.segments, in: recorded.links[..<3])
        )
        #expect(first.1.worst <= 0.7 && first.1.worst <= first.0.worst + 0.02, "\(first)")
        #expect(after.deviation <= 2 && after.worst <= 5, "\(after)")
        #expect(after.deviation <= before.deviation + 0.05 && after.worst <= before.worst + 0.2, "\(before) -> \(after)")
        #expect(after.isStated)
        Self.checkCover(recorded.evidence.segments, refit.segments)
        #expect(!refit.isPartial && refit.evidenceCount == recorded.arrivals.count)
        let fast = 1 / (1 + ratePPM * 1e-6) - 1
        let (rate, uncertainty) = refit.rate ?? (fast: 1, uncertainty: 0)
        #expect(abs(rate - fast) <= uncertainty + 25e-6, "\(rate)")
    }

    @Test(
        "One long link, whose crystal wanders: no worse than before, and right as stated", arguments: [0.0, 40, 80], [1, 2, 3])
    func longLink(wanderPPM: Double, seed: Int) {
        var recorded = Recorded(ratePPM: 900, wanderPPM: wanderPPM)
        var random = SeededGenerator(seed: UInt64(seed))
        recorded.link(seconds: 3600, epoch: 0) { Self.busyRadio(&random, at: $0) }
        let refit = Refit(recorded.evidence)
        let (before, after) = (recorded.errors(recorded.evidence.segments), recorded.errors(refit.segments))
        #expect(after.deviation <= 1 && after.deviation <= before.deviation + 0.02, "\(before) -> \(after)")
        #expect(after.worst <= before.worst + 0.2 && after.isStated, "\(before) -> \(after)")
        Self.checkCover(recorded.evidence.segments, refit.segments)
    }

    @Test("To refit a refitted map gives the same rows", arguments: [-20_000.0, 80])
    func idempotent(ratePPM: Double) {
        var evidence = Self.shortLinks(ratePPM: ratePPM).evidence
        let first = Refit(evidence)
        #expect(first.segments != evidence.segments)
        evidence.segments = first.segments
        let second = Refit(evidence)
        #expect(second.segments == first.segments)
        #expect(second.shiftMaximum == 0 && second.uncertaintyBefore == second.uncertaintyAfter)
    }

    @Test("A link of half a minute and one of the same epoch hours later are one run, before a refit and after it")
    func idempotentOverAnAbsence() throws {
        var recorded = Recorded(ratePPM: 80)
        // Ever less late: the rate that so short a link shows is off by 400 ppm, and leads astray over three hours.
        recorded.link(seconds: 30, epoch: 0) { 12e6 * (1 - $0 / 30) }
        recorded.link(seconds: 600, after: 3 * 3600, epoch: 0) { _ in 1e6 }
        var evidence = recorded.evidence
        let boundary = recorded.links[1].lowerBound
        let before = try #require(evidence.segments.last { $0.record.firstN < boundary })
        let behind = try #require(evidence.segments.first { $0.record.firstN >= boundary })
        #expect(behind.nanoseconds(of: boundary) - before.nanoseconds(of: boundary) > 1_000_000_000)
        let first = Refit(evidence)
        #expect(first.segments != evidence.segments)
        #expect(EvidenceRun.runs(of: evidence).count == 1)
        evidence.segments = first.segments
        #expect(EvidenceRun.runs(of: evidence).count == 1)
        #expect(Refit(evidence).segments == first.segments)
    }

    @Test("A gap of no count divides the evidence, however short it is")
    func gapOfNoCount() {
        var recorded = Recorded(ratePPM: 80)
        recorded.link(seconds: 100, epoch: 0) { _ in 1e6 }
        recorded.link(seconds: 100, after: 0, epoch: 0) { _ in 1e6 }
        var evidence = recorded.evidence
        #expect(EvidenceRun.runs(of: evidence).count == 1)
        evidence.gapsOfNoCount = [0, recorded.links[1].lowerBound, recorded.n]
        let runs = EvidenceRun.runs(of: evidence)
        #expect(runs.map(\.firstN) == recorded.links.map(\.lowerBound))
        #expect(runs.map(\.arrivals.count).reduce(0, +) == evidence.arrivals.count)
        Self.checkCover(evidence.segments, Refit(evidence).segments)
    }

    @Test("Without evidence nothing moves; with some of it, only what has it")
    func partialEvidence() {
        let recorded = Self.shortLinks(ratePPM: 300)
        var evidence = recorded.evidence
        evidence.arrivals = []
        let none = Refit(evidence)
        #expect(none.segments == evidence.segments && none.evidenceCount == 0 && none.rate == nil && none.isPartial)
        // The first three links were recorded by an earlier version.
        let boundary = recorded.links[3].lowerBound
        evidence = recorded.evidence
        evidence.arrivals.removeAll { $0.n < boundary }
        for index in evidence.segments.indices where evidence.segments[index].record.firstN < boundary {
            evidence.segments[index].record.uncertaintyNanoseconds = nil
        }
        let some = Refit(evidence)
        let old = evidence.segments.filter { $0.record.firstN < boundary }
        #expect(some.isPartial && Array(some.segments.prefix(old.count)) == old)
        #expect(some.segments != evidence.segments && some.evidenceCount == evidence.arrivals.count)
        Self.checkCover(evidence.segments, some.segments)
    }

    @Test("An earlier version's segments of the same epoch stay, and time does not go back after them")
    func upgradedWithinALink() {
        var recorded = Recorded(ratePPM: 50)
        recorded.link(seconds: 600, epoch: 0) { _ in 1e6 }
        var evidence = recorded.evidence
        let boundary = evidence.segments[4].record.firstN
        evidence.arrivals.removeAll { $0.n < boundary }
        for index in 0..<4 {
            evidence.segments[index].record.uncertaintyNanoseconds = nil
            // Earlier versions could be late by this.
            evidence.segments[index].record.referenceTime =
                evidence.segments[index].record.referenceTime + .milliseconds(300)
        }
        let refit = Refit(evidence)
        #expect(Array(refit.segments.prefix(4)) == Array(evidence.segments.prefix(4)))
        Self.checkCover(evidence.segments, refit.segments)
    }

    @Test("A recording of one short link takes the rate of its neighbour", arguments: [true, false])
    func neighbour(isEarlier: Bool) {
        var long = Recorded(ratePPM: -7_000)
        var random = SeededGenerator(seed: 8)
        long.link(seconds: 400, epoch: 0) { Self.busyRadio(&random, at: $0) }
        var short = Recorded(ratePPM: -7_000)
        short.link(seconds: 10, epoch: 0) { Self.busyRadio(&random, at: $0) }
        let alone = Refit(short.evidence)
        let refit = Refit(short.evidence, neighbour: NeighbouringEvidence(evidence: long.evidence, isEarlier: isEarlier))
        let errors = (short.errors(alone.segments), short.errors(refit.segments))
        #expect(errors.1.worst <= errors.0.worst && errors.1.worst < 2 && errors.1.isStated)
        let stated = (alone.uncertaintyAfter?.maximum ?? 0, refit.uncertaintyAfter?.maximum ?? 1e9)
        #expect(stated.1 < stated.0)
    }

    @Test("What a memory gave back before the first live sample lies along the clock's line")
    func recoveredBeforeTheLink() {
        var recorded = Recorded(ratePPM: 500)
        recorded.link(seconds: 300, after: 1800, epoch: 0) { _ in 1e6 }
        var evidence = recorded.evidence
        // The map reaches back to what was read from memory: half an hour.
        evidence.segments[0].record.firstN = 0
        let refit = Refit(evidence)
        guard let first = refit.segments.first?.record else { return }
        let error = StoredStream.time(of: 0, in: first) - recorded.truth(0)
        #expect(first.firstN == 0 && abs(error) <= first.uncertaintyNanoseconds ?? 0, "\(error)")
        #expect(abs(error) < 100e6)
        Self.checkCover(evidence.segments, refit.segments)
    }

    @Test("Where numbers of a stream without counter lag behind the clock, its times stay")
    func uncountedLosses() {
        var recorded = Recorded(ratePPM: 0)
        // After 40 s samples of 300 ms get lost, and nothing tells it.
        recorded.link(seconds: 60, epoch: 0) { $0 < 40 ? 1e6 : 301e6 }
        recorded.link(seconds: 300, epoch: 1) { _ in 1e6 }
        var evidence = recorded.evidence
        evidence.isCounted = false
        let refit = Refit(evidence)
        let old = evidence.segments.filter { $0.record.epoch == 0 }
        #expect(refit.isInDoubt && refit.isPartial)
        #expect(refit.segments.filter { $0.record.epoch == 0 } == old)
        #expect(refit.segments != evidence.segments)
        Self.checkCover(evidence.segments, refit.segments)
        #expect(!Refit(recorded.evidence).isInDoubt)
    }

    @Test("Nothing traps, whatever the rows are")
    func absurdRows() {
        let numbers: [Int64] = [.min, -1, 0, 1, 1 << 40, .max - 1, .max]
        for first in numbers {
            for frequency in [1e-9, 250, 9e8] {
                let segments = numbers.filter { $0 >= first }.map { n in
                    StoredSegment(
                        SegmentRecord(
                            stream: StreamID(rawValue: 1), firstN: n, lastN: n, epoch: 0, referenceN: first,
                            referenceTime: MonotonicTime(nanoseconds: n), periodNanoseconds: 1e17, residualNanoseconds: nil,
                            observationCount: 0, uncertaintyNanoseconds: 1),
                        hostBoot: 1)
                }
                let arrivals = numbers.map {
                    ArrivalRecord(
                        stream: StreamID(rawValue: 1), n: $0, at: MonotonicTime(nanoseconds: $0), deviceTicks: nil)
                }
                let refit = Refit(
                    StreamEvidence(
                        stream: StreamID(rawValue: 1), name: "eeg", bank: 0, samplingFrequency: frequency, isCounted: false,
                        segments: segments, arrivals: arrivals, gapsOfNoCount: numbers))
                #expect(!refit.segments.isEmpty)
            }
        }
    }
}
