import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// A process that goes on with what an earlier one left in the database.
struct StreamResumeTests {
    @Test("After a kill without warning the absence is ledgered by this process's cause, and the same epoch goes on")
    func killed() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.commit()
        test.live(1000..<1100, boot: 1)
        test.restart()
        test.advance(samples: 400)
        test.begin(boot: 1, oldest: 0, end: 1500)
        test.live(1500..<1580, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [1000])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.daemonDown])
        #expect(test.stream.firstRecoverable() == 1000..<1500)
        test.take(index: 1000, truth: 1000, count: 500, boot: 1, origin: .memory)
        test.commit()
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<1580).map { ($0, $0) }))
        #expect(test.database.epochs.count == 1 && test.database.problems.isEmpty)
    }

    @Test("What people corrected in the database is no other shape of the headset; another scale that it tells is")
    func corrected() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<80, boot: 1)
        test.commit()
        var state = test.database.resumeState(test.description)
        for channel in state.description.channels.indices {
            state.description.channels[channel].scale *= 2
            state.description.channels[channel].name += " (corrected)"
        }
        let stream = StreamAssembler(resuming: state)
        #expect(stream.hasShape(of: test.description))
        #expect(!stream.hasShape(of: state.description))
        #expect(stream.description.channels[0].scale == 2 * test.description.channels[0].scale)
    }

    @Test("A stored open gap is closed with its cause, and with the time at which it was noticed")
    func openGap() throws {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        let noticed = test.now
        test.commit()
        test.restart()
        test.advance(samples: 400)
        test.begin(boot: 1)
        test.live(1400..<1480, boot: 1)
        test.commit()
        let gap = try #require(test.database.wholeGaps.first?.gap)
        #expect(gap == StoredStream.Gap(count: 400, cause: .linkLost, noticed: noticed, certainty: .counted))
        #expect(test.database.problems.isEmpty)
    }

    @Test("A stored open gap whose beginning was overwritten in the headset's memory is split")
    func overrun() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<1000, boot: 1)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        test.restart()
        test.advance(samples: 1000)
        test.begin(boot: 1, oldest: 1700, end: 2000)
        test.live(2000..<2080, boot: 1)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [1000, 1700])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.bufferOverrun, .linkLost])
        #expect(test.database.wholeGaps.allSatisfy { $0.gap.noticed > .boot })
        #expect(test.stream.firstRecoverable() == 1700..<2000)
        #expect(test.database.problems.isEmpty)
    }

    @Test("What was still missing, rows and channels, is filled by the process that comes after")
    func oldGaps() {
        var test = StreamUnderTest()
        test.begin(boot: 1)
        test.live(0..<64, boot: 1)
        test.take(index: 64, truth: 64, boot: 1, channels: 0..<1)
        test.live(80..<160, boot: 1)
        test.commit()
        test.restart()
        test.begin(boot: 1, oldest: 0, end: 168)
        test.live(168..<240, boot: 1)
        test.take(index: 56, truth: 56, count: 112, boot: 1, origin: .memory)
        test.commit()
        #expect(test.stored == Dictionary(uniqueKeysWithValues: (0..<240).map { ($0, $0) }))
        #expect(test.database.rows.values.allSatisfy { !$0.contains(nil) })
        #expect(test.stream.settledN == 240)
        #expect(test.database.problems.isEmpty)
    }

    @Test("After a restart of the host n goes on: only the clocks know how long the gap is, and its count is 0")
    func otherHostBoot() {
        var test = StreamUnderTest(modulus: nil)
        test.begin(rule: .connection)
        test.take(index: nil, truth: 0)
        test.commit()
        test.restart(isSameHostBoot: false)
        test.now = MonotonicTime(nanoseconds: 20_000_000_000)
        test.begin(rule: .connection, absence: .hostRestarted)
        test.take(index: nil, truth: 500)
        test.commit()
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.hostRestarted])
        #expect(test.database.wholeGaps.map(\.gap.count) == [0])
        #expect(test.stored[8] == 500)
        #expect(test.database.rows.count == 16)
        #expect(test.database.problems.isEmpty)
    }

    /// 80 samples of one boot of the host, and a process in the next one.
    private static func behindHostBoot() -> StreamUnderTest {
        var test = StreamUnderTest()
        test.begin(rule: .connection)
        test.live(0..<80)
        test.commit()
        test.restart(isSameHostBoot: false)
        return test
    }

    @Test("A gap between two boots of the host is written with the first row behind it: a death between the two leaves one gap")
    func deathBehindHostBoot() {
        var test = Self.behindHostBoot()
        test.begin(rule: .connection, absence: .hostRestarted)
        // Of the first row one channel has come.
        test.take(index: 0, truth: 500, count: 1, channels: 0..<1)
        let batch = test.commit()
        #expect(batch.isEmpty)
        test.stream = StreamAssembler(resuming: test.database.resumeState(test.description, isSameHostBoot: false))
        test.begin(rule: .connection, absence: .hostRestarted)
        test.live(0..<16, offset: 1000)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [80])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.hostRestarted])
        #expect(test.stored[80] == 1000)
        #expect(test.database.problems.isEmpty)
    }

    @Test("A full buffer takes the first block behind a restart of the host: what was missing before is not replaced")
    func fullBufferBehindHostBoot() {
        var test = Self.behindHostBoot()
        test.hasRoom = false
        test.begin(rule: .connection, absence: .hostRestarted)
        test.live(0..<24, offset: 1000)
        test.hasRoom = true
        test.live(24..<32, offset: 1000)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [80, 88])
        #expect(test.database.wholeGaps.map(\.gap.cause) == [.hostRestarted, .queueOverflow])
        #expect(test.database.wholeGaps.map(\.gap.count) == [0, 16])
        #expect(test.stored[80] == 1000 && test.stored[104] == 1024)
        #expect(test.database.problems.isEmpty)
    }

    @Test("Behind a restart of the host a bank begins where the others do: what it lacks is a gap of its own, at another n")
    func bankBehindHostRestart() {
        var test = StreamUnderTest()
        test.begin(rule: .connection)
        test.live(0..<80)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        test.restart(isSameHostBoot: false)
        test.begin(rule: .connection)
        var bank = StreamUnderTest()
        bank.begin(boot: 1)
        bank.live(0..<100, boot: 1)
        test.stream.align(with: bank.stream, at: nil)
        test.live(0..<16, offset: 1000)
        test.commit()
        #expect(test.database.wholeGaps.map(\.firstN) == [80, 100])
        #expect(test.database.wholeGaps.map(\.gap.count) == [20, 0])
        #expect(test.stored[100] == 1000 && test.stored[115] == 1015)
        #expect(test.database.problems.isEmpty)
    }

    @Test("After a restart of the host a counter of the same boot of the headset still counts what is missing")
    func countedAcrossHostBoots() {
        var test = StreamUnderTest()
        test.begin(boot: 7)
        test.live(0..<800, boot: 7)
        test.commit()
        test.restart(isSameHostBoot: false)
        test.now = MonotonicTime(nanoseconds: 20_000_000_000)
        test.begin(boot: 7, absence: .hostRestarted)
        test.live(90_000..<90_800, boot: 7)
        test.commit()
        #expect(test.database.wholeGaps.map(\.gap.count) == [89_200])
        #expect(test.database.wholeGaps.map(\.gap.certainty) == [.counted])
        #expect(test.stored[90_000] == 90_000)
        #expect(test.database.problems.isEmpty)
    }
}
