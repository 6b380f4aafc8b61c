import Bluetooth
import Testing

@Suite("Monotonic time")
struct MonotonicTimeTests {
    private static let last = MonotonicTime(nanoseconds: .max)
    private static let first = MonotonicTime(nanoseconds: .min)

    @Test("adds and subtracts to the nanosecond")
    func arithmetic() {
        let time = MonotonicTime(nanoseconds: 1_000_000_007)
        #expect(time + .milliseconds(3) == MonotonicTime(nanoseconds: 1_003_000_007))
        #expect(time - .milliseconds(3) == MonotonicTime(nanoseconds: 997_000_007))
        #expect((time + .seconds(5)) - time == .seconds(5))
        #expect(time.seconds == 1.000000007)
        #expect(MonotonicTime.boot < time)
    }

    @Test("saturates at both ends instead of wrapping")
    func saturation() {
        #expect(Self.last + .nanoseconds(1) == Self.last)
        #expect(Self.first + .nanoseconds(-1) == Self.first)
        #expect(Self.first - .nanoseconds(1) == Self.first)
        #expect(Self.last - .nanoseconds(-1) == Self.last)
        #expect(MonotonicTime.boot + .seconds(Int64.max) == Self.last)
        #expect(MonotonicTime.boot + .seconds(Int64.min) == Self.first)
    }

    @Test("takes durations beyond 292 years as the longest that there is")
    func longDurations() {
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.nanoseconds(Int64.max).nanoseconds == .max)
        #expect(Duration.nanoseconds(-1).nanoseconds == -1)
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
    }
}
