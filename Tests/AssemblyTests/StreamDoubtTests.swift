import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Assembly

/// Counters that lie: flipped bits, jumps that no time bears out, and headsets that count anew while the link stays up.
struct StreamDoubtTests {
    /// Frames of one sample, as a Cyton sends them; `counter` may say something else than the truth.
    private static func frames(
        _ test: inout StreamUnderTest, _ truths: Range<Int64>, counter: (Int64) -> Int64? = { $0 }
    ) {
        for truth in truths {
            test.advance(samples: 1)
            if let index = counter(truth) { test.take(index: index, truth: truth, count: 1) }
        }
    }

    @Test("A headset that repeats a count for ever fills no memory")
    func repeatedForEver() {
        var doubtful = DoubtfulBlocks()
        let block = SampleBlock(
            stream: 0, counter: 5000, bootIdentifier: nil, firstChannel: 0, channelCount: 1, instantCount: 1, values: 0..<1,
            origin: .live, isSummed: false, deviceTicks: nil)
        for number in 0..<10_000 {
            let received = ReceivedBlock(
                block: block, values: [1][...], arrival: MonotonicTime(nanoseconds: Int64(number) * 4_000_000),
                notification: UInt64(number), hasRoom: true)
            let verdict = doubtful.judge(
                received, index: 5000, heldIndex: 5000, expected: 100, isBorneOut: false, isWhole: true, isMissing: false,
                isDuplicate: false)
            #expect(verdict == .held)
        }
        for number in 0..<10_000 {
            doubtful.append(unsent: 5000, count: 1, index: 5000, at: MonotonicTime(nanoseconds: Int64(number)))
        }
        #expect(doubtful.takeEntries().count == 2048)
    }

    @Test("A flipped bit of an 8-bit counter is a damaged frame: nothing else is missing, nothing is shifted", arguments: 0..<8)
    func flippedBit(bit: Int64) {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<5000) { $0 % 250 == 100 && $0 > 500 ? $0 ^ (1 << bit) : $0 }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        let damaged = (0..<5000).filter { $0 % 250 == 100 && $0 > 500 }
        #expect(test.database.wholeGaps.dropLast().map(\.firstN) == damaged.map(Int64.init))
        #expect(test.database.wholeGaps.dropLast().allSatisfy { $0.gap.count == 1 && $0.gap.cause == .packetDamaged })
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.stored.count == 5000 - damaged.count)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A counter far ahead, once, is a damaged frame", arguments: [Int64(1) << 30, 20_000, 3_000_000_000])
    func farAhead(jump: Int64) {
        var test = StreamUnderTest()
        test.begin(rule: .connection)
        Self.frames(&test, 0..<3000) { $0 == 1500 ? $0 + jump : $0 }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [1500])
        #expect(test.database.wholeGaps.map(\.gap.count) == [1])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.packetDamaged])
        #expect(test.stored.allSatisfy { $0.key == $0.value })
    }

    @Test("Frames whose counters are all noise store nothing, and nothing is lost by them")
    func noise() {
        var test = StreamUnderTest()
        var random = SeededGenerator(seed: 3)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<1000)
        Self.frames(&test, 1000..<1200) { _ in Int64(random.below(1 << 32)) }
        Self.frames(&test, 1200..<2000)
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.stored.count >= 1790)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A headset that counts anew while the link stays up begins an epoch: no sample is dropped, no time is moved")
    func countsAnew() {
        var test = StreamUnderTest(modulus: 65536)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<5000)
        Self.frames(&test, 5000..<10_000) { $0 - 5000 }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.stored.count == 10_000)
        #expect(test.database.epochs.count == 2)
        #expect(test.stored.allSatisfy { abs($0.key - $0.value) <= 30 })
        #expect(test.database.wholeGaps.allSatisfy { $0.gap.cause == .headsetRestarted && $0.gap.certainty != .counted })
        #expect(test.database.problems.isEmpty)
    }

    @Test("A counter that begins anew at any phase of its wrap drops nothing unseen", arguments: [Int64(128), 256])
    func countsAnewAnywhere(modulus: Int64) {
        for phase in 0..<modulus {
            var test = StreamUnderTest(modulus: modulus)
            let (at, end) = (4 * modulus + phase, 8 * modulus + 500)
            test.begin(rule: .connection)
            Self.frames(&test, 0..<at)
            Self.frames(&test, at..<end) { $0 - at }
            test.stream.endRecording(at: test.now)
            test.commit()
            // A count that goes back by one or two looks like frames that came twice.
            let twice = phase <= 2 ? phase : 0
            #expect(Int64(test.stored.count) == end - twice, "phase \(phase)")
            #expect(test.database.problems.isEmpty, "phase \(phase)")
        }
    }

    @Test("Frames that come five at a time drop nothing either, however the five lie", arguments: Int64(0)..<5)
    func countsAnewInPieces(offset: Int64) {
        // Fewer than a piece has look like frames of it that came twice.
        for phase in Int64(5)..<256 {
            var test = StreamUnderTest(modulus: 256)
            let at = 4 * 256 + phase
            let end = (at + 1000) / 5 * 5
            test.begin(rule: .connection)
            for truth in 0..<end {
                if truth % 5 == offset { test.advance(samples: 5) }
                test.take(index: truth < at ? truth : truth - at, truth: truth, count: 1)
            }
            test.stream.endRecording(at: test.now)
            test.commit()
            #expect(Int64(test.stored.count) == end, "phase \(phase)")
        }
    }

    @Test("Packets of ten samples whose counter begins anew drop nothing either", arguments: Int64(0)..<128)
    func packetsCountAnew(phase: Int64) {
        var test = StreamUnderTest(modulus: 128, samplesPerCount: 10)
        test.begin(rule: .connection)
        let at = 3 * 128 + phase
        for packet in 0..<(at + 200) {
            test.advance(samples: 10)
            test.take(index: (packet < at ? packet : packet - at) * 10, truth: packet * 10, count: 10)
        }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.rows.count == (at + 200 - (phase <= 2 ? phase : 0)) * 10)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Frames that come twice at once, a run of them, are no count that begins anew", arguments: [Int64(1), 3, 40])
    func repeatedRun(count: Int64) {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<1000)
        for truth in (1000 - count)..<1000 { test.take(index: truth, truth: truth, count: 1) }
        Self.frames(&test, 1000..<2000)
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.stored.count == 2000 && test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.gaps.isEmpty && test.database.problems.isEmpty)
    }

    @Test(
        "A piece of blocks that comes twice is stored once: however late its copy comes, and whatever stalls behind it",
        arguments: Int64(3)...7, [Int64(0), 3, 20])
    func repeatedPiece(blocks: Int64, milliseconds: Int64) {
        let cases: [(samplesPerBlock: Int, stall: Int64)] = [
            (1, 0), (1, blocks / 2 + 1), (1, 3 * blocks), (1, 40), (4, 0), (4, 2 * blocks + 1),
        ]
        for (samplesPerBlock, stall) in cases {
            var test = StreamUnderTest(modulus: 256, samplesPerCount: samplesPerBlock)
            test.begin(rule: .connection)
            let (count, start) = (Int64(samplesPerBlock), test.now)
            var earliest = start
            func take(_ piece: Int64, _ test: inout StreamUnderTest) {
                for block in (piece * blocks)..<((piece + 1) * blocks) {
                    test.take(index: block * count, truth: block * count, count: samplesPerBlock)
                }
            }
            for piece in Int64(0)..<400 {
                test.now = start
                test.advance(samples: (piece + 1) * blocks * count)
                test.now = max(test.now, earliest)
                take(piece, &test)
                guard piece == 200 else { continue }
                test.now = test.now + .milliseconds(milliseconds)
                take(piece, &test)
                test.advance(samples: stall)
                earliest = test.now
            }
            test.stream.endRecording(at: test.now)
            test.commit()
            #expect(Int64(test.stored.count) == 400 * blocks * count && test.stored.allSatisfy { $0.key == $0.value })
            #expect(test.database.epochs.count == 1 && test.database.gaps.isEmpty && test.database.problems.isEmpty)
        }
    }

    @Test(
        "A notification that cuts frames at both ends and comes twice spoils one frame, and stores none twice",
        arguments: Int64(3)...7)
    func repeatedCutPiece(frames: Int64) {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<1000)
        // Whole frames; then the head of the next one, which the tail of the one before completes; the whole ones once more.
        let next = 1000 + frames
        test.advance(samples: frames)
        for truth in 1000..<next { test.take(index: truth, truth: truth, count: 1) }
        test.take(index: next, truth: 999, count: 1)
        for truth in 1000..<next { test.take(index: truth, truth: truth, count: 1) }
        test.advance(samples: frames)
        for truth in next..<(next + frames) { test.take(index: truth, truth: truth, count: 1) }
        Self.frames(&test, (next + frames)..<2000)
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.stored.count == 2000 && test.stored.allSatisfy { $0.key == $0.value || $0.key == next })
        #expect(test.database.epochs.count == 1 && test.database.gaps.isEmpty && test.database.problems.isEmpty)
    }

    @Test("Frames that have changed their order right behind a loss are all stored", arguments: [Int64(1), 2, 100])
    func swappedBehindLoss(lost: Int64) {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<1000)
        let next = 1000 + lost
        test.advance(samples: lost + 2)
        test.take(index: next + 1, truth: next + 1, count: 1)
        test.take(index: next, truth: next, count: 1)
        Self.frames(&test, (next + 2)..<2000)
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(Set(test.stored.keys) == Set(0..<1000).union(next..<2000))
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.problems.isEmpty)
    }

    @Test("Lost frames are counted, wherever it wraps", arguments: [Int64(1), 5, 100, 127, 128, 200, 255, 300, 700])
    func lost(count: Int64) {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        Self.frames(&test, 0..<6000) { (5000..<(5000 + count)).contains($0) ? nil : $0 }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [5000])
        #expect(test.database.wholeGaps.map(\.gap.count) == [count])
        #expect(test.database.wholeGaps.map(\.gap.certainty) == [.counted])
        #expect(test.stored.allSatisfy { $0.key == $0.value })
    }

    @Test("One channel's packet whose counter is far ahead is damaged: the other channels and all times stay as they are")
    func oneChannel() {
        var test = StreamUnderTest(modulus: 65536, samplesPerCount: 12)
        test.begin(rule: .connection)
        for packet in Int64(0)..<200 {
            test.advance(samples: 12)
            let isDamaged = packet == 100
            test.take(index: (packet + (isDamaged ? 20_000 : 0)) * 12, truth: packet * 12, count: 12, channels: 0..<1)
            test.take(index: packet * 12, truth: packet * 12, count: 12, channels: 1..<2)
        }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.rows.count == 2400)
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.wholeGaps.isEmpty)
        #expect(test.database.gaps.map { "\($0.key.firstN) \($0.key.channel) \($0.value.count ?? 0)" } == ["1200 1 12"])
    }

    @Test("Crystals that are off lose nothing, and no wrap is invented", arguments: [245.5, 248.75, 249.5, 251.25, 254.5])
    func crystals(frequency: Double) {
        var test = StreamUnderTest(modulus: 256)
        var random = SeededGenerator(seed: 8)
        test.begin(rule: .connection)
        let start = test.now
        var arrival = start
        for truth in Int64(0)..<Int64(frequency * 600) {
            let second = Double(truth) / frequency
            let within = second.truncatingRemainder(dividingBy: 60)
            var late = random.exponential() * 4e6 + (random.strikes(0.05) ? 70e6 : 0)
            if within >= 30, within < 31 { late = max(late, (31 - within) * 1e9) }
            arrival = max(arrival, start + .nanoseconds(Int64(second * 1e9 + late)))
            test.now = arrival
            test.take(index: truth, truth: truth, count: 1)
            if truth % 1000 == 0 { test.commit() }
        }
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.gaps.isEmpty)
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.problems.isEmpty)
    }
}
