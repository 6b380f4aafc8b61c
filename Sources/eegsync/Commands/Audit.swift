import ArgumentParser
import Foundation
import Headsets
import Storage
import Synchronization

/// `eegsync audit`: looks for whatever contradicts the evidence.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare recordings with the evidence that was stored with them.",
        discussion: """
            Five kinds of evidence, each with a line of its own:

            arithmetic   rows + ledgered missing = last n - first n + 1, and the ledger's parts agree
            extent       blocks, segments, epochs, arrivals and gaps say the same of first and last
            clock        the numbers of samples go with the host's clock, and with the headset's own
            content      rows are those that were written, by digests; so is what says what they mean
            file         SQLite finds the pages of the file whole, and nothing refers to what is not there

            It may run while `eegsync run` records. LOSSES FOUND BY says what shows a loss in each stream; COUNTED, TIMED and \
            UNKNOWN say how what is missing is known.

            Exit code 0 if nothing contradicts the evidence, 65 if something does; the first findings are listed.

            EXAMPLES
              eegsync audit
              eegsync audit 12 --json
              eegsync audit --quick
              eegsync audit --since 24h
              eegsync audit --continue /var/lib/eegsync/audited.json
            """)

    @Argument(help: ArgumentHelp("Only this one. \(RecordingName.words)", valueName: "recording"))
    var recording: RecordingName?

    @Flag(help: "Leave content and file out, which read every byte.")
    var quick = false

    @Option(
        help: ArgumentHelp(
            "Only samples from then on: the time of this machine such as '2026-03-01 23:00', UTC such as "
                + "2026-03-01T22:00:00Z, or how long ago, such as 2h, 3d.",
            valueName: "time"))
    var since: PastTime?

    @Option(
        name: .customLong("continue"),
        help: ArgumentHelp(
            "Only what came since the audit that wrote this file, which must go on as it was; the file's pages are left out. "
                + "Where there is no file, all is audited. An audit that holds writes it.",
            valueName: "file"), completion: .file(extensions: ["json"]))
    var earlier: String?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if earlier != nil, recording != nil || quick || since != nil {
            throw ValidationError("--continue looks at whole databases: it goes neither with a recording, --quick nor --since.")
        }
    }

    func run() throws {
        if let earlier { try options.refuseOwnFile(earlier) }
        let file = earlier.map(AuditedExtentFile.init)
        let bar = Mutex(ProgressBar(label: "auditing"))
        let report: AuditReport
        do {
            let store = try options.openReadOnly()
            let scope = AuditScope(
                recording: try recording.map { RecordingID(rawValue: try $0.number(in: store)) }, isQuick: quick,
                since: since?.unixNanoseconds(now: Int64(Date().timeIntervalSince1970 * 1e9)), earlier: try file?.read(),
                readerCount: max(1, min(4, ProcessInfo.processInfo.activeProcessorCount)))
            report = try store.audit(scope) { done, total in
                bar.withLock { $0.update(done: done, total: total) }
            }
        } catch StorageError.corrupt(_, let detail) {
            report = .damaged(detail)
        }
        bar.withLock { $0.finish() }
        try AuditFacts(report).print(asJSON: output.json)
        if report.holds { try file?.write(report.extent) }
        if !report.holds { throw ExitCode(Failure.Code.dataError.rawValue) }
    }
}

/// What an audit found.
struct AuditFacts: Facts {
    /// The sums of one stream.
    struct Stream: Encodable {
        var recording: Int64
        var stream: String
        var bank: Int
        var firstN: Int64?
        var lastN: Int64?
        var rows: Int64
        var missing: Int64
        var recovered: Int64
        var openGapFirstN: Int64?
        var expected: Int64
        var residual: Int64
        /// What shows that a sample is missing: `counter`, `mark`, `clock` or `nothing`.
        var lossDetection: String
        /// Missing samples that the headset's counter or its marks have counted.
        var missingCounted: Int64
        /// Missing samples that clocks have shown, with those between two boots of this machine, which `missing` does not hold.
        var missingTimed: Int64
        /// The sum of within what each of these is right, in samples; nil where an earlier version did not say it.
        var missingTimedUncertainty: Int64?
        /// Missing samples of which it is not known how they are known.
        var missingUnknown: Int64
        /// Gaps whose length is not known yet.
        var unknownGaps: Int64
        /// How its numbers go with the clocks; nil where too few arrivals are kept.
        var clock: AuditReport.ClockAgreement?
        /// What digests say of its rows; nil where they were not looked at.
        var content: AuditReport.ContentSums?

        /// Such as `optics-2` for the second bank.
        var words: String { StreamDescription.bankName(stream, bank) }
    }

    /// One thing that contradicts the evidence.
    struct Finding: Encodable {
        var evidence: String
        var check: String
        var recording: Int64?
        var stream: String?
        var streamId: Int64?
        var n: Int64?
        var detail: String
    }

    /// One kind of evidence.
    struct Statement: Encodable {
        /// `arithmetic`, `extent`, `clock`, `content` or `file`.
        var evidence: String
        /// `holds`, `fails` or `not checked`.
        var result: String
        /// What it says.
        var detail: String
    }

    var holds: Bool
    var evidence: [Statement]
    var streams: [Stream]
    var findings: [Finding]

    init(_ report: AuditReport) {
        holds = report.holds
        evidence = AuditReport.Evidence.allCases.map { Statement($0, in: report) }
        streams = report.streams.map {
            Stream(
                recording: $0.recordingID, stream: $0.name, bank: $0.bank, firstN: $0.firstN, lastN: $0.lastN, rows: $0.rows,
                missing: $0.missing, recovered: $0.recovered, openGapFirstN: $0.openGapFirstN, expected: $0.expected,
                residual: $0.residual, lossDetection: $0.certainty.lossDetection, missingCounted: $0.certainty.counted,
                missingTimed: $0.certainty.timed, missingTimedUncertainty: $0.certainty.uncertainty,
                missingUnknown: $0.certainty.unknown, unknownGaps: $0.certainty.unknownGaps, clock: $0.clock,
                content: $0.content)
        }
        findings = report.findings.map { finding in
            let stream = report.streams.first { $0.streamID == finding.streamID }
            return Finding(
                evidence: finding.check.evidence.rawValue, check: finding.check.rawValue, recording: stream?.recordingID,
                stream: stream.map { StreamDescription.bankName($0.name, $0.bank) }, streamId: finding.streamID, n: finding.n,
                detail: finding.detail)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "STREAM"), .init(heading: "ROWS", alignment: .right),
            .init(heading: "MISSING", alignment: .right), .init(heading: "EXPECTED", alignment: .right, dispensability: 2),
            .init(heading: "RECOVERED", alignment: .right, dispensability: 1), .init(heading: "RESULT"),
        ])
        for stream in streams {
            let result: TextTable.Cell =
                stream.residual == 0 ? .init("adds up", .good) : .init("off by \(Quantity.count(stream.residual))", .bad)
            table.append([
                .init(String(stream.recording)),
                .init(stream.words),
                .init(Quantity.count(stream.rows)), .init(Quantity.count(stream.missing)),
                .init(Quantity.count(stream.expected)),
                .init(Quantity.count(stream.recovered)), result,
            ])
        }
        var lines = streams.isEmpty ? ["No stream holds a sample yet."] : table.rendered(style: style)
        if !streams.isEmpty { lines += [""] + certaintyTable.rendered(style: style) + legend(style: style) }
        lines.append("")
        lines += evidenceTable.rendered(style: style)
        lines.append("")
        if holds {
            lines.append(style.apply(.good, to: conclusion))
        } else {
            lines.append(style.apply(.bad, to: "The audit fails: this contradicts the evidence."))
            lines += findings.map { finding in
                let parts = [
                    finding.recording.map { "recording \($0)" }, finding.stream, finding.n.map { "n \($0)" },
                ].compactMap(\.self)
                let location = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
                return "  \(finding.evidence)\(location): \(finding.detail.printable)"
            }
        }
        return lines
    }

    /// Exactly what is shown by an audit that holds.
    private var conclusion: String {
        var parts = ["consistent in itself"]
        if streams.contains(where: { $0.clock != nil }) { parts.append("with the host's clock as said above") }
        if evidence.contains(where: { $0.evidence == "content" && $0.result == "holds" }) {
            parts.append("unchanged since it was written")
        }
        return "The audit holds: " + parts.joined(separator: ", ") + "."
    }

    private var evidenceTable: TextTable {
        var table = TextTable([
            .init(heading: "EVIDENCE"), .init(heading: "RESULT"), .init(heading: "WHAT IT SAYS", wraps: true),
        ])
        for statement in evidence {
            let severity: TerminalStyle.Style? =
                switch statement.result {
                case "holds": .good
                case "fails": .bad
                default: nil
                }
            table.append([.init(statement.evidence), .init(statement.result, severity), .init(statement.detail)])
        }
        return table
    }

    /// How what is missing is known, and what shows that something is.
    private var certaintyTable: TextTable {
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "STREAM"), .init(heading: "LOSSES FOUND BY"),
            .init(heading: "COUNTED", alignment: .right), .init(heading: "TIMED", alignment: .right),
            .init(heading: "UNKNOWN", alignment: .right),
        ])
        for stream in streams {
            let isBlind = stream.lossDetection == LossDetection.nothing.rawValue
            table.append([
                .init(String(stream.recording)), .init(stream.words), .init(stream.lossDetection, isBlind ? .caution : nil),
                .init(Quantity.count(stream.missingCounted)), .init(timed(of: stream)), unknown(of: stream),
            ])
        }
        return table
    }

    private func timed(of stream: Stream) -> String {
        guard stream.missingTimed > 0 else { return "0" }
        return "\(Quantity.count(stream.missingTimed)) ± \(stream.missingTimedUncertainty.map(Quantity.count) ?? "?")"
    }

    private func unknown(of stream: Stream) -> TextTable.Cell {
        var parts: [String] = []
        if stream.missingUnknown > 0 { parts.append(Quantity.count(stream.missingUnknown)) }
        if stream.unknownGaps > 0 { parts.append(Quantity.count(stream.unknownGaps, "gap")) }
        return parts.isEmpty ? .init("0") : .init(parts.joined(separator: ", "), .caution)
    }

    /// What the words mean that stand in the table.
    private func legend(style: TerminalStyle) -> [String] {
        let used = LossDetection.allCases.filter { means in streams.contains { $0.lossDetection == means.rawValue } }
        return used.map { style.apply(.faint, to: "\($0.rawValue): \($0.meaning)") }
    }
}

extension LossDetection {
    /// What it finds, and what it does not.
    var meaning: String {
        switch self {
        case .counter: "the headset counts; each missing sample is counted."
        case .mark: "the headset marks each so many samples; losses are counted to a packet, within a period of the marks."
        case .clock: "packets that stay late came behind a loss; what the clock cannot distinguish from lateness is not found."
        case .nothing: "neither counter nor marks, and the rate is not known well enough; a loss on a link is not found."
        }
    }
}

extension AuditFacts.Statement {
    init(_ kind: AuditReport.Evidence, in report: AuditReport) {
        let count = report.findings.count { $0.check.evidence == kind }
        evidence = kind.rawValue
        result = !report.checked.contains(kind) && count == 0 ? "not checked" : count == 0 ? "holds" : "fails"
        detail =
            switch kind {
            case .arithmetic:
                "rows + ledgered missing = last n - first n + 1, in \(Quantity.count(Int64(report.streams.count), "stream"))"
            case .extent: "blocks, segments, epochs, arrivals and gaps agree on first and last"
            case .clock: Self.clock(report)
            case .content: Self.content(report)
            case .file:
                report.checked.contains(.file)
                    ? "SQLite finds the pages of the file whole" : "a database that is read as a whole"
            }
        if result == "not checked" { detail = "left out" }
    }

    private static func clock(_ report: AuditReport) -> String {
        let clocks = report.streams.compactMap(\.clock).filter { $0.hours >= 1.0 / 6 }
        guard let worst = clocks.map(\.disagreement).max(), let hours = clocks.map(\.hours).max() else {
            return "times ascend; too short for a rate"
        }
        let span = Quantity.duration(seconds: hours * 3600)
        var text = "numbers and the host's clock agree within \(partsPerMillion(worst)) over \(span)"
        if let hourly = clocks.compactMap(\.hourlyDeviation).max() { text += ", each hour within \(partsPerMillion(hourly))" }
        if let device = clocks.compactMap(\.deviceDeviation).max() {
            text += "; the headset's clock within \(partsPerMillion(device)) each minute"
        }
        return text
    }

    private static func partsPerMillion(_ value: Double) -> String {
        String(format: value < 10 ? "%.1f ppm" : "%.0f ppm", value)
    }

    private static func content(_ report: AuditReport) -> String {
        let sums = report.streams.compactMap(\.content)
        let (blocks, rows) = (sums.reduce(0) { $0 + $1.blocks }, sums.reduce(0) { $0 + $1.rows })
        let undigested = sums.reduce(0) { $0 + $1.undigested }
        var text =
            "\(Quantity.count(rows, "row")) in \(Quantity.count(Int64(blocks), "block")) have the digests written with them"
        if undigested > 0 { text += "; \(Quantity.count(undigested, "row")) of an earlier version have none" }
        if report.unprotected > 0 { text += "; \(Quantity.count(report.unprotected, "line")) inserted by SQL have none" }
        return text
    }
}
