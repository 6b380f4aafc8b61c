import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// New epochs: a headset that restarted, connections without counter, damaged counts, the recording's end.
struct StreamEpochTests {
    @Test("A restarted headset begins an epoch whose n follows from the time that has passed")
    func restartedHeadset() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(5000..<6000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 750)
        test.begin(boot: 2, oldest: 0, end: 0)
        test.live(0..<80, offset: 100_000, boot: 2)
        test.commit()
        #expect(test.database.epochs.map(\.bootIdentifier) == [1, 2])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.headsetRestarted])
        #expect(test.database.wholeGaps.first?.gap.count == 750)
        #expect(test.stored[1750] == 100_000)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A headset that claims to hold more than there was time for is placed by the time")
    func impossibleMemory() {
        var test = StreamUnderTest()
        test.begin(boot: 7, oldest: 0)
        test.live(0..<80, boot: 7)
        test.advance(samples: 2000)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.begin(boot: 7, oldest: 0, absence: .linkLost)
        test.take(index: 0x5D00_0004, truth: 5000, boot: 7)
        test.commit()
        let moved = test.stored.filter { $0.value >= 5000 }.map(\.key)
        #expect(moved.count == 8 && moved.allSatisfy { (1900..<2200).contains($0) }, "\(moved)")
        #expect(test.database.problems.isEmpty)
    }

    @Test("What a restarted headset sampled before the link came back can be read; what the old boot owed cannot")
    func restartedWithMemory() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.live(80..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 700)
        test.begin(boot: 2, oldest: 0, end: 200)
        test.live(200..<280, offset: 100_000, boot: 2)
        test.commit()
        #expect(test.stream.firstRecoverable() == 1500..<1700)
        #expect(test.stream.counter(of: 1500) == 0)
        test.take(index: 0, truth: 100_000, count: 200, boot: 2, origin: .memory)
        test.take(index: 64, truth: 64, count: 16, boot: 1, origin: .memory)
        test.commit()
        #expect(test.stored[1500] == 100_000 && test.stored[1779] == 100_279)
        #expect(test.stored[64] == nil)
        #expect(test.database.rows.count == 984 + 280)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Samples from before the recording began are not taken")
    func olderThanRecording() {
        var test = StreamUnderTest()
        test.begin(boot: 1, oldest: 0, end: 500)
        test.live(500..<580, boot: 1)
        test.take(index: 490, truth: 490, count: 20, boot: 1, origin: .memory)
        test.take(index: 100, truth: 100, count: 20, boot: 1, origin: .memory)
        test.commit()
        #expect(test.stored.count == 80 && test.stored[0] == 500)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Without a counter each connection is an epoch, and the absence is a gap as long as it took")
    func connections() {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        for _ in 0..<100 {
            test.advance(samples: 8)
            test.take(index: nil, truth: Int64(test.database.rows.count))
        }
        test.stream.endLink(cause: .silence, at: test.now)
        test.advance(samples: 500)
        test.begin(rule: .connection)
        test.advance(samples: 8)
        test.take(index: nil, truth: 9000)
        test.commit()
        #expect(test.database.epochs.count == 2)
        #expect(test.database.wholeGaps.map(\.firstN) == [800])
        #expect(test.database.wholeGaps.first?.gap.count == 500)
        #expect(test.database.wholeGaps.first?.gap.cause == .silence)
        #expect(test.stored[1300] == 9000)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Damaged packets of a stream without counter leave their places empty")
    func damaged() {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        test.take(index: nil, truth: 0)
        test.stream.takeDamaged(count: 2)
        test.stream.takeDamaged(count: 1)
        test.take(index: nil, truth: 11)
        test.commit()
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (Array(0..<8) + Array(11..<19)).map { (Int64($0), Int64($0)) }))
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.packetDamaged])
        #expect(test.database.problems.isEmpty)
    }

    @Test("What was damaged before a stream's first samples is missing from it; on a later link it belongs to the absence")
    func damagedBeforeTheFirst() {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        test.stream.takeDamaged(count: 5)
        test.take(index: nil, truth: 5)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 100)
        test.begin(rule: .connection)
        test.stream.takeDamaged(count: 3)
        test.advance(samples: 8)
        test.take(index: nil, truth: 113)
        test.take(index: nil, truth: 121)
        test.commit()
        let truths = Array(Int64(5)..<13) + Array(Int64(113)..<129)
        #expect(test.stored == Dictionary(uniqueKeysWithValues: truths.map { ($0, $0) }))
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.packetDamaged, .linkLost])
        #expect(test.database.problems.isEmpty)
    }

    @Test("What was damaged on a link whose samples never came lies in the gap that is open already", arguments: [false, true])
    func damagedWithoutSamples(endsRecording: Bool) {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        test.take(index: nil, truth: 0)
        test.stream.endLink(cause: .silence, at: test.now)
        test.commit()
        test.stream.takeDamaged(count: 2)
        test.advance(samples: 100)
        test.begin(rule: .connection)
        test.stream.takeDamaged(count: 1)
        if endsRecording { test.stream.endRecording(at: test.now) }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.stream.takeDamaged(count: 4)
        test.commit()
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [8])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.silence])
        #expect(test.database.problems.isEmpty)
    }

    @Test("What was damaged on a link whose samples never came lies in the absence since another process died")
    func damagedAfterKill() {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        test.take(index: nil, truth: 0)
        test.commit()
        test.restart()
        test.advance(samples: 100)
        test.begin(rule: .connection)
        test.stream.takeDamaged(count: 3)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        test.advance(samples: 100)
        test.begin(rule: .connection)
        test.advance(samples: 8)
        test.take(index: nil, truth: 208)
        test.commit()
        #expect(test.stored[208] == 208)
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.daemonDown])
        #expect(test.database.problems.isEmpty)
    }

    @Test("A recording that ends while the link is away ends with a gap up to its end")
    func endWhileAway() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.database.wholeGaps.map(\.gap.count) == [nil])
        test.advance(samples: 2500)
        test.stream.endRecording(at: test.now)
        test.commit()
        // The sample of the very instant of the end is not due yet.
        #expect(test.database.wholeGaps.map(\.gap.count) == [2499])
        #expect(test.stream.nextN == 3499)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A recording that ends at the very instant of the loss misses nothing")
    func endAtOnce() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        test.stream.endRecording(at: test.now)
        test.commit()
        #expect(test.database.gaps.isEmpty && test.database.problems.isEmpty)
    }

    @Test("Samples that come without a link, or after its end, are not stored behind an open gap")
    func withoutLink() {
        var test = StreamUnderTest()
        test.take(index: 0, truth: 0, boot: 1)
        test.begin(boot: 1)
        test.live(0..<80, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.take(index: 80, truth: 80, boot: 1)
        test.take(index: 96, truth: 96, boot: 1)
        test.commit()
        #expect(test.database.rows.count == 80)
        #expect(test.database.problems.isEmpty)
    }
}
