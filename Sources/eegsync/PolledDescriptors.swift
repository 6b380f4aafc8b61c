import Bluetooth
import Glibc

/// The file descriptors that a central or a peripheral wants to be watched, for a command that waits for them by itself.
final class PolledDescriptors {
    private var list: [Int32] = []

    /// Where they are added and taken out.
    var watch: DescriptorWatch {
        DescriptorWatch(
            watch: { self.list.append($0) },
            unwatch: { gone in self.list.removeAll { $0 == gone } })
    }

    /// Waits until one of them can be read, at most until an instant; at least a millisecond, so that nothing spins.
    func wait(until wakeUp: MonotonicTime, from time: MonotonicTime) {
        var waited = list.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up, so that a deadline has passed when poll(2) returns.
        let milliseconds = max(1, (wakeUp - time).nanoseconds / 1_000_000 + 1)
        _ = poll(&waited, nfds_t(waited.count), Int32(clamping: milliseconds))
    }
}
