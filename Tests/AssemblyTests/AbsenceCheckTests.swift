import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// A gap before a link, whose length was taken from the arrival of the link's first block.
struct AbsenceCheckTests {
    /// Half a minute, five seconds without a link, and a link whose packets of the first so many samples come at once behind
    /// them; the rest is on time, for so many seconds.
    private static func returned(late: Int64, seconds: Int64, restarts: Bool = false) -> StreamUnderTest {
        var test = StreamUnderTest(modulus: 256)
        test.begin(rule: .connection)
        test.live(0..<7504)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.advance(samples: 1250)
        test.commit()
        if restarts { test.restart() }
        test.begin(rule: .connection)
        test.advance(samples: late)
        if late > 0 { test.atOnce(0..<late) }
        test.live(late..<(seconds * 250 / 8 * 8))
        return test
    }

    @Test("Its length is said to be as little known as the link's first blocks were late", arguments: [true, false])
    func lateFirstBlocks(restarts: Bool) throws {
        var test = Self.returned(late: 376, seconds: 20, restarts: restarts)
        test.commit()
        let gap = try #require(test.database.wholeGaps.first)
        // n counts on from there: only what is said of it changes.
        #expect(gap.firstN == 7504 && (1600...1640).contains(gap.gap.count ?? 0))
        guard case .timed(let uncertainty) = gap.gap.certainty else { return #expect(Bool(false), "\(gap)") }
        #expect((340...420).contains(uncertainty), "\(uncertainty)")
        #expect(test.database.problems.isEmpty)
    }

    @Test("The end of a short link says it, too")
    func shortLink() throws {
        var test = Self.returned(late: 376, seconds: 3)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        guard case .timed(let uncertainty)? = test.database.wholeGaps.first?.gap.certainty else { return #expect(Bool(false)) }
        #expect((340...420).contains(uncertainty), "\(uncertainty)")
    }

    @Test("Blocks that come on time leave it as it was said")
    func onTime() {
        var test = Self.returned(late: 0, seconds: 2)
        test.commit()
        let said = test.database.wholeGaps.map(\.gap.certainty)
        test.live(500..<20_500)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        #expect(test.database.wholeGaps.prefix(1).map(\.gap.certainty) == said)
        #expect(test.database.problems.isEmpty)
    }

    @Test("What a headset has kept of before the link comes at once: the gap before it is said to be shorter by as much")
    func keptFromBefore() throws {
        var test = StreamUnderTest(modulus: 256, frequency: 125)
        test.begin(rule: .connection)
        test.live(0..<3752)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        // All of what comes was taken before the link's end, but for the counter nothing shows it.
        test.advance(samples: 104)
        test.begin(rule: .connection)
        test.atOnce(3752..<3824)
        // What the queue refused is missing behind it, by the counter, and no restart.
        test.live(3856..<4000)
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        let gaps = test.database.wholeGaps
        let (before, behind) = (try #require(gaps.first), try #require(gaps.dropFirst().first))
        guard case .timed(let uncertainty) = before.gap.certainty else { return #expect(Bool(false), "\(before)") }
        #expect(uncertainty >= (before.gap.count ?? .max) - 2, "\(before)")
        #expect(behind.gap.count == 32 && behind.gap.certainty == .counted, "\(behind)")
        #expect(test.database.epochs.count == 2)
        #expect(test.database.problems.isEmpty)
    }

    @Test("What has come at once, and nothing behind it, may have waited for longer, until more has come as it is sampled")
    func burst() {
        var burst = FirstBurst()
        func note(_ n: Int64, atMilliseconds milliseconds: Int64) {
            burst.note(Arrival(n: n, nanoseconds: (1000 + milliseconds) * 1_000_000), nominalPeriod: 8e6)
        }
        note(0, atMilliseconds: 0)
        // One block by itself says nothing, and a queue that runs empty comes faster than it was filled.
        for n in Int64(1)..<50 { note(n, atMilliseconds: 100) }
        #expect(burst.waited == 49 * 8e6 - 100e6)
        for n in Int64(50)..<100 { note(n, atMilliseconds: 100 + (n - 49) * 4) }
        #expect(burst.waited == 99 * 8e6 - 300e6)
        // As it is sampled, for half as long.
        for n in Int64(100)..<125 { note(n, atMilliseconds: 300 + (n - 99) * 8) }
        #expect(burst.waited == 99 * 8e6 - 300e6)
        let latest = MonotonicTime(nanoseconds: (1000 + 300 + 25 * 8) * 1_000_000)
        #expect(burst.waited(at: latest) > 0 && burst.waited(at: latest + .milliseconds(300)) == 0)
        for n in Int64(125)..<170 { note(n, atMilliseconds: 300 + (n - 99) * 8) }
        #expect(burst.waited == 0)
        // Once over, it is over.
        for n in Int64(170)..<300 { note(n, atMilliseconds: 900) }
        #expect(burst.waited == 0)
    }
}
