/// An instant on the host's `CLOCK_BOOTTIME`: nanoseconds since the host booted, suspended time included.
///
/// The clock never steps, so every deadline and every arrival of a sample is measured on it. Instants of different host
/// boots do not compare; the database therefore stores them beside the identifier of the boot. This type reads no clock:
/// time enters from outside.
public struct MonotonicTime: Hashable, Comparable, Sendable, Codable {
    /// Nanoseconds since the host booted; 0 ... 2^63 - 1 (292 years).
    public var nanoseconds: Int64

    /// Creates an instant from nanoseconds since boot.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant at which the host booted.
    public static let boot = MonotonicTime(nanoseconds: 0)

    /// Seconds since boot, rounded to the nearest representable value.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant that lies `duration` later; saturates at the end of the clock's range.
    public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The instant that lies `duration` earlier; saturates at the end of the clock's range.
    public static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(duration.nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .max : .min) : difference)
    }

    /// The time from `earlier` to `later`; saturates at the ends of the clock's range.
    public static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return .nanoseconds(overflow ? (later < earlier ? .min : .max) : difference)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, saturated to the range of `Int64`.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflow2) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow2 ? (product < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, rounded to the nearest representable value.
    public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
