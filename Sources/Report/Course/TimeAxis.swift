/// The axis that all pictures of a recording over time share.
package struct TimeAxis: Hashable, Sendable {
    /// UTC nanoseconds since 1970.
    package var start: Int64
    /// After ``start``.
    package var end: Int64
    /// By which clock people read it.
    package var clock: ReportClock

    /// - Parameter end: a second is added where it is not after the start.
    package init(start: Int64, end: Int64, clock: ReportClock) {
        self.start = start
        self.end = end > start ? end : start &+ 1_000_000_000
        self.clock = clock
    }

    /// Where an instant lies: 0 at the start, 1 at the end; within that.
    package func fraction(_ unixNanoseconds: Int64) -> Double {
        let (elapsed, isTooLarge) = unixNanoseconds.subtractingReportingOverflow(start)
        if isTooLarge { return unixNanoseconds < start ? 0 : 1 }
        return min(1, max(0, Double(elapsed) / Double(end - start)))
    }

    /// A line of the axis with its label.
    struct Tick: Hashable, Sendable {
        var fraction: Double
        var label: String
        /// False for every other one, which narrow screens leave out.
        var isMajor: Bool
    }

    /// Seconds between two ticks: what people count in.
    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    ]
    private static let tickMaximum: Int64 = 10

    /// At whole steps of the clock, at most ten or so.
    var ticks: [Tick] {
        let length = (end - start) / 1_000_000_000
        let step = Self.steps.first { length / $0 <= Self.tickMaximum } ?? max(604_800, length / Self.tickMaximum)
        let offset = Int64(clock.secondsFromUTC(start))
        let first = (start / 1_000_000_000 + offset) / step * step - offset
        var ticks: [Tick] = []
        var second = first
        while second * 1_000_000_000 <= end {
            let instant = second * 1_000_000_000
            if instant >= start {
                ticks.append(
                    Tick(
                        fraction: fraction(instant), label: label(instant, step: step, isFirst: ticks.isEmpty),
                        isMajor: ticks.count.isMultiple(of: 2)))
            }
            second += step
        }
        return ticks
    }

    private func label(_ instant: Int64, step: Int64, isFirst: Bool) -> String {
        let parts = clock.parts(instant)
        if step >= 86_400 { return parts.day }
        let time = step < 60 ? parts.second : parts.minute
        // A new day is said.
        return !isFirst && parts.minute == "00:00" && parts.second.hasSuffix(":00") ? parts.day : time
    }
}
