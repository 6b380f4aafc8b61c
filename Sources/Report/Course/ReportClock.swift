package import Foundation

/// The clock by which a report's reader reads times: that of a time zone, which each time says.
package struct ReportClock: Hashable, Sendable {
    package let zone: TimeZone

    package init(zone: TimeZone) {
        self.zone = zone
    }

    /// Positive east of Greenwich.
    func secondsFromUTC(_ unixNanoseconds: Int64) -> Int {
        Int(offset(second: unixNanoseconds / 1_000_000_000))
    }

    /// The same of a second since 1970.
    func offset(second: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }

    /// `2026-03-01 23:00:05 UTC+1`.
    func text(_ unixNanoseconds: Int64) -> String {
        let parts = parts(unixNanoseconds)
        return "\(parts.date) \(parts.second) \(offsetWords(unixNanoseconds))"
    }

    /// `UTC`, `UTC+1`, `UTC-3:30`.
    func offsetWords(_ unixNanoseconds: Int64) -> String {
        let minutes = secondsFromUTC(unixNanoseconds) / 60
        guard minutes != 0 else { return "UTC" }
        let rest = abs(minutes) % 60
        return "UTC\(minutes < 0 ? "-" : "+")\(abs(minutes) / 60)" + (rest == 0 ? "" : ":" + Self.digits(rest))
    }

    /// Pieces of a time.
    struct Parts: Hashable {
        /// `2026-03-01`.
        var date = "unknown"
        /// `03-01`.
        var day = "unknown"
        /// `23:00`.
        var minute = "unknown"
        /// `23:00:05`.
        var second = "unknown"
    }

    func parts(_ unixNanoseconds: Int64) -> Parts {
        var seconds = time_t(unixNanoseconds / 1_000_000_000 + Int64(secondsFromUTC(unixNanoseconds)))
        var time = tm()
        guard gmtime_r(&seconds, &time) != nil else { return Parts() }
        let (hour, minute) = (Self.digits(Int(time.tm_hour)), Self.digits(Int(time.tm_min)))
        let day = "\(Self.digits(Int(time.tm_mon) + 1))-\(Self.digits(Int(time.tm_mday)))"
        return Parts(
            date: "\(Int(time.tm_year) + 1900)-\(day)", day: day, minute: "\(hour):\(minute)",
            second: "\(hour):\(minute):\(Self.digits(Int(time.tm_sec)))")
    }

    private static func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
}
