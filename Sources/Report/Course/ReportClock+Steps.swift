/// When the clock shows whole steps. What lies between them in UTC differs where clocks are changed: by the zone's own rules, a
/// day has 23 hours or 25.
extension ReportClock {
    private static let secondsOfDay: Int64 = 86_400

    /// The instants within a time at which the clock shows a multiple of a step, counted from a midnight, in order.
    ///
    /// An hour that the clock shows twice has its steps twice; of steps longer than an hour the first one counts. A day whose
    /// midnight the clock leaves out begins where the clock goes on.
    ///
    /// - Parameters:
    ///   - step: a part of a day, or whole days, in seconds.
    ///   - start: UTC nanoseconds since 1970.
    ///   - end: likewise; not before `start`.
    func instants(everySeconds step: Int64, from start: Int64, to end: Int64) -> [Int64] {
        let (first, last) = (Self.floor(start, 1_000_000_000), Self.floor(end, 1_000_000_000))
        let offsets = [offset(second: first), offset(second: last)]
        // More than one change lies months apart, where steps are days: one more on either side holds them all.
        let margin = step >= Self.secondsOfDay ? step : 0
        var shown = Self.floor(first + (offsets.min() ?? 0) - margin, step) * step
        let endShown = last + (offsets.max() ?? 0) + margin
        var seconds: [Int64] = []
        while shown <= endShown {
            seconds += self.seconds(showing: shown, step: step)
            shown += step
        }
        let isWhole = first * 1_000_000_000 == start
        return seconds.filter { $0 >= first && $0 <= last && ($0 > first || isWhole) }.sorted().map { $0 * 1_000_000_000 }
    }

    /// The seconds since 1970 at which the clock shows what UTC shows at another one: none, one or two.
    private func seconds(showing shown: Int64, step: Int64) -> [Int64] {
        // No zone changes its clock twice within two days.
        let (before, after) = (offset(second: shown - Self.secondsOfDay), offset(second: shown + Self.secondsOfDay))
        guard before != after else { return [shown - before] }
        let found = [shown - before, shown - after].filter { $0 + offset(second: $0) == shown }
        if found.isEmpty, step >= Self.secondsOfDay { return [shown - before] }
        return step > 3600 ? Array(found.prefix(1)) : found
    }

    private static func floor(_ value: Int64, _ step: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: step)
        return rest < 0 ? quotient - 1 : quotient
    }
}
