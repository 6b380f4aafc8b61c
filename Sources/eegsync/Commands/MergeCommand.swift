import ArgumentParser
import Export
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

            The other database is only read, and audited first; of one that was damaged or changed nothing comes in. One of an \
            older version is read through a copy that is brought up to date: it is made beside the database that is merged \
            into, and removed at the end. Each recording comes in one transaction, in which its audit holds. A second time \
            nothing is new. It is refused while `eegsync run` runs (75): stop it first. See the page Merging databases.

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

    mutating func validate() throws {
        // Where it is a link, what stands in its log is beside what that leads to.
        file = DatabaseFiles.resolve(file)
    }

    func run() throws {
        let database = try options.databasePath()
        let store = try options.openForMaintenance()
        defer { try? store.close() }
        try store.control.noteClockOffset(HostClock.offset())
        // Before the machines of the other database.
        if try store.machines().isEmpty, let identity = MachineIdentity.current() {
            try store.control.note(identity, at: HostClock.now)
        }
        let facts = try UnfinishedFiles.removedOnSignals { try merge(into: store, at: database) }
        try facts.print(asJSON: output.json)
        if !facts.agrees { throw ExitCode(Failure.Code.dataError.rawValue) }
    }

    private func merge(into store: AcquisitionStore, at database: String) throws -> MergeFacts {
        // Before anything opens it: who closes a file gives back the locks that SQLite has on it in this process.
        if PartialFile.isSame(file, database) { throw MergeError.sameDatabase(path: file) }
        // Where the database is a link, its disk and its directory are those that it leads to.
        let target = URL(fileURLWithPath: database).resolvingSymlinksInPath().path
        HiddenDirectory.removeAbandoned(beside: target)
        do {
            guard let older = try OlderDatabase(path: file) else { return try merge(nil, into: store, at: database) }
            return try HiddenDirectory.during(beside: target) { directory in
                try merge(broughtUpToDate(older, in: directory), into: store, at: database)
            }
        } catch StorageError.cannotOpen(let path, let reason) where path == file {
            throw Failure(
                problem: "the other database \(file) cannot be opened: \(reason).", consequence: "nothing came in.",
                remedy: "check the path and who may read it (ls -l).", code: .noInput)
        }
    }

    /// Makes a copy of a file of an older version.
    private func broughtUpToDate(_ older: OlderDatabase, in directory: String) throws -> String {
        let bar = Mutex(ProgressBar(label: "copying"))
        defer { bar.withLock { $0.finish() } }
        return try older.broughtUpToDate(in: directory) { step in
            bar.withLock { bar in
                switch step {
                case .copying(let share): bar.update(done: Int64(1000 * share), total: 1000)
                case .changing:
                    bar.label = "bringing the copy up to date"
                    bar.update(done: 1000, total: 1000)
                case .copied, .notCopied: break
                }
            }
        }
    }

    /// - Parameter copy: what is read of a file of an older version.
    private func merge(_ copy: String?, into store: AcquisitionStore, at database: String) throws -> MergeFacts {
        let bar = Mutex(ProgressBar(label: "auditing", unit: "rows"))
        let readers = max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
        let other = try MergeSource(path: file, copy: copy, hostBoot: try HostBoot.current(), readerCount: readers) {
            done, total in
            bar.withLock { $0.update(done: done, total: total) }
        }
        bar.withLock { $0.finish() }
        var merging = ProgressBar(label: "merging", unit: "recordings")
        let report = try store.merge(other, isRehearsal: dryRun, at: HostClock.now) { done, total in
            merging.update(done: Int64(done), total: Int64(total))
        }
        merging.finish()
        return MergeFacts(
            report, file: file, database: database, isDryRun: dryRun, isOfOlderVersion: other.isOfOlderVersion)
    }
}
