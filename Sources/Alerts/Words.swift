extension Duration {
    /// `45 s`, `5 min 12 s`, `2 h 05 min`, `3 d 4 h`.
    package var inWords: String {
        let seconds = max(0, components.seconds)
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min" + (seconds % 60 == 0 ? "" : " \(Self.twoDigits(seconds % 60)) s") }
        if seconds < 86_400 {
            return "\(seconds / 3600) h" + (seconds % 3600 < 60 ? "" : " \(Self.twoDigits(seconds % 3600 / 60)) min")
        }
        return "\(seconds / 86_400) d" + (seconds % 86_400 < 3600 ? "" : " \(seconds % 86_400 / 3600) h")
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Double {
    /// With one digit behind the point, and none where that is 0: `4.5`, `80`.
    var short: String {
        guard isFinite, abs(self) < 1e15 else { return "unknown" }
        let tenths = Int64((self * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return "\(sign)\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}

/// UTC as programs and letters write it.
package enum UTCTime {
    /// `2026-02-03T14:05:06Z`, in the proleptic Gregorian calendar.
    package static func iso8601(unixNanoseconds: Int64) -> String {
        let time = Parts(unixNanoseconds: unixNanoseconds)
        let date = "\(pad(time.year, 4))-\(pad(time.month, 2))-\(pad(time.day, 2))"
        return "\(date)T\(pad(time.hour, 2)):\(pad(time.minute, 2)):\(pad(time.second, 2))Z"
    }

    /// `3 Feb 2026 14:05:06 +0000`, as RFC 5322, 3.3, has it; the name of the day is optional there.
    package static func rfc5322(unixNanoseconds: Int64) -> String {
        let time = Parts(unixNanoseconds: unixNanoseconds)
        let clock = "\(pad(time.hour, 2)):\(pad(time.minute, 2)):\(pad(time.second, 2)) +0000"
        return "\(time.day) \(months[Int(time.month) - 1]) \(pad(time.year, 4)) \(clock)"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func pad(_ number: Int64, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private struct Parts {
        let year, month, day, hour, minute, second: Int64

        init(unixNanoseconds: Int64) {
            let seconds = Self.floor(unixNanoseconds, 1_000_000_000)
            let days = Self.floor(seconds, 86_400)
            let ofDay = seconds - days * 86_400
            (hour, minute, second) = (ofDay / 3600, ofDay % 3600 / 60, ofDay % 60)
            // Years begin in March here, so that the day that some of them lack is their last; 400 of them have 146,097 days,
            // and the count begins on 0000-03-01, 719,468 days before 1970.
            let shifted = days + 719_468
            let era = Self.floor(shifted, 146_097)
            let dayOfEra = shifted - era * 146_097
            // Leap days of the 4, 100 and 400 years are taken off before dividing.
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            // Five months from March on have 153 days, again from August on.
            let shiftedMonth = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
            month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
            year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        }

        private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
            let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
            return rest < 0 ? quotient - 1 : quotient
        }
    }
}
