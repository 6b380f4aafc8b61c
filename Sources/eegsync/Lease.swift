import Bluetooth

/// How long a wish in the database lasts without its command, which prolongs it while it runs: what a killed command asked for
/// ends by itself.
struct Lease {
    /// How long a wish goes on where its command was killed.
    private static let length = Duration.seconds(30)

    /// When the wish ends, unless it is prolonged.
    private(set) var end: MonotonicTime
    private let limit: MonotonicTime

    /// Creates a lease that begins now.
    ///
    /// - Parameter limit: beyond which it is never prolonged.
    init(at now: MonotonicTime, limit: MonotonicTime = MonotonicTime(nanoseconds: .max)) {
        self.limit = limit
        end = min(limit, now + Self.length)
    }

    /// The new end, where it is time for one.
    mutating func prolong(at now: MonotonicTime) -> MonotonicTime? {
        guard end - now < Self.length / 2, end < limit else { return nil }
        end = min(limit, now + Self.length)
        return end
    }
}
