import ArgumentParser
import Headsets
import Storage

/// `eegsync audit`: the proof that nothing is missing unnoticed.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prove that every sample is stored or ledgered as missing, exactly once.",
        discussion: """
            Counts the rows of every stream and compares: rows + ledgered missing = last n - first n + 1. Also: no gap \
            overlaps another, nothing is orphaned, times ascend. Reads the whole database; it may \
            run while `eegsync run` records.

            It proves that the ledger and the rows agree. That a loss reaches the ledger takes something that finds it: \
            LOSSES FOUND BY says what does now, in each stream. COUNTED, TIMED and UNKNOWN say how what is missing is known; \
            TIMED includes what lies between two boots of this machine, which takes no n.

            Exit code 0 if everything adds up, 65 if not; the first offending rows are listed.

            EXAMPLES
              eegsync audit
              eegsync audit 12 --json
            """)

    @Argument(help: "The number of one recording; all without it.")
    var recording: Int64?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try options.openReadOnly().audit(recording: recording.map(RecordingID.init))
        try AuditFacts(report).print(asJSON: output.json)
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

        /// Such as `optics-2` for the second bank.
        var words: String { StreamDescription.bankName(stream, bank) }
    }

    /// One offending row.
    struct Finding: Encodable {
        var check: String
        var streamId: Int64?
        var n: Int64?
        var detail: String
    }

    var holds: Bool
    var streams: [Stream]
    var findings: [Finding]

    init(_ report: AuditReport) {
        holds = report.holds
        streams = report.streams.map {
            Stream(
                recording: $0.recordingID, stream: $0.name, bank: $0.bank, firstN: $0.firstN, lastN: $0.lastN, rows: $0.rows,
                missing: $0.missing, recovered: $0.recovered, openGapFirstN: $0.openGapFirstN, expected: $0.expected,
                residual: $0.residual, lossDetection: $0.certainty.lossDetection, missingCounted: $0.certainty.counted,
                missingTimed: $0.certainty.timed, missingTimedUncertainty: $0.certainty.uncertainty,
                missingUnknown: $0.certainty.unknown, unknownGaps: $0.certainty.unknownGaps)
        }
        findings = report.findings.map {
            Finding(check: $0.check.rawValue, streamId: $0.streamID, n: $0.n, detail: $0.detail)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "STREAM"), .init(heading: "ROWS", alignment: .right),
            .init(heading: "MISSING", alignment: .right), .init(heading: "EXPECTED", alignment: .right),
            .init(heading: "RECOVERED", alignment: .right), .init(heading: "RESULT"),
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
        if holds {
            lines.append(
                style.apply(.good, to: "The audit holds: every sample is stored or ledgered as missing, exactly once."))
        } else {
            lines.append(style.apply(.bad, to: "The audit does not hold. The first offending rows:"))
            lines += findings.map { finding in
                let parts = [finding.streamId.map { "stream \($0)" }, finding.n.map { "n \($0)" }].compactMap { $0 }
                let location = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
                return "  \(finding.check)\(location): \(finding.detail.printable)"
            }
        }
        return lines
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
