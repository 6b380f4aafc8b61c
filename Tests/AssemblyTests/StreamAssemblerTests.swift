import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// The place of each block: contiguous, duplicate, overlapping, reordered, lost, wrapped.
struct StreamAssemblerTests {
    @Test("Contiguous blocks become contiguous rows from n 0, whatever the headset's counter says")
    func contiguous() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(1000..<1256, boot: 1)
        test.commit()
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<256).map { ($0, $0 + 1000) }))
        #expect(test.database.gaps.isEmpty && test.database.problems.isEmpty)
        #expect(test.stream.settledN == 256)
    }

    @Test("A block that comes again, or overlaps what is there, is stored once")
    func duplicates() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.take(index: 56, truth: 56, boot: 1)
        test.take(index: 60, truth: 60, boot: 1)
        test.commit()
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<68).map { ($0, $0) }))
        #expect(test.stream.rows.duplicateCount == 12)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A block that another one overtook fills its gap, and the ledger keeps no trace of it")
    func reordered() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.advance(samples: 16)
        test.take(index: 72, truth: 72, boot: 1)
        test.take(index: 64, truth: 64, boot: 1)
        let batch = test.commit()
        #expect(!batch.changes.contains { if case .ledger = $0 { true } else { false } })
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<80).map { ($0, $0) }))
        #expect(test.database.problems.isEmpty)
    }

    @Test("A lost block is a gap, and recovered when it is read from memory")
    func lostThenRead() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.live(80..<400, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [64])
        #expect(test.stream.firstRecoverable() == 64..<80)
        #expect(test.stream.settledN == 64)
        test.take(index: 56, truth: 56, count: 12, boot: 1, origin: .memory)
        test.commit()
        #expect(test.stream.firstRecoverable() == 68..<80)
        test.take(index: 68, truth: 68, count: 20, boot: 1, origin: .memory)
        test.commit()
        #expect(test.database.wholeGaps.first?.gap.recovered == 16)
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<400).map { ($0, $0) }))
        #expect(test.stream.settledN == 400)
        #expect(test.database.problems.isEmpty)
    }

    @Test("What the headset cannot send any more stays missing, and is not asked for")
    func overwritten() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.live(80..<400, boot: 1)
        test.stream.giveUp(from: 60, end: 72)
        #expect(test.stream.firstRecoverable() == 72..<80)
        test.stream.giveUp(from: 72, end: 80)
        #expect(test.stream.firstRecoverable() == nil)
        #expect(test.stream.settledN == 400)
        test.commit()
        #expect(test.database.problems.isEmpty)
    }

    @Test("The counter may wrap, on a link and between two links", arguments: [Int64(1) << 32, 1 << 16])
    func wrap(modulus: Int64) {
        var test = StreamUnderTest(modulus: modulus)
        test.begin(boot: 1)
        test.live((modulus - 40)..<(modulus + 40), offset: 40 - modulus, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 80)
        test.begin(boot: 1, oldest: 0, end: 120)
        test.live((modulus + 120)..<(modulus + 160), offset: 40 - modulus, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [80])
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.rows.count == 120)
        #expect(test.stream.counter(of: 40) == 0)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A small counter that wrapped many times while the link was away is unwrapped by the time that passed")
    func smallCounterAcrossLinks() {
        var test = StreamUnderTest(modulus: 256)
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 5000)
        test.begin(boot: 1)
        test.live(6000..<6080, boot: 1)
        test.commit()
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.rows.count == 1080)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A counter of packets counts samples in steps")
    func packetCounter() {
        var test = StreamUnderTest(modulus: 16, samplesPerCount: 8)
        test.begin(rule: .connection)
        test.live(8..<1008)
        test.live(1024..<1040)
        test.commit()
        #expect(test.stored.allSatisfy { $0.key + 8 == $0.value })
        #expect(test.database.wholeGaps.map(\.firstN) == [1000])
        #expect(test.database.problems.isEmpty)
    }

    @Test("A full buffer is a gap with cause queueOverflow, and what is missing comes later from memory")
    func fullBuffer() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.hasRoom = false
        test.live(64..<128, boot: 1)
        test.take(index: 64, truth: 64, boot: 1, origin: .memory)
        test.hasRoom = true
        test.live(128..<192, boot: 1)
        test.commit()
        #expect(Set(test.database.wholeGaps.map(\.gap.cause)) == [.queueOverflow])
        #expect(test.database.rows.count == 128)
        test.take(index: 64, truth: 64, count: 64, boot: 1, origin: .memory)
        test.commit()
        #expect(test.database.rows.count == 192)
        #expect(test.stored.allSatisfy { $0.key == $0.value })
        #expect(test.database.problems.isEmpty)
    }

    @Test("A buffer that is full because nothing can be written is a gap of its own, with that cause")
    func failingStorage() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.hasRoom = false
        test.live(64..<96, boot: 1)
        test.stream.overflowCause = .storageUnavailable
        test.live(96..<160, boot: 1)
        test.hasRoom = true
        test.live(160..<192, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.queueOverflow, .storageUnavailable])
        #expect(test.database.wholeGaps.map(\.gap.count) == [32, 64])
        #expect(test.database.problems.isEmpty)
    }

    @Test("A buffer that stays full for an hour is one gap, however many blocks are dropped")
    func longOverflow() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.hasRoom = false
        test.live(64..<8064, boot: 1)
        test.commit()
        test.live(8064..<9064, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.gap.count) == [9000])
        #expect(test.stream.firstRecoverable() == 64..<9064)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Blocks that do not fit the description change nothing")
    func malformed() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        for block in [
            SampleBlock(stream: 0, counter: 0, channelCount: 3, instantCount: 1, values: 0..<3),
            SampleBlock(stream: 0, counter: 0, firstChannel: 1, channelCount: 2, instantCount: 1, values: 0..<2),
            SampleBlock(stream: 0, counter: 0, channelCount: 2, instantCount: 0, values: 0..<0),
            SampleBlock(stream: 0, counter: 0, channelCount: 2, instantCount: 2, values: 0..<3),
        ] {
            test.stream.take(
                block, Array(repeating: 1, count: block.values.count)[...], at: test.now, in: 1, hasRoom: true)
        }
        #expect(!test.stream.hasSamples && test.stream.rows.draft.rowCount == 0)
    }

    @Test("The halves of an instant that bears no counter never join those of another", arguments: 0..<64)
    func halves(lost: Int) {
        var test = StreamUnderTest(modulus: nil, channels: 2, frequency: 1)
        test.begin(rule: .connection)
        // Three instants of two halves each; a bit for each half says that it is lost.
        for half in 0..<6 where lost >> half & 1 == 0 {
            test.now = .boot + .seconds(Int64(3600 + half / 2)) + .milliseconds(Int64(30 * (half % 2)))
            let channel = half % 2
            test.take(index: nil, truth: Int64(half / 2), count: 1, channels: channel..<(channel + 1))
        }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        for row in test.database.rows.values {
            let truths = row.enumerated().compactMap { channel, value in value.map { (Int64($0) - Int64(channel)) / 8 } }
            #expect(Set(truths).count == 1, "\(row)")
        }
        let whole = (0..<3).filter { lost >> (2 * $0) & 3 == 0 }.count
        #expect(test.database.rows.values.filter { !$0.contains(nil) }.count == whole)
    }
}
