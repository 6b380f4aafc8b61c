/// By how many seconds the wall clock of a time zone, such as `Europe/Berlin`, is ahead of UTC at an instant in seconds since
/// 1970; nil for a zone that is not known.
package typealias UTCOffset = @Sendable (_ timeZone: String, _ unix: Int64) -> Int64?

/// From the wall clock of a time zone to UTC.
package enum CivilTime {
    package static let secondsPerDay: Int64 = 86_400

    /// The instant at which a wall clock shows a time.
    ///
    /// An hour that comes twice, when clocks are set back, means the first of the two. A time that does not exist, when they
    /// are set forward, means the instant at which they are.
    ///
    /// - Parameters:
    ///   - local: what the clock shows, as seconds since 1970 of a clock that is never set.
    ///   - offset: of the zone, at an instant in UTC.
    /// - Returns: UTC in seconds since 1970.
    package static func unix(ofLocal local: Int64, offset: (Int64) -> Int64?) -> Int64? {
        // A zone is at most 14 h from UTC, and set once in these two days.
        guard let before = offset(local - secondsPerDay), let after = offset(local + secondsPerDay) else { return nil }
        let instants = [local - before, local - after].filter { offset($0) == local - $0 }
        if let first = instants.min() { return first }
        // The clock jumps over the time between these two; where, is halved down to.
        var (low, high) = (local - max(before, after), local - min(before, after))
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return high
    }

    /// 0 for Monday ... 6 for Sunday, of a day since 1 January 1970, which was a Thursday.
    package static func weekday(ofDay day: Int64) -> Int { Int(floorDivided(day + 3, by: 7).rest) }

    /// The quotient rounded down, and what is left of 0 or more.
    package static func floorDivided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
