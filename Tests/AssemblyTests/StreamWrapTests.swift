import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// A counter that wraps within a second: whole wraps that were lost unseen, and blocks that have only waited.
struct StreamWrapTests {
    /// A counter of 200 samples at 200 Hz, after a second and a half of samples.
    private static func streaming() -> StreamUnderTest {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.live(0..<296)
        return test
    }

    private static func truths(_ ranges: Range<Int64>...) -> [Int64: Int64] {
        Dictionary(uniqueKeysWithValues: ranges.joined().map { ($0, $0) })
    }

    @Test(
        "After a pause in which wraps were lost, samples have their n by the time, and the rest is one gap",
        arguments: [200, 360, 424, 1000, 1004] as [Int64])
    func lostWraps(lost: Int64) {
        var test = Self.streaming()
        let first = 296 + lost
        test.advance(samples: lost)
        test.live(first..<(first + 400))
        test.commit()
        #expect(test.stored == Self.truths(0..<296, first..<(first + 400)))
        #expect(test.database.wholeGaps.map(\.firstN) == [296])
        #expect(test.database.wholeGaps.map(\.gap.count) == [lost])
        #expect(test.database.problems.isEmpty)
    }

    @Test("A wrap is not missed either where all else was lost of the first wraps, down to one block of each")
    func lostWrapOfFewBlocks() {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        for wrap: Int64 in 0..<2 {
            test.live((200 * wrap)..<(200 * wrap + 8))
            test.advance(samples: 192)
        }
        test.live(400..<504)
        test.advance(samples: 200)
        test.live(704..<1000)
        test.commit()
        #expect(test.stored == Self.truths(0..<8, 200..<208, 400..<504, 704..<1000))
        #expect(test.database.problems.isEmpty)
    }

    @Test("The first blocks after a pause may have waited for most of a wrap")
    func lateBlocksAfterLoss() {
        var test = Self.streaming()
        test.advance(samples: 500)
        // The headset kept the latest 64 samples: they come at once.
        test.atOnce(732..<796)
        test.live(796..<1196)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 732..<1196))
        #expect(test.database.problems.isEmpty)
    }

    @Test("Blocks that have all waited for wraps lose nothing")
    func stall() {
        var test = Self.streaming()
        test.advance(samples: 1000)
        test.atOnce(296..<1296)
        test.live(1296..<1600)
        test.commit()
        #expect(test.stored == Self.truths(0..<1600))
        #expect(test.database.gaps.isEmpty && test.database.problems.isEmpty)
    }

    @Test("A queue that was full kept the oldest: the loss lies behind what has waited")
    func overflownQueue() {
        var test = Self.streaming()
        test.advance(samples: 1000)
        for index in stride(from: Int64(296), to: 696, by: 8) where index != 400 { test.take(index: index, truth: index) }
        test.advance(samples: 44)
        test.live(1340..<1600)
        test.commit()
        #expect(test.stored == Self.truths(0..<400, 408..<696, 1340..<1600))
        #expect(test.database.problems.isEmpty)
    }

    @Test("Sums of differences are not believed after a loss that the decoder could not see, until a whole value comes")
    func unseenLoss() {
        var test = Self.streaming()
        test.advance(samples: 400)
        for index in stride(from: Int64(696), to: 800, by: 8) {
            test.advance(samples: 8)
            test.take(index: index, truth: index - 400, isSummed: true)
        }
        test.advance(samples: 8)
        test.take(index: 800, truth: 800)
        test.advance(samples: 8)
        test.take(index: 808, truth: 808, isSummed: true)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 800..<816))
        #expect(test.database.problems.isEmpty)
    }

    @Test("What is held when the link ends gets its n by the time where its counter jumps, and the ledger says so")
    func linkEnds() {
        var test = Self.streaming()
        test.advance(samples: 412)
        test.take(index: 700, truth: 700)
        #expect(test.stream.isHoldingBack)
        test.stream.endLink(cause: .linkLost, at: test.now)
        #expect(!test.stream.isHoldingBack)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 700..<708))
        #expect(test.database.wholeGaps.first?.gap.certainty == .timed(uncertainty: 400))
        #expect(test.database.problems.isEmpty)
    }

    @Test("Blocks whose counter goes on have waited where the link ends before the queue has run empty", arguments: [1, 5])
    func linkEndsWhileWaiting(blocks: Int64) {
        var test = Self.streaming()
        test.advance(samples: 200)
        test.atOnce(296..<(296 + 8 * blocks))
        #expect(test.stream.isHoldingBack)
        test.advance(samples: 188)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.stored == Self.truths(0..<(296 + 8 * blocks)))
        #expect(test.database.problems.isEmpty)
    }

    @Test("Where packets came that could not be decoded, a counter that goes on has missed a wrap")
    func undecodedWrap() {
        var test = Self.streaming()
        for _ in 0..<20 {
            test.advance(samples: 10)
            test.stream.recordActivity(at: test.now)
        }
        test.advance(samples: 8)
        test.take(index: 496, truth: 496)
        #expect(test.stream.isHoldingBack)
        test.advance(samples: 188)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 496..<504))
        #expect(test.database.wholeGaps.first?.gap.certainty == .timed(uncertainty: 200))
        #expect(test.database.problems.isEmpty)
    }

    @Test("A block after a second pause tells of those before it that they have waited")
    func secondPause() {
        var test = Self.streaming()
        test.advance(samples: 200)
        test.atOnce(300..<332)
        #expect(test.stream.isHoldingBack)
        test.advance(samples: 64)
        test.atOnce(428..<564)
        test.live(564..<800)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 300..<332, 428..<800))
        #expect(test.database.wholeGaps.map(\.gap.count) == [4, 96])
        #expect(test.database.problems.isEmpty)
    }

    @Test("A wrap to the sample is lost before what comes as it is sampled, although something there is out of order")
    func reorderedAfterLoss() {
        var test = Self.streaming()
        test.advance(samples: 200)
        test.live(496..<512)
        // The next one is overtaken by two.
        test.advance(samples: 8)
        test.live(520..<536)
        test.take(index: 512, truth: 512)
        test.live(536..<1000)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 496..<1000))
        #expect(test.database.wholeGaps.first.map { $0.firstN == 296 && $0.gap.count == 200 } == true)
        #expect(test.database.problems.isEmpty)
    }

    @Test(
        "Behind blocks that go back to other values all wraps are missing: those before them have waited",
        arguments: [296, 320], [1, 2, 3])
    func turnBehindWaiting(before: Int64, turns: Int64) {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.live(0..<before)
        // The first of what has waited cannot be decoded, up to the next whole value.
        let next = 400 + 200 * turns
        test.advance(samples: next - before - 24)
        test.take(index: 400, truth: 400)
        test.advance(samples: 24)
        test.live(next..<(next + 400))
        test.commit()
        #expect(test.stored == Self.truths(0..<before, 400..<408, next..<(next + 400)))
        #expect(test.database.wholeGaps.map(\.firstN) == [before, 408])
        #expect(test.database.wholeGaps.map(\.gap.count) == [400 - before, 200 * turns - 8])
        #expect(test.database.problems.isEmpty)
    }

    @Test("Channels in blocks of their own go back once, not with each of them")
    func turnOfPartialBlocks() {
        var test = StreamUnderTest(modulus: 10, channels: 3, frequency: 10)
        test.begin(rule: .connection)
        func instant(_ n: Int64, _ test: inout StreamUnderTest, from first: Int = 0) {
            for channel in first..<3 { test.take(index: n, truth: n, count: 1, channels: channel..<(channel + 1)) }
        }
        for n in 0..<97 {
            test.advance(samples: 1)
            instant(Int64(n), &test)
        }
        test.advance(samples: 20)
        for n in 97..<101 { instant(Int64(n), &test) }
        test.advance(samples: 1)
        instant(117, &test, from: 2)
        for n in 118..<160 {
            test.advance(samples: 1)
            instant(Int64(n), &test)
        }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.stored == Self.truths(0..<101, 117..<160))
        #expect(test.database.problems.isEmpty)
    }

    @Test(
        "Where wraps are entered before the first block of an instant, and may lie behind it, the ledger says so",
        arguments: [false, true])
    func doubtBeforePartialBlocks(isCut: Bool) throws {
        var test = StreamUnderTest(modulus: 10, channels: 3, frequency: 10)
        test.begin(rule: .connection)
        func instant(_ n: Int64, _ test: inout StreamUnderTest, _ channels: Range<Int> = 0..<3) {
            for channel in channels { test.take(index: n, truth: n, count: 1, channels: channel..<(channel + 1)) }
        }
        for n in 0..<128 {
            test.advance(samples: 1)
            instant(Int64(n), &test)
        }
        // The rest of an instant has waited, with four behind it; a turn is lost where the counter shows nothing of it.
        instant(128, &test, 0..<1)
        test.advance(samples: 14)
        instant(128, &test, 1..<3)
        for n in 129..<132 { instant(Int64(n), &test) }
        for n in 142..<200 {
            if n > 143 { test.advance(samples: 1) }
            // A queue that goes on amid an instant shows where.
            instant(Int64(n), &test, isCut && n == 142 ? 1..<3 : 0..<3)
        }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        let misplaced = test.stored.filter { $0.key != $0.value }
        let gap = try #require(test.database.wholeGaps.first)
        #expect(misplaced.isEmpty || gap.gap.certainty == .timed(uncertainty: 10), "\(misplaced.count), \(gap)")
        #expect(misplaced.values.allSatisfy { $0 < 132 })
        if isCut { #expect(misplaced.isEmpty && test.database.wholeGaps.first?.gap.count == 10, "\(gap)") }
        #expect(test.database.problems.isEmpty)
    }

    @Test("Channels that come in blocks of their own lose the same wraps")
    func partialBlocks() {
        var test = StreamUnderTest(modulus: 10, frequency: 10)
        test.begin(rule: .connection)
        func instant(_ n: Int64, _ test: inout StreamUnderTest) {
            test.advance(samples: 1)
            for channel in 0..<2 { test.take(index: n, truth: n, count: 1, channels: channel..<(channel + 1)) }
        }
        for n in 0..<30 { instant(Int64(n), &test) }
        test.advance(samples: 20)
        for n in 50..<60 { instant(Int64(n), &test) }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.stored == Self.truths(0..<30, 50..<60))
        #expect(test.database.rows.values.allSatisfy { !$0.contains(nil) })
        #expect(test.database.problems.isEmpty)
    }

    @Test(
        "While a slow stream's line does not know its crystal, which is 2 % off, the latest arrival on time tells the wraps",
        arguments: [30, 80, 115, 130, 150, 170, 250], [0, 10, 20, 33] as [Int64])
    func unknownCrystal(before: Int64, lost: Int64) {
        var test = StreamUnderTest(modulus: 10, channels: 3, frequency: 10)
        test.begin(rule: .connection)
        let began = test.now
        // 10 Hz, less 2 %; in microseconds.
        let period: Int64 = 102_041
        var worst: Int64 = 0
        func instants(_ range: Range<Int64>, _ test: inout StreamUnderTest) {
            for n in range {
                // As a Ganglion's accelerometer, over a link that carries something each 30 ms.
                for axis in 0..<3 {
                    test.now = began + .milliseconds((period * n / 1000 + 10 * Int64(axis + 1) + 29) / 30 * 30)
                    test.take(index: n, truth: n, count: 1, channels: axis..<(axis + 1))
                }
                worst = max(worst, test.stream.placement.clock.mapPosition(at: test.now)?.uncertainty ?? 0)
            }
        }
        instants(0..<before, &test)
        #expect(worst <= 3)
        test.now = test.now + .milliseconds(period * (lost == 0 ? 20 : lost) / 1000)
        // Without a loss, all have waited.
        if lost == 0 { for n in before..<(before + 20) { test.take(index: n, truth: n, count: 1) } }
        let next = lost == 0 ? before + 20 : before + lost
        instants(next..<(next + 60), &test)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.stored == Self.truths(0..<(lost == 0 ? next : before), next..<(next + 60)))
        #expect(test.database.problems.isEmpty)
    }

    @Test("A sample that is never sent keeps its place among the blocks that are held")
    func unsentWhileHeld() {
        var test = Self.streaming()
        test.advance(samples: 407)
        test.take(index: 696, truth: 696, count: 7)
        test.stream.takeUnsent(counter: 103, count: 1, at: test.now)
        test.live(704..<900)
        test.commit()
        #expect(test.stored == Self.truths(0..<296, 696..<703, 704..<900))
        #expect(test.database.wholeGaps.contains { $0.firstN == 703 && $0.gap.count == 1 && $0.gap.cause == .notSent })
        #expect(test.database.problems.isEmpty)
    }

    @Test(
        "A counter of 128 packets that wraps after 5.12 s: the time tells how often it has",
        arguments: [70, 127, 128, 129, 200, 256] as [Int64])
    func packets(lost: Int64) {
        // RE-AK's Nucleus-Kit headset: packets of 10 samples at 250 Hz.
        var test = StreamUnderTest(modulus: 128, samplesPerCount: 10, frequency: 250)
        test.begin(rule: .connection)
        func live(_ packets: Range<Int64>) {
            for packet in packets {
                test.advance(samples: 10)
                test.take(index: packet * 10, truth: packet * 10, count: 10)
            }
        }
        live(0..<300)
        test.advance(samples: lost * 10)
        live((300 + lost)..<(500 + lost))
        test.commit()
        #expect(test.stored == Self.truths(0..<3000, (3000 + lost * 10)..<(5000 + lost * 10)))
        #expect(test.database.wholeGaps.map(\.gap.count) == [lost * 10])
        #expect(test.database.problems.isEmpty)
    }
}
