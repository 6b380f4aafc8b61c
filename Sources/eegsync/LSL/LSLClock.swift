import Bluetooth

/// The clock of Lab Streaming Layer, which stands still while the machine is suspended, against the one that does not.
struct LSLClock: Hashable, Sendable {
    /// The former minus the latter, in seconds, as it was read last.
    private let offset: Double

    /// Takes a reading of both.
    ///
    /// - Parameters:
    ///   - local: seconds of liblsl's clock (`CLOCK_MONOTONIC`).
    ///   - boottime: `CLOCK_BOOTTIME` at the same instant.
    init(local: Double, boottime: MonotonicTime) { offset = local - boottime.seconds }

    /// Reads both, one between two readings of the other.
    init(_ library: LSLLibrary) {
        let before = HostClock.now
        let local = library.localClock()
        self.init(local: local, boottime: before + (HostClock.now - before) / 2)
    }

    /// The stamp of an instant.
    func stamp(_ time: MonotonicTime) -> Double { time.seconds + offset }

    /// The instant of a stamp; nil for what is none.
    func time(_ stamp: Double) -> MonotonicTime? {
        let nanoseconds = (stamp - offset) * 1e9
        return nanoseconds.isFinite ? Int64(exactly: nanoseconds.rounded()).map(MonotonicTime.init(nanoseconds:)) : nil
    }
}
