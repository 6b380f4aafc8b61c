package import Bluetooth

/// How many bytes a second may go out. Pure: whoever sends says how many, and waits for as long as is answered.
package struct SendingRate: Hashable, Sendable {
    /// 1 or more.
    package let bytesPerSecond: Int64
    /// When all that was sent would have gone out at this rate.
    private var end: MonotonicTime?

    /// - Parameter bytesPerSecond: 1 or more.
    package init(bytesPerSecond: Int64) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The most bytes that are sent at once: a quarter of a second's.
    package var pieceSize: Int { Int(min(1 << 20, max(1024, bytesPerSecond / 4))) }

    /// Notes bytes that were sent.
    ///
    /// - Returns: for how long nothing more may be sent. What was not used before is not made up for.
    package mutating func pause(after bytes: Int, at now: MonotonicTime) -> Duration {
        let start = end.map { max($0, now) } ?? now
        let end = start + .nanoseconds(Int64((Double(bytes) / Double(bytesPerSecond) * 1e9).rounded()))
        self.end = end
        return end - now
    }

    /// A pause in parts, of which none is longer than so much; none for no pause.
    ///
    /// - Parameter maximum: more than zero.
    static func parts(of pause: Duration, atMost maximum: Duration) -> [Duration] {
        guard pause > .zero, maximum > .zero else { return [] }
        let whole = Int(pause / maximum)
        let rest = pause - maximum * whole
        return Array(repeating: maximum, count: whole) + (rest > .zero ? [rest] : [])
    }
}
