import Acquisition
import ArgumentParser
import Bluetooth
import Export
import Foundation
import Report
import Storage
import Synchronization

/// `eegsync report`: what a recording was like, as a page for people who look.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page of pictures that shows how a recording went.",
        discussion: """
            One HTML file that any browser opens and prints, with nothing in it that needs a network or runs: connection and \
            gaps with their causes over time, battery, contact and signal quality of each channel, the spectrum of each \
            channel and hour, how the samples lie in time, what the recording was made with, and the audit.

            The page is as the recording is at this moment, also while it is being recorded. It holds what the database says \
            of the subject: mind whom you give it to. An existing file is replaced only with --force; Ctrl-C leaves nothing \
            unfinished behind.

            Exit code 0 where the page was written, also where it says that the audit fails.

            EXAMPLES
              eegsync report 12 -o night.html
              eegsync report latest -o now.html --force
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where the page goes.", valueName: "path"),
        completion: .file(extensions: ["html"]))
    var output: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if output.isEmpty || output.hasSuffix("/") { throw ValidationError("The output must be the path of a file.") }
        if output == "-" {
            throw ValidationError(
                "A page is read back before it gets its name, which standard output does not allow: give a path.")
        }
    }

    func run() throws {
        let store = try options.openReadOnly()
        let number = RecordingID(rawValue: try recording.number(in: store))
        let report = RecordingReport(store: store, recording: number, context: ReportContext(zone: times.clock.zone))
        let facts = try UnfinishedFiles.removedOnSignals { try report.write(to: output, replacesExisting: force) }
        try facts.print(asJSON: outputOptions.json, clock: times.clock)
    }
}

/// Reads what a report shows, and audits the recording meanwhile.
struct RecordingReport {
    let store: ReadOnlyStore
    let recording: RecordingID
    let context: ReportContext

    /// Writes the page to a path, complete or not at all.
    func write(to path: String, replacesExisting: Bool) throws -> ReportFacts {
        let file = try DocumentFile(path: path, replacesExisting: replacesExisting, sparing: store.path)
        let document = try document()
        let bytes = try file.publish(ReportPage(document).html)
        return ReportFacts(
            recording: recording.rawValue, path: path, bytes: bytes, auditHolds: document.audit.holds,
            findings: document.audit.findings.count)
    }

    private func document() throws -> ReportDocument {
        let reading = try ReportReading(store: store, recording: recording, context: context)
        let bar = Mutex(ProgressBar(label: "reading", unit: "rows", clock: { HostClock.now }))
        let audited = Atomic<Int64>(0)
        let read = Atomic<Int64>(0)
        // The audit reads each row as well.
        let total = max(1, reading.rowCount * 2)
        @Sendable func show() {
            let done = audited.load(ordering: .relaxed) + read.load(ordering: .relaxed)
            bar.withLock { $0.update(done: min(done, total), total: total) }
        }
        defer { bar.withLock { $0.finish() } }
        let report = try audit { done in
            audited.store(done, ordering: .relaxed)
            show()
        }
        return try reading.document(audit: AuditLines(AuditFacts(report))) { rows in
            read.store(rows, ordering: .relaxed)
            show()
        }
    }

    private func audit(_ progress: @escaping @Sendable (Int64) -> Void) throws -> AuditReport {
        do {
            return try store.audit(
                AuditScope(recording: recording, readerCount: max(1, min(4, ProcessInfo.processInfo.activeProcessorCount)))
            ) { done, _ in progress(done) }
        } catch StorageError.corrupt(_, let detail) {
            return .damaged(detail)
        }
    }
}

extension ReportContext {
    /// That of this program, now.
    init(zone: TimeZone) {
        self.init(
            version: Eegsync.version, now: Int64(Date().timeIntervalSince1970 * 1e9), clock: ReportClock(zone: zone),
            stateWords: Dictionary(
                ConnectionPhase.allCases.map { ($0.rawValue, $0.words) }, uniquingKeysWith: { first, _ in first }))
    }
}

extension AuditLines {
    /// What `eegsync audit` prints.
    init(_ facts: AuditFacts) {
        self.init(
            holds: facts.holds,
            statements: facts.evidence.map { Statement(evidence: $0.evidence, result: $0.result, detail: $0.detail) },
            findings: facts.findings.map { finding in
                let parts = [finding.stream, finding.n.map { "n \($0)" }].compactMap(\.self)
                let location = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
                return "\(finding.evidence)\(location): \(finding.detail)"
            })
    }
}

/// What was written.
struct ReportFacts: Facts {
    var recording: Int64
    var path: String
    var bytes: Int64
    var auditHolds: Bool
    /// How many contradictions the page lists.
    var findings: Int

    func lines(style: TerminalStyle) -> [String] {
        let audit =
            auditHolds
            ? style.apply(.good, to: "The audit holds.")
            : style.apply(.bad, to: "The audit fails: \(Quantity.count(Int64(findings), "finding")), which the page lists.")
        return ["\(path.printable): recording \(recording), \(Quantity.bytes(bytes)). \(audit)"]
    }
}
