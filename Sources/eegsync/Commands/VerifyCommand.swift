import ArgumentParser
import Export
import Foundation
import Storage
import Synchronization

/// `eegsync verify`: whether a backup holds what the database does.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare a backup with the database that it was made of.",
        discussion: """
            An audit says whether one database is what it was when it was written; this says whether two have the same. The \
            backup is audited: its rows are those of its own blocks. Then the end of each chain of blocks in it, and the sums \
            of what says what samples mean, are compared with the database: equal digests are equal rows. So are the clocks \
            by which the instants of each boot become UTC. What the database recorded since is counted, and is no difference; \
            nor is what it has deleted.

            --quick leaves the audit out, and with it damage of the backup's file.

            Exit code 0 where the backup has what the database had then, 65 where something differs.

            EXAMPLES
              eegsync verify /mnt/stick/eegsync-2026-03-01.sqlite
              eegsync verify /mnt/stick/eegsync-2026-03-01.sqlite --json
            """)

    @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file(extensions: ["sqlite"]))
    var file: String

    @Flag(help: "Compare digests only; the backup's rows are not read.")
    var quick = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    mutating func validate() throws {
        // Where it is a link, what stands in its log is beside what that leads to.
        file = DatabaseFiles.resolve(file)
    }

    func run() throws {
        let database = try options.databasePath()
        if PartialFile.isSame(file, database) {
            throw Failure(
                problem: "\(file) is the database itself.", consequence: "nothing was compared.",
                remedy: "name a copy of it, or the database of which it is one with --database.", code: .usage)
        }
        let bar = Mutex(ProgressBar(label: "verifying"))
        var facts = VerificationFacts(file: file, database: database, isAudited: !quick)
        do {
            let backup = try ReadOnlyStore(unattended: file, hostBoot: try HostBoot.current())
            if !quick {
                let readers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
                let report = try backup.audit(AuditScope(readerCount: readers)) { done, total in
                    bar.withLock { $0.update(done: done, total: total) }
                }
                facts.differences = report.findings.map { "in the backup: \($0.check.evidence.rawValue): \($0.detail)" }
            }
            facts.add(try BackupComparison(of: backup, with: try options.openReadOnly()))
        } catch StorageError.corrupt(let path, let detail) where path == file {
            facts.differences.append("the backup is damaged: \(detail)")
        } catch StorageError.cannotOpen(let path, let reason) where path == file {
            throw Failure(
                problem: "the backup \(file) cannot be opened: \(reason).", consequence: "nothing was compared.",
                remedy: "check the path and who may read it (ls -l); `eegsync backup FILE` writes a backup.", code: .noInput)
        }
        bar.withLock { $0.finish() }
        try facts.print(asJSON: output.json)
        if !facts.isSame { throw ExitCode(Failure.Code.dataError.rawValue) }
    }
}

/// What a comparison found.
struct VerificationFacts: Facts {
    var file: String
    var database: String
    var isAudited: Bool
    var isSame: Bool
    var streams = 0
    var rows: Int64 = 0
    /// Streams that were deleted in the database since.
    var deletedStreams = 0
    /// Rows that were recorded since.
    var rowsSince: Int64 = 0
    var differences: [String] { didSet { isSame = differences.isEmpty } }

    init(file: String, database: String, isAudited: Bool) {
        (self.file, self.database, self.isAudited) = (file, database, isAudited)
        (isSame, differences) = (true, [])
    }

    mutating func add(_ comparison: BackupComparison) {
        (streams, rows, rowsSince) = (comparison.streams, comparison.rows, comparison.rowsSince)
        deletedStreams = comparison.deletedStreams
        differences += comparison.differences
    }

    func lines(style: TerminalStyle) -> [String] {
        let sum = "\(Quantity.count(rows, "row")) of \(Quantity.count(Int64(streams), "stream"))"
        guard isSame else {
            return [style.apply(.bad, to: "\(file) is not what \(database) was:")]
                + differences.prefix(20).map { "  \($0.printable)" }
                + (differences.count > 20 ? ["  ... and \(differences.count - 20) more"] : [])
        }
        var lines = [style.apply(.good, to: "\(file) has what \(database) had when it was made: \(sum).")]
        if !isAudited { lines.append("Its rows were not read (--quick): digests alone were compared.") }
        if rowsSince > 0 { lines.append("Recorded since, and only in the database: \(Quantity.count(rowsSince, "row")).") }
        if deletedStreams > 0 {
            lines.append(
                "Deleted in the database since, and still in the backup: \(Quantity.count(Int64(deletedStreams), "stream")).")
        }
        return lines
    }
}
