import ArgumentParser
import Foundation
import Storage
import Synchronization

/// `eegsync merge`: another database comes in.
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Take over what another eegsync database has and this one does not.",
        discussion: """
            Two machines with one headset, a card that was copied, an older copy that went on elsewhere, a recording that was \
            fetched: recordings that are not here come in as they are. Of a recording that both have, samples that lie in gaps \
            here, or beyond its end, come in, and the gaps shrink; samples that both have must agree. Those that do not are \
            kept aside (view `merge_conflict_value`), and what is here stays. Where two machines have recorded one headset at \
            once, its counter says which samples are the same: these are compared, and where all agree, gaps of the recording \
            that was made here are filled from the other one.

            The other database is only read, and audited first; of one that was damaged or changed nothing comes in. Each \
            recording comes in one transaction, in which its audit holds. A second time nothing is new. It is refused while \
            `eegsync run` runs (75): stop it first. See the page Merging databases.

            Exit code 0; 65 where samples differ, where nothing proves which samples rows of the other database are, or where \
            evidence here contradicts them.

            EXAMPLES
              eegsync merge /mnt/stick/eegsync.sqlite --dry-run
              eegsync merge /mnt/stick/eegsync.sqlite
              eegsync merge night.sqlite --database study.sqlite --json
            """)

    @Argument(help: ArgumentHelp("The other database.", valueName: "file"), completion: .file(extensions: ["sqlite"]))
    var file: String

    @Flag(help: "Say what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let database = try options.databasePath()
        let store = try options.openForMaintenance()
        defer { try? store.close() }
        try store.control.noteClockOffset(HostClock.offset())
        // Before the machines of the other database.
        if try store.machines().isEmpty, let identity = MachineIdentity.current() {
            try store.control.note(identity, at: HostClock.now)
        }
        let bar = Mutex(ProgressBar(label: "auditing", unit: "rows"))
        let readers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
        let other: MergeSource
        do {
            other = try MergeSource(path: file, hostBoot: try HostBoot.current(), readerCount: readers) { done, total in
                bar.withLock { $0.update(done: done, total: total) }
            }
        } catch StorageError.cannotOpen(let path, let reason) where path == file {
            throw Failure(
                problem: "the other database \(file) cannot be opened: \(reason).", consequence: "nothing came in.",
                remedy: "check the path and who may read it (ls -l).", code: .noInput)
        }
        bar.withLock { $0.finish() }
        var merging = ProgressBar(label: "merging", unit: "recordings")
        let report = try store.merge(other, isRehearsal: dryRun, at: HostClock.now) { done, total in
            merging.update(done: Int64(done), total: Int64(total))
        }
        merging.finish()
        let facts = MergeFacts(report, file: file, database: database, isDryRun: dryRun)
        try facts.print(asJSON: output.json)
        if !facts.agrees { throw ExitCode(Failure.Code.dataError.rawValue) }
    }
}
