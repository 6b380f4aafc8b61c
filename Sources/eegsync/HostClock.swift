import Bluetooth
import CLinux
import Storage

/// The clocks of this machine, read at the edge of the program.
enum HostClock {
    /// Now.
    static var now: MonotonicTime { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) }

    /// For how long the machine was suspended since its boot; right to some microseconds.
    private static var suspended: Duration {
        let monotonic = clinux_monotonic_nanoseconds()
        return .nanoseconds(max(0, clinux_boottime_nanoseconds() - monotonic))
    }

    /// What turns boottimes of the present boot into UTC, as far as the machine knows.
    static func offset() -> ClockOffsetRecord {
        let before = clinux_boottime_nanoseconds()
        let wall = clinux_realtime_nanoseconds()
        let after = clinux_boottime_nanoseconds()
        // The wall clock was read between the two; halfway is off by less than a microsecond, unless we were interrupted.
        let boottime = before + (after - before) / 2
        return ClockOffsetRecord(
            at: MonotonicTime(nanoseconds: after), offsetNanoseconds: wall - boottime, stepNanoseconds: 0,
            isSynchronised: clinux_clock_is_synchronised() == 1, suspended: suspended)
    }
}
