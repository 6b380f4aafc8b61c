import Foundation

/// The connection and what is missing, over time and as tables.
struct TimelineSection {
    private let document: ReportDocument
    private let axis: TimeAxis

    init(_ document: ReportDocument, axis: TimeAxis) {
        self.document = document
        self.axis = axis
    }

    func write(into page: inout Markup) {
        page.element("section", ["id": "timeline"]) { page in
            page.element("h2", text: "Connection and gaps")
            picture(into: &page)
            if let connection = document.connection { ReportTables.table(states(connection), into: &page) }
            for stream in document.streams { gaps(of: stream, into: &page) }
        }
    }

    private func picture(into page: inout Markup) {
        let lanes = (document.connection.map { [$0.lane] } ?? []) + document.streams.map(\.gaps)
        page.element("figure") { page in
            TimeFigure(
                axis: axis, title: "The connection and the gaps of each stream over time; the tables below say the same.",
                identifier: "timeline-picture"
            ).lanes(lanes, marks: document.marks.positions, into: &page)
            legend(into: &page)
            page.element(
                "figcaption",
                text: "From \(axis.clock.text(axis.start)) to \(axis.clock.text(axis.end)). A stream's lane is empty where no "
                    + "sample is missing, and pale where all arrived after all. The shortest gap is drawn as wide as a line."
                    + (document.marks.count > 0 ? " Lines at the top are marks." : ""))
        }
    }

    private func legend(into page: inout Markup) {
        var kinds = document.connection?.sums.map { (kind: $0.kind, words: $0.words) } ?? []
        var known = Set(kinds.map(\.kind))
        for sum in document.streams.flatMap(\.gapSums) where sum.cause != .notSent && known.insert(sum.cause).inserted {
            kinds.append((sum.cause, "gap: \(sum.meaning)"))
        }
        ReportTables.legend(kinds, into: &page)
    }

    private func states(_ connection: ConnectionCourse) -> ReportTable {
        let whole = max(connection.sums.reduce(0) { $0 + $1.seconds }, .leastNonzeroMagnitude)
        return ReportTable(
            caption: "What the connection did", headings: ["State", "How long", "Part of the time", "How often"],
            rows: connection.sums.map {
                [
                    $0.words, ReportText.duration($0.seconds), ReportText.percent($0.seconds / whole),
                    ReportText.count(Int64($0.count)),
                ]
            }, numeric: [1, 2, 3])
    }

    private func gaps(of stream: StreamReport, into page: inout Markup) {
        page.element("h3") { page in
            page.text("Gaps of ")
            page.name(stream.name)
        }
        guard !stream.gapSums.isEmpty else {
            page.element("p", ["class": "good"], text: "No missing sample is known.")
            return
        }
        let sums = ReportTable(
            caption: "Gaps by cause",
            headings: ["Cause", "Gaps", "Samples missing", "Recovered", "In all", "Longest", "Meaning"],
            rows: stream.gapSums.map {
                [
                    $0.name, ReportText.count(Int64($0.count)), ReportText.count($0.missing), ReportText.count($0.recovered),
                    ReportText.duration($0.seconds), ReportText.duration($0.longestSeconds), $0.meaning,
                ]
            }, numeric: [1, 2, 3, 4, 5])
        ReportTables.table(sums, into: &page)
        let count = stream.gapSums.reduce(0) { $0 + ($1.cause == .notSent ? 0 : $1.count) }
        let caption =
            count > stream.longestGaps.count
            ? "The \(stream.longestGaps.count) longest of \(ReportText.count(Int64(count))) gaps; eegsync gaps "
                + "\(document.recording) lists all"
            : "All gaps"
        let list = ReportTable(
            caption: caption, headings: ["From", "To", "Length", "Channel", "Missing", "Recovered", "Known", "Cause"],
            rows: stream.longestGaps.map { gap in
                [
                    axis.clock.text(gap.start), gap.end.map(axis.clock.text) ?? "still open", ReportText.duration(gap.seconds),
                    gap.channel ?? "all", gap.missing.map(ReportText.count) ?? "unknown", ReportText.count(gap.recovered),
                    gap.certainty, gap.name,
                ]
            }, numeric: [2, 4, 5])
        ReportTables.folded(list, into: &page)
    }
}
