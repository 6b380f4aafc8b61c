import Bluetooth
import Simulation
import Storage
import Testing

@testable import Assembly

/// The fit of a stream's n to the host's clock.
struct TimeMapTests {
    /// A headset whose crystal is off and wanders, and the arrivals of its packets.
    private struct Headset {
        var map: TimeMap
        var pieces: [Int64: SegmentRecord] = [:]
        var evidence: [ArrivalRecord] = []
        let period: Double
        let wanderPPM: Double
        let packet: Int64
        let start: Int64 = 7_000_000_000_000
        private(set) var n: Int64 = 0
        private var clock: Int64 = 0

        init(
            crystalErrorPPM: Double, wanderPPM: Double = 0, packet: Int64 = 8, frequency: Double = 250,
            rate: ArrivalEnvelope.Rate = .unknown
        ) {
            period = 1e9 / frequency * (1 + crystalErrorPPM * 1e-6)
            self.wanderPPM = wanderPPM
            self.packet = packet
            map = TimeMap(
                stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: 0, at: MonotonicTime(nanoseconds: start),
                samplingFrequency: frequency, rate: rate)
        }

        /// The true instant of sample n, in nanoseconds: a crystal that wanders once to and fro in an hour.
        func truth(_ n: Int64) -> Int64 {
            let elapsed = Double(n) * period
            let turn = 2 * Double.pi / 3600e9
            return start + Int64((elapsed + wanderPPM * 1e-6 / turn * (1 - cosine(elapsed * turn))).rounded())
        }

        /// cos by its series, to which the turn is first reduced.
        private func cosine(_ x: Double) -> Double {
            let reduced = x.truncatingRemainder(dividingBy: 2 * Double.pi) - Double.pi
            var (term, sum) = (1.0, 1.0)
            for k in stride(from: 2.0, through: 30, by: 2) {
                term *= -reduced * reduced / (k * (k - 1))
                sum += term
            }
            return -sum
        }

        /// Packets of so many seconds; `delay` says by how many nanoseconds the packet that was sent at a second is late.
        mutating func run(seconds: Int, delay: (_ second: Double) -> Int64) {
            let end = n + Int64((Double(seconds) * 1e9 / period).rounded())
            while n < end {
                let last = n + packet - 1
                // Packets of one link never overtake each other.
                clock = max(clock, truth(last) + delay(Double(last) * period / 1e9))
                map.observe(n: last, count: Int(packet), at: MonotonicTime(nanoseconds: clock))
                n += packet
                map.extend(to: n - 1)
                if n % 256 == 0 { take() }
            }
            take()
        }

        /// Samples up to n are taken and not sent.
        mutating func skip(to n: Int64) { self.n = n }

        mutating func take() {
            for piece in map.take() { pieces[piece.firstN] = piece }
            evidence += map.takeEvidence()
        }

        var ordered: [SegmentRecord] { pieces.values.sorted { $0.firstN < $1.firstN } }

        /// By how much the stored time of sample n is later than the truth, in nanoseconds.
        func error(at n: Int64) -> Double {
            guard let piece = ordered.last(where: { $0.firstN <= n }) else { return .infinity }
            return StoredStream.time(of: n, in: piece) - Double(truth(n))
        }

        /// The mean error, the standard deviation and the largest distance from the mean, from a second on.
        func errors(from second: Double = 0) -> (mean: Double, deviation: Double, worst: Double) {
            let first = Int64(second * 1e9 / period)
            let pieces = ordered
            var all: [Double] = []
            var index = 0
            for n in stride(from: first, to: self.n, by: 25) {
                while index + 1 < pieces.count, pieces[index + 1].firstN <= n { index += 1 }
                all.append(StoredStream.time(of: n, in: pieces[index]) - Double(truth(n)))
            }
            let mean = all.reduce(0, +) / Double(all.count)
            let deviation = (all.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(all.count)).squareRoot()
            return (mean, deviation, all.reduce(0) { max($0, abs($1 - mean)) })
        }
    }

    /// Late by 4 ms (mean), 5 % by 70 ms more, a stall of 1 s each minute.
    private static func busyRadio(_ random: inout SeededGenerator, at second: Double) -> Int64 {
        var delay = random.exponential() * 4e6 + (random.strikes(0.05) ? 70e6 : 0)
        let within = second.truncatingRemainder(dividingBy: 60)
        if within >= 30, within < 31 { delay = max(delay, (31 - within) * 1e9) }
        return Int64(delay)
    }

    @Test("Where the stream stands is told by its line, also where the rows are drawn later to pass the segment before them")
    func liftedPiece() {
        var headset = Headset(crystalErrorPPM: -5900)
        headset.map.setFloor(MonotonicTime(nanoseconds: headset.start + 220_000_000))
        for _ in 0..<20 {
            headset.run(seconds: 1) { _ in 1_000_000 }
            let position = headset.map.position(at: MonotonicTime(nanoseconds: headset.truth(headset.n - 1) + 1_000_000))
            #expect(abs(position.n - headset.n) <= position.uncertainty && abs(position.n - headset.n) <= 30)
        }
    }

    @Test("A piece ends before the next one begins, however close its samples lie")
    func closeSamples() throws {
        let reference = MonotonicTime(nanoseconds: 7_000_000_000_000)
        // Counts of 400 s before the link's first, of which the time bears out one second.
        var map = TimeMap(
            stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: 100_000, at: reference, samplingFrequency: 250)
        map.setFloor(reference - .seconds(1))
        var pieces: [Int64: SegmentRecord] = [:]
        for packet in Int64(0)..<3000 {
            let last = 100_000 + packet * 8 + 7
            map.observe(n: last, count: 8, at: reference + .milliseconds(packet * 32 + 28))
            map.extend(to: last)
            for piece in map.take() { pieces[piece.firstN] = piece }
        }
        let ordered = pieces.values.sorted { $0.firstN < $1.firstN }
        #expect(try #require(ordered.first).periodNanoseconds < 0.01 * 4e6)
        for (before, after) in zip(ordered, ordered.dropFirst()) {
            #expect(StoredStream.time(of: before.lastN, in: before) <= StoredStream.time(of: after.firstN, in: after))
        }
    }

    @Test("The first window's evidence is its earliest arrival, although the line has moved with each that was earlier")
    func movingLine() throws {
        // A second of a stall, then what comes is on time; nothing is known of the crystal yet.
        var headset = Headset(crystalErrorPPM: -9500, packet: 1, frequency: 20)
        headset.run(seconds: 20) { second in second < 1 ? 310_000_000 : Int64(second * 1e6) % 3_000_000 }
        let evidence = headset.evidence
        let first = try #require(evidence.first)
        #expect(evidence.count >= 2 && first.n > 20)
        #expect(first.at.nanoseconds - headset.truth(first.n) < 3_000_000)
    }

    @Test(
        "Where samples were lost that nothing counts, no arrival lies before the time given by more than is stated",
        arguments: [1.0, 10], [2.0, 0.5, 5])
    func uncountedLoss(frequency: Double, lost: Double) {
        var headset = Headset(crystalErrorPPM: 0, packet: 1, frequency: frequency)
        headset.run(seconds: 240) { second in second < 45 ? 0 : Int64(lost * 1e9) }
        let pieces = headset.ordered
        #expect(headset.evidence.count > 15)
        for arrival in headset.evidence {
            guard let piece = pieces.last(where: { $0.firstN <= arrival.n }) else { continue }
            let earliness = StoredStream.time(of: arrival.n, in: piece) - Double(arrival.at.nanoseconds)
            #expect(earliness <= (piece.uncertaintyNanoseconds ?? 0) + 1e6, "sample \(arrival.n)")
        }
        // The same evidence, fitted anew.
        let evidence = StreamEvidence(
            stream: StreamID(rawValue: 1), name: "power", bank: 0, samplingFrequency: frequency, isCounted: false,
            segments: pieces.map { StoredSegment($0, hostBoot: 1) }, arrivals: headset.evidence, gapsOfNoCount: [])
        for run in EvidenceRun.runs(of: evidence) {
            let drawing = RefitDrawing(run, number: 0, rates: EvidenceRates([run]))
            let segments = drawing.segments(floor: nil)
            for arrival in headset.evidence {
                guard let segment = segments.last(where: { $0.record.firstN <= arrival.n }) else { continue }
                let earliness = segment.nanoseconds(of: arrival.n).distance(from: arrival.at.nanoseconds)
                #expect(earliness <= (segment.record.uncertaintyNanoseconds ?? 0) + 1e6, "refitted sample \(arrival.n)")
            }
        }
    }

    @Test(
        "Any crystal within 2 % is learnt: SD <= 2 ms, worst <= 20 ms after the first minute",
        arguments: [-20_000.0, -5_000, -2_000, 0, 80, 5_000, 20_000], [Int64(1), 8])
    func crystals(errorPPM: Double, packet: Int64) {
        var headset = Headset(crystalErrorPPM: errorPPM, packet: packet)
        var random = SeededGenerator(seed: 4)
        headset.run(seconds: 600) { Self.busyRadio(&random, at: $0) }
        let after = headset.errors(from: 60)
        #expect(after.deviation < 2e6 && after.worst < 20e6, "\(after)")
        let all = headset.errors()
        #expect(all.worst < 20e6, "with the first minute: \(all)")
    }

    @Test("A crystal that wanders by 40 ppm within an hour is followed: SD <= 1 ms", arguments: 1...3)
    func wander(seed: Int) {
        var headset = Headset(crystalErrorPPM: 30, wanderPPM: 40)
        var random = SeededGenerator(seed: UInt64(seed))
        headset.run(seconds: 5400) { Self.busyRadio(&random, at: $0) }
        let errors = headset.errors(from: 60)
        #expect(errors.deviation < 1e6 && errors.worst < 5e6, "\(errors)")
    }

    @Test("Each piece states within what it is right, and it is", arguments: [-8_000.0, 0, 8_000])
    func uncertainty(errorPPM: Double) {
        var headset = Headset(crystalErrorPPM: errorPPM, wanderPPM: 20)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<40 {
            headset.run(seconds: 7) { Self.busyRadio(&random, at: $0) }
            for piece in headset.ordered {
                for n in [piece.firstN, (piece.firstN + piece.lastN) / 2, piece.lastN] {
                    let stated = piece.uncertaintyNanoseconds ?? 0
                    #expect(abs(headset.error(at: n)) <= stated, "\(headset.error(at: n)) ns at \(n), stated \(stated)")
                }
            }
        }
        #expect((headset.map.segment.uncertaintyNanoseconds ?? 1e9) < 10e6)
    }

    @Test("A stall of 60 s, whose packets all arrive at once afterwards, moves no time by more than 3 ms")
    func stall() {
        var headset = Headset(crystalErrorPPM: 30)
        var random = SeededGenerator(seed: 5)
        headset.run(seconds: 300) { second in
            let jitter = Int64(random.exponential() * 5e6)
            return (200..<260).contains(second) ? Int64((260 - second) * 1e9) : jitter
        }
        #expect(headset.errors().worst < 3e6, "\(headset.errors())")
    }

    @Test("A burst that is 5 s late moves no time by more than 3 ms, wherever it comes", arguments: [2.0, 30, 60, 118])
    func burst(at start: Double) {
        var headset = Headset(crystalErrorPPM: -40)
        var random = SeededGenerator(seed: 6)
        headset.run(seconds: 180) { second in
            let jitter = Int64(random.exponential() * 5e6)
            return (start..<(start + 5)).contains(second) ? Int64((start + 5 - second) * 1e9) : jitter
        }
        #expect(headset.errors().worst < 3e6, "\(headset.errors())")
    }

    @Test("A first packet that is late does not set the time of the rest")
    func lateStart() {
        var headset = Headset(crystalErrorPPM: 0)
        headset.run(seconds: 60) { $0 < 1 ? 2_000_000_000 : 1_000_000 }
        #expect(abs(headset.error(at: 0)) < 3_000_000, "\(headset.error(at: 0))")
    }

    @Test("Pieces follow each other without overlap, and time never jumps at their border", arguments: 1...3)
    func monotone(seed: Int) {
        var headset = Headset(crystalErrorPPM: 90)
        var random = SeededGenerator(seed: UInt64(seed))
        headset.run(seconds: 1500) { _ in
            random.strikes(0.002) ? Int64(random.fraction() * 5e9) : Int64(random.exponential() * 20e6)
        }
        let pieces = headset.ordered
        #expect(pieces.count >= 24)
        for (before, after) in zip(pieces, pieces.dropFirst()) {
            #expect(before.lastN + 1 == after.firstN)
            let step = StoredStream.time(of: after.firstN, in: after) - StoredStream.time(of: before.lastN, in: before)
            #expect(abs(step - headset.period) < 0.2e6, "\(step) ns between two samples")
        }
    }

    @Test("A frequency that is not the declared one is followed, and told by the rate")
    func wrongFrequency() {
        // A headset of 64.2 Hz that was declared with 32 Hz.
        var headset = Headset(crystalErrorPPM: (32 / 64.2 - 1) * 1e6, packet: 3, frequency: 32)
        var random = SeededGenerator(seed: 9)
        headset.run(seconds: 300) { _ in Int64(random.exponential() * 4e6) }
        #expect(headset.errors(from: 60).worst < 20e6, "\(headset.errors(from: 60))")
        #expect(abs(headset.map.rate.slope) > ArrivalEnvelope.toleratedSlope)
    }

    @Test("After 12 s of link the place 8 hours later is as uncertain as it says", arguments: 1...6)
    func longAbsence(seed: Int) {
        var headset = Headset(crystalErrorPPM: 0, packet: 8)
        var random = SeededGenerator(seed: UInt64(seed))
        headset.run(seconds: 12) { Self.busyRadio(&random, at: $0) }
        headset.map.interrupt()
        let later = headset.n + 8 * 3600 * 250
        let at = MonotonicTime(nanoseconds: headset.truth(later))
        let position = headset.map.position(at: at)
        let distance = abs(position.n - later)
        #expect(distance <= position.uncertainty, "\(distance) of \(position.uncertainty)")
        #expect(position.uncertainty < 30_000)
    }

    @Test("Evidence is a hundredth of the rows at the most, and one each second for EEG")
    func evidence() {
        var headset = Headset(crystalErrorPPM: 0)
        headset.run(seconds: 600) { _ in 1_000_000 }
        #expect((580...600).contains(headset.evidence.count))
        var slow = Headset(crystalErrorPPM: 0, packet: 1, frequency: 25)
        slow.run(seconds: 600) { _ in 1_000_000 }
        #expect(slow.evidence.count >= 100 && slow.evidence.count <= 600 * 25 / 100)
    }

    @Test("Arrivals that are exact give exact times from the first sample on", arguments: [1, 2, 3, 10])
    func exact(seconds: Int) {
        var headset = Headset(crystalErrorPPM: 0, packet: 1)
        headset.run(seconds: seconds) { _ in 0 }
        headset.map.interrupt()
        headset.take()
        #expect(headset.errors().worst < 1e3 && abs(headset.errors().mean) < 1e3, "\(headset.errors())")
    }

    @Test("A pause within an epoch leaves what was before it as it was")
    func pause() {
        var headset = Headset(crystalErrorPPM: 900)
        headset.run(seconds: 120) { _ in 500_000 }
        let before = headset.errors()
        var away = headset
        away.map.observe(
            n: headset.n + 3_600 * 250, count: 1, at: MonotonicTime(nanoseconds: headset.truth(headset.n + 3_600 * 250)))
        away.map.extend(to: headset.n + 3_600 * 250)
        away.map.interrupt()
        away.take()
        #expect(abs(away.error(at: headset.n - 1) - before.mean) < 3e6)
        #expect(abs(away.error(at: headset.n + 3_600 * 250)) < 3e6)
    }

    @Test("What a memory gives back from before the link lies along the clock's line", arguments: [-2_000.0, 500])
    func memory(errorPPM: Double) {
        var headset = Headset(crystalErrorPPM: errorPPM)
        // Eight hours of samples are in the headset's memory when the link begins.
        let buffered: Int64 = 8 * 3600 * 250
        headset.skip(to: buffered)
        headset.map = TimeMap(
            stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: buffered,
            at: MonotonicTime(nanoseconds: headset.truth(buffered)), samplingFrequency: 250)
        var random = SeededGenerator(seed: 3)
        headset.run(seconds: 300) { Self.busyRadio(&random, at: $0) }
        for n in stride(from: 0, through: headset.n - 1, by: 25_000) {
            let stated = headset.ordered.last { $0.firstN <= n }?.uncertaintyNanoseconds ?? 0
            #expect(abs(headset.error(at: n)) <= stated, "\(headset.error(at: n)) ns at \(n), stated \(stated)")
        }
        #expect(abs(headset.error(at: 0)) < 1.5e9, "\(headset.error(at: 0))")
        #expect(headset.pieces.count < 20)
    }

    @Test("Nothing traps, whatever the frequency and the numbers are", arguments: [1e-10, 1e-3, 1e12])
    func absurdNumbers(frequency: Double) {
        var map = TimeMap(
            stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: 0, at: .boot, samplingFrequency: frequency)
        for n: Int64 in [0, 1, 1 << 40, .max / 2, .max] {
            map.observe(n: n, count: 1, at: MonotonicTime(nanoseconds: n))
            map.extend(to: n)
            _ = (map.position(at: MonotonicTime(nanoseconds: .max)), map.time(of: .max), map.position(at: .boot))
        }
        map.interrupt()
        #expect(!map.take().isEmpty)
    }

    @Test("A piece is handed over where it has changed, and not again")
    func taking() {
        var headset = Headset(crystalErrorPPM: 0)
        #expect(!headset.map.take().isEmpty)
        #expect(headset.map.take().isEmpty)
        headset.run(seconds: 1) { _ in 0 }
        #expect(headset.pieces[0]?.lastN == headset.n - 1)
        #expect(headset.map.take().isEmpty)
        #expect(headset.map.position(at: headset.map.time(of: 123)).n == 123)
    }

    @Test("Evidence that no transaction takes for days is bounded, and covers all of the time")
    func boundedEvidence() {
        var map = TimeMap(
            stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: 0, at: MonotonicTime(nanoseconds: 0),
            samplingFrequency: 1)
        for n in Int64(0)..<60_000 {
            map.observe(n: n, count: 1, at: MonotonicTime(nanoseconds: n * 1_000_000_000))
            map.extend(to: n)
        }
        let evidence = map.takeEvidence()
        #expect((2000...4096).contains(evidence.count))
        #expect((evidence.first?.n ?? .max) < 100 && (evidence.last?.n ?? 0) > 59_900)
    }
}
