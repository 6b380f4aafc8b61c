import ArgumentParser
import Storage

/// `eegsync audit`: the proof that nothing is missing unnoticed.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prove that every sample is stored or ledgered as missing, exactly once.",
        discussion: """
            Counts the rows of every stream and compares: rows + ledgered missing = last n - first n + 1. Also: no gap \
            overlaps another, nothing is orphaned, times ascend. Reads the whole database; it may \
            run while `eegsync run` records.

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
        let report = try options.open(.readOnly).audit(recording: recording.map(RecordingID.init))
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

        /// Such as `optics-2` for the second bank.
        var words: String { bank == 0 ? stream : "\(stream)-\(bank + 1)" }
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
                residual: $0.residual)
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
        lines.append("")
        if holds {
            lines.append(
                style.apply(.good, to: "The audit holds: every sample is stored or ledgered as missing, exactly once."))
        } else {
            lines.append(style.apply(.bad, to: "The audit does not hold. The first offending rows:"))
            lines += findings.map { finding in
                let parts = [finding.streamId.map { "stream \($0)" }, finding.n.map { "n \($0)" }].compactMap { $0 }
                let place = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
                return "  \(finding.check)\(place): \(finding.detail.printable)"
            }
        }
        return lines
    }
}
