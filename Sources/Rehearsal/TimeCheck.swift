import Bluetooth
import Headsets
import Storage

/// Compares the times that the database gives a stream's rows with when the simulated headset took them.
///
/// What is the same for all rows of a stream is the constant delay of headset and radio, and no error. What is left is judged:
/// strictly where a link had lasted for a minute, and elsewhere by the uncertainty that the segment states.
struct TimeCheck {
    /// When a link had lasted so long, its rows are judged strictly.
    static let settlingTime: Duration = .seconds(60)
    /// The largest standard deviation of rows that are judged strictly, or an eighth of the steps in which packets arrive: a
    /// headset whose packets nearly keep step with them is late by a part of a step that drifts, and nothing shows it.
    static let deviationMaximum: Duration = .milliseconds(2)
    /// Streams of fewer hertz have too few arrivals in a minute for that; only their largest error is judged.
    static let frequencyMinimum = 10.0
    /// The largest error of any of them.
    static let errorMaximum: Duration = .milliseconds(20)
    /// Of more rows, only so many are looked at, evenly spread.
    private static let rowsMaximum: Int64 = 20_000
    /// Fewer say nothing about a deviation.
    private static let rowsMinimum = 100

    let stream: StreamContents
    /// The n's of the rows.
    let rows: [Range<Int64>]
    /// When a row was taken; nil where that is not known.
    let taken: (Int64) -> MonotonicTime?
    /// From the first to the last sample of each link, as they arrived, ascending.
    let links: [ClosedRange<MonotonicTime>]
    /// The stream's segments as they were committed, ascending by first n.
    let segments: [SegmentRecord]
    /// The steps in which packets arrive: the time between two connection events of the headset, or between two batches.
    let arrivalStep: Duration
    /// What the headset may hold back of what it took, unseen: each time may be late by so much.
    var heldBack: Duration = .zero
    /// False among faults, where links are short: then only what the segments state is judged.
    var isStrict = true
    /// How often an error may be what its segment states, three standard deviations: among the thousands of pieces of a storm
    /// some lie beyond, and what is wrong is wrong by more.
    var tolerance = 1.0
    /// UTC at boottime 0.
    let unixNanosecondsAtBoot: Int64

    /// One row that was looked at.
    private struct Row {
        var n: Int64
        /// Stored time less true time, in nanoseconds.
        var error: Int64
        var isSettled: Bool
    }

    /// What was found: figures for people, and what is wrong.
    func result() -> (figures: RehearsalReport.StreamTimes, wrong: [String])? {
        let looked = rowsLookedAt()
        let settled = looked.filter(\.isSettled)
        let judged = settled.count >= Self.rowsMinimum ? settled : looked
        guard judged.count >= Self.rowsMinimum else { return nil }
        let middle = judged.sorted { $0.error < $1.error }[judged.count / 2]
        let delay = middle.error
        // By what is stated, the row in the middle may be off itself.
        let middleStated = uncertainty(of: middle.n) ?? 0
        var figures = RehearsalReport.StreamTimes(
            stream: stream.description.name, bank: stream.description.bank, delay: .nanoseconds(delay), rows: looked.count,
            settledRows: settled.count)
        var wrong: [String] = []
        if settled.count >= Self.rowsMinimum { judge(settled, delay, &figures, &wrong) }
        if !isStrict { wrong.removeAll() }
        for row in looked where !row.isSettled || !isStrict {
            let error = abs(row.error - delay)
            figures.unsettledWorst = max(figures.unsettledWorst, .nanoseconds(error))
            guard wrong.count < 3, let stated = uncertainty(of: row.n) else { continue }
            // What arrives is late by a part of a step, and the constant delay is that of the middle row.
            let allowed = (stated + middleStated) * tolerance + Double((arrivalStep + heldBack).nanoseconds) + slowness
            if Double(error) > allowed {
                let errorText = Self.text(row.error - delay)
                let statedText = Self.text(Int64(clamping: stated))
                wrong.append("\(stream.description.name), n \(row.n): time wrong by \(errorText), stated \(statedText)")
            }
        }
        return (figures, wrong)
    }

    private func judge(
        _ settled: [Row], _ delay: Int64, _ figures: inout RehearsalReport.StreamTimes, _ wrong: inout [String]
    ) {
        let mean = settled.reduce(0.0) { $0 + Double($1.error - delay) } / Double(settled.count)
        let variance = settled.reduce(0.0) { sum, row in
            let deviation = Double(row.error - delay) - mean
            return sum + deviation * deviation / Double(settled.count)
        }
        let worst = settled.max { abs($0.error - delay) < abs($1.error - delay) }
        figures.deviation = .nanoseconds(Int64(variance.squareRoot()))
        figures.worst = .nanoseconds(abs((worst?.error ?? delay) - delay))
        let isFast = stream.description.samplingFrequency >= Self.frequencyMinimum
        // Each link is late by another part of a step.
        let share = links.count > 1 ? arrivalStep / 3 : arrivalStep / 8
        if isFast, figures.deviation > max(Self.deviationMaximum, share) + heldBack / 2 {
            wrong.append("\(stream.description.name): times scatter by \(Self.text(figures.deviation.nanoseconds))")
        }
        if let worst, figures.worst > max(Self.errorMaximum, arrivalStep) + heldBack + .nanoseconds(Int64(slowness)) {
            wrong.append("\(stream.description.name), n \(worst.n): time wrong by \(Self.text(worst.error - delay))")
        }
    }

    private func rowsLookedAt() -> [Row] {
        let count = rows.reduce(0) { $0 + Int64($1.count) }
        let step = max(1, count / Self.rowsMaximum)
        var looked: [Row] = []
        for range in rows {
            for n in stride(from: range.lowerBound, to: range.upperBound, by: Int(step)) {
                guard let taken = taken(n), let stored = stream.unixNanoseconds(ofSample: n) else { continue }
                let error = stored - unixNanosecondsAtBoot - taken.nanoseconds
                looked.append(Row(n: n, error: error, isSettled: isSettled(taken) && isSettledInEpoch(n) && !isRecovered(n)))
            }
        }
        return looked
    }

    /// True where a link had lasted for long when the row was taken, and went on.
    private func isSettled(_ taken: MonotonicTime) -> Bool {
        guard let link = links.last(where: { $0.lowerBound <= taken }) else { return false }
        return link.lowerBound + Self.settlingTime <= taken && taken <= link.upperBound
    }

    /// True where the epoch had lasted for long: one may begin within a link.
    private func isSettledInEpoch(_ n: Int64) -> Bool {
        guard let epoch = segments.last(where: { $0.firstN <= n })?.epoch,
            let first = segments.first(where: { $0.epoch == epoch })?.firstN
        else { return false }
        return Double(n - first) >= Self.settlingTime.inSeconds * stream.description.samplingFrequency
    }

    /// True for rows that were read from the headset's memory: they were taken while no link showed the time.
    private func isRecovered(_ n: Int64) -> Bool {
        stream.gaps.contains { $0.channel == 0 && $0.recovered > 0 && n >= $0.firstN && n < $0.firstN + $0.count }
    }

    /// What a slow stream's times may be off by besides: half a period, in nanoseconds.
    private var slowness: Double {
        let frequency = stream.description.samplingFrequency
        return frequency < Self.frequencyMinimum ? 0.5e9 / frequency : 0
    }

    private func uncertainty(of n: Int64) -> Double? {
        (segments.last { $0.firstN <= n } ?? segments.first)?.uncertaintyNanoseconds
    }

    private static func text(_ nanoseconds: Int64) -> String {
        let microseconds = nanoseconds / 1000
        return "\(Double(microseconds) / 1000) ms"
    }
}
