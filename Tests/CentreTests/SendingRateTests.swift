import Bluetooth
import Testing

@testable import Centre

/// How fast samples go out.
@Suite struct SendingRateTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test func piecesThatFollowEachOtherKeepTheRate() {
        var rate = SendingRate(bytesPerSecond: 10_000)
        var now = Self.start
        for _ in 1...100 { now = now + rate.pause(after: 2_500, at: now) }
        #expect(now - Self.start == .seconds(25))
    }

    @Test func aLongPauseIsMadeOfParts() {
        func parts(_ pause: Duration) -> [Duration] { SendingRate.parts(of: pause, atMost: .seconds(30)) }
        #expect(parts(.zero).isEmpty && parts(.seconds(-1)).isEmpty)
        #expect(parts(.seconds(7)) == [.seconds(7)])
        #expect(parts(.seconds(60)) == [.seconds(30), .seconds(30)])
        #expect(parts(.milliseconds(70_250)) == [.seconds(30), .seconds(30), .milliseconds(10_250)])
    }

    @Test func whatSendingItselfTookCounts() {
        var rate = SendingRate(bytesPerSecond: 10_000)
        #expect(rate.pause(after: 10_000, at: Self.start) == .seconds(1))
        // The next piece took half a second to send.
        #expect(rate.pause(after: 10_000, at: Self.start + .milliseconds(1_500)) == .seconds(1))
        #expect(rate.pause(after: 10_000, at: Self.start + .milliseconds(2_500)) == .seconds(1))
    }

    @Test func aSlowLineWaitsForNothing() {
        var rate = SendingRate(bytesPerSecond: 10_000)
        var now = Self.start
        for _ in 1...10 {
            now = now + .seconds(2)
            // A second's worth in two seconds: what was not used is not made up for, and nothing is owed.
            #expect(rate.pause(after: 10_000, at: now) == .seconds(1))
        }
    }

    @Test func aPieceIsAQuarterOfASecond() {
        #expect(SendingRate(bytesPerSecond: 100_000).pieceSize == 25_000)
        #expect(SendingRate(bytesPerSecond: 1).pieceSize == 1024)
        #expect(SendingRate(bytesPerSecond: .max).pieceSize == 1 << 20)
        #expect(SendingRate(bytesPerSecond: -5).bytesPerSecond == 1)
    }
}
