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
        // A label of a day stands at its beginning: longer steps are whole days.
        let days = max(7, (length / Self.tickMaximum + 86_399) / 86_400)
        let step = Self.steps.first { length / $0 <= Self.tickMaximum } ?? days * 86_400
        return clock.instants(everySeconds: step, from: start, to: end).enumerated().map { index, instant in
            Tick(
                fraction: fraction(instant), label: label(instant, step: step, isFirst: index == 0),
                isMajor: index.isMultiple(of: 2))
        }
    }

    private func label(_ instant: Int64, step: Int64, isFirst: Bool) -> String {
        let parts = clock.parts(instant)
        if step >= 86_400 { return parts.day }
        let time = step < 60 ? parts.second : parts.minute
        // A new day is said.
        return !isFirst && parts.minute == "00:00" && parts.second.hasSuffix(":00") ? parts.day : time
    }
}
