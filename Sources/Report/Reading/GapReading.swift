import Headsets
import Storage

/// What is missing in a stream, over time and by cause.
struct GapReading {
    private(set) var lane: Lane
    private(set) var sums: [GapSum]
    private(set) var longest: [ReportGap]

    /// So many gaps are listed.
    private static let listMaximum = 30

    /// - Parameters:
    ///   - open: the gap that has no end yet.
    ///   - meanings: what each cause means.
    ///   - axis: nil where nothing is drawn.
    init(_ stream: StreamContents, open: OpenGap?, meanings: [String: String], axis: TimeAxis?) {
        lane = Lane(name: stream.description.bankName, runs: [])
        (sums, longest) = ([], [])
        guard let axis, var times = TimeCursor(stream.segments) else { return }
        // Behind the causes the same again: gaps whose samples all arrived in the end. Of these a column shows what is missing.
        let causes = LaneKind.causes
        var raster = ColumnRaster(columnCount: ReportReading.columnCount, kindCount: 2 * causes.count)
        var found: [LaneKind: GapSum] = [:]
        func add(_ gap: ReportGap, cause: String) {
            if gap.cause != .notSent, let index = causes.firstIndex(of: gap.cause) {
                let isRecovered = gap.missing == 0
                // A gap of a channel counts in part, so that one of all channels is seen before it.
                let part = gap.channel == nil ? 1 : 1 / Double(stream.description.channels.count + 1)
                raster.add(
                    isRecovered ? index + causes.count : index, from: axis.fraction(gap.start),
                    to: axis.fraction(gap.end ?? axis.end), weight: isRecovered ? part / 1000 : part)
            }
            var sum =
                found[gap.cause]
                ?? GapSum(
                    cause: gap.cause, name: cause, meaning: meanings[cause] ?? "a cause that this version does not know",
                    count: 0, missing: 0, recovered: 0, seconds: 0, longestSeconds: 0)
            sum.count += 1
            // Of rows that lack a channel, the rows are there.
            if gap.channel == nil { sum.missing += gap.missing ?? 0 }
            if gap.channel == nil { sum.seconds += gap.seconds }
            sum.recovered += gap.recovered
            sum.longestSeconds = max(sum.longestSeconds, gap.seconds)
            found[gap.cause] = sum
            guard gap.cause != .notSent else { return }
            keep(gap)
        }
        for gap in stream.gaps { add(Self.gap(gap, of: stream, &times), cause: gap.cause.rawValue) }
        if let open {
            let start = times.unixNanoseconds(dueAfterSampleBefore: open.firstN)
            add(
                ReportGap(
                    cause: LaneKind(open.cause), name: open.cause, start: start, end: nil,
                    seconds: Double(max(0, axis.end - start)) / 1e9, channel: nil, missing: nil, recovered: 0,
                    certainty: "still open"), cause: open.cause)
        }
        lane = Lane(name: stream.description.bankName, raster: raster, kinds: LaneKind.causes)
        sums = found.values.sorted { ($0.seconds, $0.name) > ($1.seconds, $1.name) }
        longest.sort { ($0.start, $0.seconds) < ($1.start, $1.seconds) }
    }

    /// Keeps the longest.
    private mutating func keep(_ gap: ReportGap) {
        if longest.count == Self.listMaximum {
            guard let shortest = longest.indices.min(by: { longest[$0].seconds < longest[$1].seconds }),
                longest[shortest].seconds < gap.seconds
            else { return }
            longest.remove(at: shortest)
        }
        longest.append(gap)
    }

    private static func gap(_ gap: GapContents, of stream: StreamContents, _ times: inout TimeCursor) -> ReportGap {
        let start = times.unixNanoseconds(dueAfterSampleBefore: gap.firstN)
        let end = max(start, times.unixNanoseconds(ofSample: gap.firstN &+ gap.count))
        let nominal = Double(gap.count) / stream.description.samplingFrequency
        let names = stream.description.channels.map(\.name)
        return ReportGap(
            cause: LaneKind(gap.cause.rawValue), name: gap.cause.rawValue, start: start, end: end,
            seconds: gap.count > 0 ? nominal : Double(end - start) / 1e9,
            channel: gap.channel > 0 ? (names.indices.contains(gap.channel - 1) ? names[gap.channel - 1] : "?") : nil,
            missing: gap.missing, recovered: gap.recovered,
            certainty: gap.certainty == "timed" && gap.uncertainty != nil
                ? "timed, ± \(ReportText.count(gap.uncertainty ?? 0))" : gap.certainty)
    }
}
