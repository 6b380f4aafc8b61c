/// A day and time of UTC in the Gregorian calendar.
struct CivilTime: Hashable {
    var year: Int
    /// 1 ... 12.
    var month: Int
    /// 1 ... 31.
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// The names that EDF+ uses in dates (EDF+ specification, 2.1.3.3).
    static let monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]

    /// The time at whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    init(unixSeconds: Int64) {
        let dayNumber = unixSeconds.floorDivided(by: 86_400)
        let secondOfDay = Int(unixSeconds - dayNumber * 86_400)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60

        // Count from 0000-03-01, so that a leap day ends its year, in eras of 400 years = 146,097 days.
        let shifted = dayNumber + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months from March on have 31, 30, 31, 30, 31 days twice: 153 days in five months.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = Int(era) * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// `yyyy-MM-ddTHH:mm:ss`, without zone.
    var iso8601: String {
        "\(Self.digits(year, 4))-\(Self.digits(month))-\(Self.digits(day))"
            + "T\(Self.digits(hour)):\(Self.digits(minute)):\(Self.digits(second))"
    }

    /// A number with leading zeros.
    static func digits(_ value: Int, _ width: Int = 2) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// An instant as `yyyy-MM-ddTHH:mm:ss.ffffffZ`, truncated to microseconds.
    static func iso8601(unixNanoseconds: Int64) -> String {
        let seconds = unixNanoseconds.floorDivided(by: 1_000_000_000)
        let microseconds = Int(unixNanoseconds - seconds * 1_000_000_000) / 1000
        return CivilTime(unixSeconds: seconds).iso8601 + "." + digits(microseconds, 6) + "Z"
    }
}

extension Int64 {
    /// The quotient rounded towards minus infinity; the divisor is positive.
    func floorDivided(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}
