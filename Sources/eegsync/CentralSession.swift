import Bluetooth
import Glibc

/// A central for the time of one command: made, asked, and dropped. It runs on the thread that calls.
final class CentralSession {
    /// The central.
    let central: any Bluetooth.Central
    private let descriptors: Descriptors
    private let now: () -> MonotonicTime

    /// What the central wants to be watched.
    private final class Descriptors {
        var list: [Int32] = []
    }

    /// Makes a central.
    ///
    /// - Parameters:
    ///   - makeCentral: gets what watches file descriptors.
    ///   - now: the clock; ``HostClock``'s but in tests.
    init(now: @escaping () -> MonotonicTime = { HostClock.now }, makeCentral: (DescriptorWatch) -> any Bluetooth.Central) {
        let descriptors = Descriptors()
        self.descriptors = descriptors
        self.now = now
        central = makeCentral(
            DescriptorWatch(
                watch: { descriptors.list.append($0) },
                unwatch: { gone in descriptors.list.removeAll { $0 == gone } }))
    }

    /// Processes the central until `isDone` says so, or the time is over.
    ///
    /// - Parameters:
    ///   - limit: how long at most.
    ///   - tick: how often `isDone` is asked at least.
    ///   - isDone: gets what has happened since it was asked last, and how much of the time is over.
    func run(for limit: Duration, tick: Duration = .milliseconds(100), until isDone: ([CentralEvent], Duration) -> Bool) {
        let start = now()
        let end = start + limit
        while true {
            let time = now()
            if isDone(central.process(at: time), min(time, end) - start) || time >= end { return }
            wait(until: min(end, time + tick, central.deadline ?? end), from: time)
        }
    }

    private func wait(until wakeUp: MonotonicTime, from time: MonotonicTime) {
        var waited = descriptors.list.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up, so that a deadline has passed when poll(2) returns; at least a millisecond, so that nothing spins.
        let milliseconds = max(1, (wakeUp - time).nanoseconds / 1_000_000 + 1)
        _ = poll(&waited, nfds_t(waited.count), Int32(clamping: milliseconds))
    }
}
