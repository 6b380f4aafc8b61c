import Bluetooth

/// Transactions before their interval has passed, where they are rare: whoever looks at the database sees soon what a headset
/// does.
///
/// They are bounded: a link that flaps without an end costs a card no more than twice the transactions of one that holds.
struct EarlyCommits {
    /// So long after a change: with the first samples of a headset that is back.
    static let delay = Duration.seconds(1)
    /// So many come within as many intervals.
    static let countMaximum = 3

    /// When the latest of them were due, ascending.
    private var latest: [MonotonicTime] = []

    /// When what has just changed is to be committed.
    ///
    /// - Parameters:
    ///   - next: when the next commit is due anyway.
    ///   - interval: the time between two commits.
    /// - Returns: an earlier instant; nil where there is none.
    mutating func take(at now: MonotonicTime, before next: MonotonicTime, interval: Duration) -> MonotonicTime? {
        var due = now + Self.delay
        if latest.count == Self.countMaximum, let first = latest.first {
            due = max(due, first + interval * Self.countMaximum)
        }
        guard due < next else { return nil }
        latest = latest.suffix(Self.countMaximum - 1) + [due]
        return due
    }
}
