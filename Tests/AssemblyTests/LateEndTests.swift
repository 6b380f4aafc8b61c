import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Assembly

/// A stream without counter whose link ends before anything could show that samples were lost.
struct LateEndTests {
    /// 512 samples a second in blocks of 16, with marks each 512: a minute, then so many milliseconds that are lost, then so
    /// many more, and silence.
    private static func ended(lost: Int64, after: Int64, hasMarks: Bool, random: inout SeededGenerator) -> StreamUnderTest {
        var test = StreamUnderTest(modulus: nil, channels: 1, frequency: 512)
        let begin = test.now
        test.begin(rule: .connection)
        let (lossBegin, lossEnd) = (Int64(60_000), 60_000 + lost)
        for block in Int64(0)..<((lossEnd + after) * 512 / 16_000) {
            let end = (block + 1) * 16
            let milliseconds = end * 1000 / 512
            if milliseconds >= lossBegin, milliseconds < lossEnd { continue }
            test.now = begin + .nanoseconds(end * 1_953_125 + Int64(random.below(3_000_000)))
            test.take(index: nil, truth: block * 16, count: 16)
            if hasMarks, end % 512 == 0 { test.stream.takeMark(period: 512, blockLength: 1, at: test.now) }
            if block % 32 == 0 { test.commit() }
        }
        test.now = test.now + .seconds(3)
        test.stream.endLink(cause: .silence, at: test.now)
        test.now = test.now + .seconds(2)
        test.commit()
        return test
    }

    @Test(
        "What came late until the link ended is stated to be as late as that, and nothing else is",
        arguments: [400, 1000, 1900] as [Int64], [true, false])
    func lateEnd(lost: Int64, hasMarks: Bool) throws {
        var random = SeededGenerator(seed: UInt64(lost))
        var test = Self.ended(lost: lost, after: 400, hasMarks: hasMarks, random: &random)
        let segments = test.database.segments.values.sorted { $0.firstN < $1.firstN }
        let begin = 3_600_000_000_000.0
        for (n, truth) in test.stored {
            let segment = try #require(segments.last { $0.firstN <= n })
            let due = begin + Double(truth + 1) * 1_953_125
            let error = abs(StoredStream.time(of: n, in: segment) - due)
            #expect(error <= (segment.uncertaintyNanoseconds ?? 0) + 10e6, "\(n): wrong by \(error / 1e6) ms")
        }
        let wide = segments.filter { ($0.uncertaintyNanoseconds ?? 0) > 200e6 }
        #expect((wide.first?.firstN ?? 0) > 60_000 * 512 / 1000 - 600)
        // What is missing behind them is known no better.
        test.begin(rule: .connection)
        test.take(index: nil, truth: 0, count: 16)
        test.commit()
        let gap = try #require(test.database.wholeGaps.last)
        guard case .timed(let stated) = gap.gap.certainty else { return #expect(Bool(false), "\(gap)") }
        #expect(stated >= lost * 512 / 1000 - 140)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A process that dies while all comes late has said so, and one that goes on says so no longer once it is on time")
    func killed() {
        var test = StreamUnderTest(modulus: nil, channels: 1, frequency: 512)
        test.begin(rule: .connection)
        func blocks(_ range: Range<Int64>) {
            for block in range {
                test.advance(samples: 16)
                test.take(index: nil, truth: block * 16, count: 16)
            }
        }
        var stated: Double { test.database.segments.values.max { $0.firstN < $1.firstN }?.uncertaintyNanoseconds ?? 0 }
        blocks(0..<640)
        test.commit()
        let before = stated
        // A second of samples does not come, and what comes behind it is committed before anything shows that.
        test.advance(samples: 512)
        blocks(672..<680)
        test.commit()
        #expect(before < 50e6 && stated >= 0.9e9 && stated < 1.5e9, "\(before), \(stated)")
        // It had waited, after all.
        for block in Int64(680)..<712 { test.take(index: nil, truth: block * 16, count: 16) }
        blocks(712..<760)
        test.commit()
        #expect(stated < 100e6, "\(stated)")
        #expect(test.database.problems.isEmpty)
    }

    @Test("What was lost in two steps makes what is behind the second as late as both")
    func steps() {
        var run = LateRun()
        func add(_ n: Int64, _ lateness: Int64) {
            run.add(
                LateBlocks(firstN: n, leastLateness: lateness, earliest: Arrival(n: n, nanoseconds: n)), backlog: 10)
        }
        for (n, lateness) in [(100, 96), (110, 99), (120, 95), (130, 184), (140, 186), (150, 182)] as [(Int64, Int64)] {
            add(n, lateness)
        }
        #expect(run.steps.map(\.firstN) == [100, 130])
        #expect(run.steps.map(\.leastLateness) == [95, 182])
        #expect(run.steps.map(\.earliest.n) == [120, 150])
        // What comes less late again had waited: nothing was lost there.
        add(160, 140)
        #expect(run.steps.map(\.firstN) == [100, 130] && run.steps.last?.leastLateness == 140)
        add(170, 104)
        #expect(run.steps.map(\.firstN) == [100] && run.steps.map(\.leastLateness) == [95])
        add(180, 20)
        #expect(run.steps.map(\.leastLateness) == [20])
        // However many steps there are, none is said to be less late than it is.
        for step in Int64(0)..<60 { add(200 + step, 40 * (step + 1)) }
        #expect(run.steps.count <= 17 && run.steps.first?.firstN == 100 && run.steps.last?.leastLateness == 2400)
        for step in Int64(0)..<60 {
            #expect((run.steps.last { $0.firstN <= 200 + step }?.leastLateness ?? 0) >= 40 * (step + 1))
        }
    }

    @Test("A link that ends with what is on time, or late by what a radio keeps back, has no such piece")
    func onTime() {
        var random = SeededGenerator(seed: 3)
        for lost in [Int64(0), 60] {
            let test = Self.ended(lost: lost, after: 400, hasMarks: true, random: &random)
            #expect(test.database.segments.values.allSatisfy { ($0.uncertaintyNanoseconds ?? 0) < 100e6 })
        }
    }
}
