import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Assembly

/// A headset whose counter wraps soon, behind a radio that carries nothing for a while on a link that stays up: what its queue
/// has kept comes first, and where samples are missing depends on which those are.
struct StreamQueueTests {
    /// Counters and packets of headsets.
    enum Packing: CaseIterable {
        /// Three samples a packet, as a Cyton sends them over Low Energy; one, over its serial port; two, as a Ganglion.
        case threes, singles, pairs

        /// The samples from one wrap to the next.
        var wrap: Int64 { self == .pairs ? 201 : 256 }
        var packet: Int64 {
            switch self {
            case .threes: 3
            case .singles: 1
            case .pairs: 2
            }
        }
        var frequency: Double {
            switch self {
            case .threes: 125
            case .singles: 250
            case .pairs: 200
            }
        }
        /// No packet of a Ganglion holds the last sample of a cycle.
        func isSent(_ index: Int64) -> Bool { self != .pairs || index % wrap != wrap - 1 }
    }

    /// What a full queue does with a packet.
    enum Policy: CaseIterable { case keepsOldest, keepsNewest }

    /// A radio with connection events, between which packets wait.
    struct Radio {
        let packing: Packing
        let policy: Policy
        /// In packets.
        var queueLimit: Int
        var packetsPerEvent: Int
        var interval: Duration
        /// In seconds since the first sample.
        var outages: [Range<Double>]
        var seconds: Double
        var periodPPM = 0.0
        /// The index of the first sample.
        var first: Int64 = 0
        /// How likely a packet is lost besides, behind the queue.
        var loss = 0.0
        private(set) var test: StreamUnderTest
        private(set) var arrived: Set<Int64> = []

        init(
            _ packing: Packing, _ policy: Policy, queueLimit: Int, packetsPerEvent: Int, interval: Duration,
            outages: [Range<Double>], seconds: Double
        ) {
            (self.packing, self.policy, self.queueLimit) = (packing, policy, queueLimit)
            (self.packetsPerEvent, self.interval) = (packetsPerEvent, interval)
            (self.outages, self.seconds) = (outages, seconds)
            test = StreamUnderTest(modulus: packing.wrap, frequency: packing.frequency)
        }

        mutating func run() {
            let begin = test.now
            let period = 1 / packing.frequency * (1 + periodPPM * 1e-6)
            var queue: [Int64] = []
            var latest: Int64?
            var index = first
            var elapsed = 0.0
            var random = SeededGenerator(seed: UInt64(queueLimit), purpose: 78)
            test.begin(rule: .connection)
            while elapsed < seconds {
                elapsed += Double(interval.nanoseconds) / 1e9
                while Double(index + packing.packet - first) * period <= elapsed {
                    if packing.isSent(index) {
                        if queue.count == queueLimit, policy == .keepsNewest { queue.removeFirst() }
                        if queue.count < queueLimit { queue.append(index) }
                        index += packing.packet
                    } else {
                        index += 1
                    }
                }
                if outages.contains(where: { $0.contains(elapsed) }) { continue }
                test.now = begin + .nanoseconds(Int64(elapsed * 1e9))
                for packet in queue.prefix(packetsPerEvent) where loss == 0 || !random.strikes(loss) {
                    deliver(packet, after: latest)
                    latest = packet
                }
                queue.removeFirst(min(queue.count, packetsPerEvent))
            }
            test.stream.endRecording(at: test.now)
            test.commit()
        }

        private mutating func deliver(_ index: Int64, after latest: Int64?) {
            // As the decoder of a Ganglion says it.
            let (position, before) = (index % packing.wrap, (latest ?? 0) % packing.wrap)
            if packing == .pairs, before > position + 100, before != 198 { takeUnsent() }
            arrived.formUnion(index..<(index + packing.packet))
            test.take(index: index, truth: index, count: Int(packing.packet))
            if packing == .pairs, position == 198 { takeUnsent() }
        }

        private mutating func takeUnsent() { test.stream.takeUnsent(counter: 200, count: 1, at: test.now) }

        /// What is wrong with what was stored.
        func problems() -> [String] {
            var found = test.database.problems
            let stored = test.stored
            let shift = stored.min { $0.key < $1.key }.map { $0.key - $0.value } ?? 0
            let lost = arrived.subtracting(stored.values)
            if let first = lost.min() { found.append("\(lost.count) samples came and are not stored, such as \(first)") }
            for (n, truth) in stored.sorted(by: { $0.key < $1.key }) where n - truth != shift {
                if !isSaid(n, misplaced: abs(n - truth - shift)) {
                    found.append("sample \(truth) has n \(n), not \(truth + shift)")
                    break
                }
            }
            return found
        }

        /// True where the ledger says that rows near n may lie so far from where they belong.
        private func isSaid(_ n: Int64, misplaced: Int64) -> Bool {
            test.database.wholeGaps.contains { firstN, gap in
                guard case .timed(let uncertainty) = gap.certainty, let count = gap.count else { return false }
                return firstN <= n && n < firstN + count + uncertainty && misplaced <= uncertainty
            }
        }

        /// How many gaps are known no better than within whole wraps.
        var doubtfulGaps: Int { test.database.wholeGaps.count { $0.gap.certainty != .counted } }

        var gaps: [Int64] { test.database.wholeGaps.compactMap { $0.gap.cause == .notSent ? nil : $0.gap.count } }
    }

    @Test(
        "A Cyton's queue that refuses packets: the loss lies behind what has waited",
        arguments: [2, 3, 4, 6, 10], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4])
    func oneOutage(queueLimit: Int, outage: Double) {
        for (packets, milliseconds) in [(2, 30), (1, 15), (4, 30)] as [(Int, Int64)] {
            var radio = Radio(
                .threes, .keepsOldest, queueLimit: queueLimit, packetsPerEvent: packets,
                interval: .milliseconds(milliseconds), outages: [10..<(10 + outage)], seconds: 20)
            radio.run()
            #expect(radio.problems().isEmpty, "\(packets) packets in \(milliseconds) ms: \(radio.problems())")
            #expect(radio.gaps.count == 1)
        }
    }

    @Test(
        "A serial Cyton, whose counter wraps within a second: so many wraps as the time behind the jump says",
        arguments: [8, 16, 30, 60], [0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 1.7, 1.9])
    func serial(queueLimit: Int, outage: Double) {
        for frames in [8, 16, 40] {
            var radio = Radio(
                .singles, .keepsOldest, queueLimit: queueLimit, packetsPerEvent: frames, interval: .milliseconds(20),
                outages: [10..<(10 + outage)], seconds: 17)
            radio.run()
            #expect(radio.problems().isEmpty, "\(frames) frames: \(radio.problems())")
        }
    }

    /// A queue of up to 0.3 s that runs empty 1.2 to 2 times as fast as it fills, behind a radio with some outages.
    private static func drawn(_ packing: Packing, _ policy: Policy, seed: UInt64, loss: Double = 0) -> Radio {
        var random = SeededGenerator(seed: seed, purpose: 77)
        func drawn(_ low: Double, _ high: Double) -> Double { low + (high - low) * Double(random.below(1001)) / 1000 }
        let perSecond = packing.frequency / Double(packing.packet)
        let interval = Duration.milliseconds(Int64([15, 20, 30][Int(random.below(3))]))
        let ahead = drawn(1.2, 2) * perSecond * Double(interval.nanoseconds) / 1e9
        let perEvent = max(1, Int(ahead.rounded(.up)))
        let longest = Double(packing.wrap) / packing.frequency * 1.8
        var outages: [Range<Double>] = []
        var at = [1.0, 3, 10][Int(random.below(3))]
        while at < 26 {
            let length = min(2.45, random.strikes(0.5) ? drawn(0.2, 0.6 * longest) : drawn(0.5 * longest, longest))
            outages.append(at..<(at + length))
            at += length + [1.0, 3, 6][Int(random.below(3))]
        }
        let limit = max(perEvent, Int(perSecond * drawn(0.05, 0.3)))
        var radio = Radio(
            packing, policy, queueLimit: limit, packetsPerEvent: perEvent, interval: interval, outages: outages,
            seconds: at + 4)
        radio.periodPPM = [0, 500, -500, 20_000, -20_000][Int(random.below(5))]
        radio.first = packing.wrap * Int64(random.below(3)) + (packing == .pairs ? 0 : Int64(random.below(200)))
        radio.loss = loss
        radio.run()
        return radio
    }

    @Test(
        "Whatever the queue keeps, and however slowly it runs empty, what came is where it belongs, or in doubt",
        arguments: Packing.allCases, Policy.allCases)
    func anyWorld(packing: Packing, policy: Policy) {
        for seed in UInt64(1)...40 {
            let radio = Self.drawn(packing, policy, seed: seed)
            let problems = radio.problems()
            #expect(problems.isEmpty, "seed \(seed): \(problems.prefix(3)), \(radio.outages), \(radio.queueLimit)")
            // Where the queue hides the loss, it cannot be known; else it is.
            #expect(radio.doubtfulGaps <= 2, "seed \(seed)")
        }
    }

    @Test(
        "Where packets are lost besides, none of those that came are taken for duplicates",
        arguments: Packing.allCases, Policy.allCases)
    func lossyWorld(packing: Packing, policy: Policy) {
        for seed in UInt64(1)...20 {
            let radio = Self.drawn(packing, policy, seed: seed, loss: 0.03)
            let lost = radio.arrived.subtracting(radio.test.stored.values)
            #expect(lost.isEmpty, "seed \(seed): \(lost.sorted())")
            #expect(radio.test.database.problems.isEmpty, "seed \(seed): \(radio.test.database.problems.prefix(2))")
        }
    }

    @Test("Samples that come once more with other values are counted, and put the wraps before them in doubt")
    func contradiction() throws {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.live(0..<296)
        test.advance(samples: 360)
        test.live(656..<1056)
        // The same values once more are no news.
        test.take(index: 1040, truth: 1040)
        test.take(index: 1048, truth: 1048)
        let none = test.stream.takeContradiction()
        #expect(none == nil)
        #expect(test.database.wholeGaps.allSatisfy { $0.gap.certainty == .counted })
        // Others at the same numbers are.
        test.take(index: 800, truth: 600)
        test.live(1056..<1064)
        test.commit()
        let said = test.stream.takeContradiction()
        let found = try #require(said)
        #expect(found.count == 8 && found.firstN == 1000)
        #expect(test.database.wholeGaps.first?.gap.certainty == .timed(uncertainty: 400))
        #expect(test.database.problems.isEmpty)
    }

    /// Blocks behind a silence that go back to others, of which nothing shows how many turns lie before the first ones.
    enum Returning: CaseIterable {
        /// The first ones lie behind what is stored by nearest number; they have waited for a part of a turn.
        case behindStored
        /// The first ones are not behind, and have not waited for whole turns.
        case ahead
        /// The first one is a packet or two behind what is stored.
        case justBehind

        /// Stored before, the silence, the first ones, how much later others come, and which.
        var samples: (before: Int64, silence: Int64, first: Range<Int64>, later: Int64, next: Int64) {
            switch self {
            case .behindStored: (320, 460, 628..<668, 48, 828)
            case .ahead: (320, 456, 600..<608, 24, 800)
            case .justBehind: (320, 544, 488..<496, 24, 888)
            }
        }
    }

    @Test("Nothing that came behind a silence is dropped, nor said to be certain beside its n", arguments: Returning.allCases)
    func returning(case returning: Returning) {
        let samples = returning.samples
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.live(0..<samples.before)
        test.advance(samples: samples.silence)
        test.atOnce(samples.first)
        test.advance(samples: samples.later)
        test.live(samples.next..<(samples.next + 472))
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        let stored = test.stored
        let truths = Set(0..<samples.before).union(samples.first).union(samples.next..<(samples.next + 472))
        #expect(Set(stored.values) == truths, "\(truths.subtracting(stored.values).sorted().prefix(3))")
        let wrong = stored.filter { $0.key != $0.value }
        let isSaid = test.database.wholeGaps.allSatisfy { firstN, gap in
            if case .timed = gap.certainty { true } else { !wrong.keys.contains { $0 >= firstN } }
        }
        #expect(isSaid, "\(wrong.keys.sorted().prefix(3)), \(test.database.wholeGaps)")
        #expect(test.database.problems.isEmpty)
    }

    @Test("A serial port brings several blocks at once: where one such piece is lost besides, the queue still kept the oldest")
    func lostPiece() {
        var test = StreamUnderTest(modulus: 256, frequency: 250)
        test.begin(rule: .connection)
        func piece(_ first: Int64) {
            test.advance(samples: 5)
            for index in first..<(first + 5) {
                test.take(index: index, truth: index, count: 1, isSameNotification: index > first)
            }
        }
        for first in stride(from: Int64(0), to: 455, by: 5) { piece(first) }
        test.advance(samples: 285)
        // That from 455 on was damaged on its way.
        for first in stride(from: Int64(460), to: 480, by: 5) { piece(first) }
        for first in stride(from: Int64(760), to: 1200, by: 5) { piece(first) }
        test.commit()
        #expect(Set(test.stored.values) == Set(0..<455).union(460..<480).union(760..<1200))
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.wholeGaps.map(\.gap.count) == [5, 280])
        #expect(test.database.wholeGaps.allSatisfy { $0.gap.certainty == .counted } && test.database.problems.isEmpty)
    }

    @Test("A pause soon after a link that began with what had waited is no longer than it is")
    func pauseBehindBurst() {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.atOnce(0..<104)
        test.advance(samples: 1000)
        test.live(1104..<1504)
        test.commit()
        #expect(Set(test.stored.values) == Set(0..<104).union(1104..<1504))
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.epochs.count == 1 && test.database.problems.isEmpty)
    }
}
