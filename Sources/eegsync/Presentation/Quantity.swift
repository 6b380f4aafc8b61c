import Bluetooth
import Foundation

/// Numbers with units as a person reads them.
enum Quantity {
    /// `1,234,567`.
    static func count(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { grouped += "," }
            grouped.append(digit)
        }
        return value < 0 ? "-" + grouped : grouped
    }

    /// `1,234 samples`, `1 sample`.
    static func count(_ value: Int64, _ noun: String) -> String {
        "\(count(value)) \(noun)\(value == 1 ? "" : "s")"
    }

    /// `85 ms`, `4.2 s`, `3 min 05 s`, `2 h 03 min`, `12 d 4 h`: two units are as much as anybody wants to read.
    static func duration(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        if nanoseconds < 0 { return "-" + self.duration(.zero - duration) }
        let milliseconds = Double(nanoseconds) / 1e6
        if milliseconds < 999.5 { return String(format: "%.0f ms", milliseconds) }
        if milliseconds < 59_950 { return String(format: "%.1f s", milliseconds / 1000) }
        let seconds = Int64((milliseconds / 1000).rounded())
        if seconds < 3600 { return String(format: "%lld min %02lld s", seconds / 60, seconds % 60) }
        if seconds < 86_400 { return String(format: "%lld h %02lld min", seconds / 3600, seconds % 3600 / 60) }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }

    /// The same for seconds of the database; a length that no clock can have is `unknown`.
    static func duration(seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "unknown" }
        return duration(.nanoseconds(Int64((seconds * 1e9).rounded())))
    }

    /// `812 B`, `4.7 MB`, `1.2 GB`: powers of ten, as disks are sold.
    static func bytes(_ bytes: Int64) -> String {
        var value = Double(bytes.magnitude)
        if value < 1000 { return "\(bytes) B" }
        for unit in ["kB", "MB", "GB", "TB"] {
            value /= 1000
            // 999.95 would be printed as 1000.0
            if value < 999.95 { return String(format: "%@%.1f %@", bytes < 0 ? "-" : "", value, unit) }
        }
        return String(format: "%@%.1f PB", bytes < 0 ? "-" : "", value / 1000)
    }

    /// `250 Hz`, `249.9 Hz`.
    static func frequency(_ hertz: Double) -> String {
        guard hertz.isFinite else { return "unknown" }
        let rounded = (hertz * 10).rounded() / 10
        return rounded == rounded.rounded() ? String(format: "%.0f Hz", rounded) : String(format: "%.1f Hz", rounded)
    }

    /// `2026-02-03 14:05:06.789` in UTC, with the day of the proleptic Gregorian calendar.
    static func time(unixNanoseconds: Int64) -> String {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let whole = rest < 0 ? seconds - 1 : seconds
        let milliseconds = (rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000
        var time = time_t(whole)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "unknown" }
        return String(
            format: "%04d-%02d-%02d %02d:%02d:%02d.%03lld", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
            parts.tm_hour,
            parts.tm_min, parts.tm_sec, milliseconds)
    }
}

extension Quantity {
    /// `2026-02-03T14:05:06.789Z`: the instants of documents for programs (ISO 8601).
    static func utc(unixNanoseconds: Int64) -> String {
        let time = time(unixNanoseconds: unixNanoseconds)
        return time.contains(" ") ? time.replacing(" ", with: "T") + "Z" : time
    }

    /// `1:02:03.250`: how far into a recording something is, in hours, minutes and seconds, however long it is.
    static func position(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "unknown" }
        let milliseconds = Int64((abs(seconds) * 1000).rounded())
        let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000)
        let clock = String(
            format: "%lld:%02lld:%02lld.%03lld", minutes / 60, minutes % 60, rest / 1000, rest % 1000)
        return seconds < 0 && milliseconds > 0 ? "-" + clock : clock
    }

    /// `1234.567`: seconds to a millisecond, as on a clock.
    static func seconds(_ nanoseconds: Int64) -> String { String(format: "%.3f", Double(nanoseconds) / 1e9) }

    /// A number with so many significant digits and without zeros at its end, such as `0.0447035` or `1.5e-09`.
    static func significant(_ value: Double, digits: Int) -> String { String(format: "%.\(digits)g", value) }
}
