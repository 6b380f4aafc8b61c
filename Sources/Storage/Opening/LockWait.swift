import Bluetooth
import Glibc
import Synchronization

/// How long a statement waits for another program that holds the lock: as SQLite's own busy time-out does
/// (https://www.sqlite.org/c3ref/busy_timeout.html), until a time is set after which nobody is to wait any more.
final class LockWait: Sendable {
    private let limit: Duration
    /// On the clock of ``MonotonicTime``.
    private let end = Atomic<Int64>(.max)

    /// Pauses between two tries, in milliseconds; the last one again and again.
    private static let pauses: [Int64] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
    /// So long is waited in any case: most locks last for a few milliseconds.
    private static let least = Duration.milliseconds(250)

    init(_ limit: Duration) { self.limit = limit }

    /// Nobody waits much longer than until `time`.
    func end(by time: MonotonicTime) { end.store(time.nanoseconds, ordering: .relaxed) }

    /// Pauses before a further try.
    ///
    /// - Parameter tries: how often this statement has been tried again.
    /// - Returns: false where it has been tried for long enough.
    func pause(after tries: Int) -> Bool {
        let waited = Self.waited(after: tries)
        guard waited < limit, waited < Self.least || now < end.load(ordering: .relaxed) else { return false }
        usleep(UInt32(1000 * Self.pauses[min(tries, Self.pauses.count - 1)]))
        return true
    }

    private static func waited(after tries: Int) -> Duration {
        let further = Int64(max(0, tries - pauses.count)) * (pauses.last ?? 0)
        return .milliseconds(pauses.prefix(tries).reduce(0, +) + further)
    }

    private var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
