import Bluetooth
import Headsets
import Testing

@testable import Assembly

/// Wraps that one stream of a headset shows, for another one that cannot see where they lie.
struct MissedWrapsTests {
    /// What another stream says, and what comes of it.
    enum Lent: CaseIterable {
        /// Nothing.
        case none
        /// As many wraps, missed where they were.
        case rightly
        /// The same, and what came before and behind them came at one instant.
        case atOnce
        /// Of a pause before this one.
        case before
        /// More of them than this stream's time shows.
        case tooMany
        /// Of a counter that wraps at other moments.
        case otherPeriod

        /// True where it decides.
        var decides: Bool { self == .rightly || self == .atOnce }
    }

    /// A stream like a Ganglion's acceleration, behind a radio that was silent: the queue kept three instants, and then a whole
    /// wrap is missing, so that the counter goes on.
    private static func hiddenWrap(_ lent: Lent) -> StreamUnderTest {
        var test = StreamUnderTest(modulus: 10, frequency: 10)
        test.begin(rule: .connection)
        func live(_ range: Range<Int64>) {
            for n in range {
                test.advance(samples: 1)
                test.take(index: n, truth: n, count: 1)
            }
        }
        live(0..<100)
        let pause = test.notification
        test.advance(samples: 12)
        for n in Int64(100)..<103 {
            test.now = test.now + .milliseconds(20)
            test.take(index: n, truth: n, count: 1)
        }
        if lent != .atOnce { test.now = test.now + .milliseconds(20) }
        test.take(index: 113, truth: 113, count: 1)
        var missed = MissedWraps(notification: test.notification, count: 1, period: 1.005)
        switch lent {
        case .none, .rightly, .atOnce: break
        case .before: missed.notification = pause
        case .tooMany: missed.count = 2
        case .otherPeriod: missed.period = 1.02
        }
        if lent != .none { test.stream.learn(of: missed) }
        live(114..<140)
        test.commit()
        return test
    }

    @Test("A wrap that nothing shows lies where another stream has missed it", arguments: Lent.allCases)
    func hidden(lent: Lent) throws {
        let test = Self.hiddenWrap(lent)
        let gap = try #require(test.database.wholeGaps.first)
        #expect(test.database.wholeGaps.count == 1 && gap.gap.count == 10 && test.database.problems.isEmpty)
        #expect(gap.firstN == (lent.decides ? 103 : 100))
        #expect(test.stored.allSatisfy { $0.key == $0.value } == lent.decides)
        #expect(gap.gap.certainty == (lent.decides ? .counted : .timed(uncertainty: 10)))
    }

    @Test("A stream says once what it has surely missed, and nothing where it is in doubt")
    func said() throws {
        var test = StreamUnderTest(modulus: 200, frequency: 200)
        test.begin(rule: .connection)
        test.live(0..<296)
        test.advance(samples: 360)
        test.live(656..<664)
        let notification = test.notification
        #expect(!test.stream.hasMissedWraps)
        test.live(664..<856)
        #expect(test.stream.hasMissedWraps)
        let missed = test.stream.takeMissedWraps()
        #expect(missed == MissedWraps(notification: notification, count: 2, period: 1))
        let again = test.stream.takeMissedWraps()
        #expect(again == nil && !test.stream.hasMissedWraps)
        var doubtful = Self.hiddenWrap(.none)
        let none = doubtful.stream.takeMissedWraps()
        #expect(none == nil)
    }
}
