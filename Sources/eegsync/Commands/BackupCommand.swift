import ArgumentParser
import Export
import Foundation
import Storage

/// `eegsync backup`: a copy of the whole database.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the whole database, while it records.",
        discussion: """
            The copy is the database at one instant, in one file that needs no other beside it. It is written without its \
            name, flushed to the disk, and only then named; Ctrl-C leaves nothing behind. Nobody who writes to the database \
            waits for it. The last 200 MB of the disk are left free. Only its owner may read the file.

            Keys of pairings stay behind: with them somebody else could speak to your headsets in this machine's name. \
            After a restoration without them, headsets are paired anew. --with-keys writes them to a file of their own beside \
            the copy, FILE-keys, which its owner alone may read.

            `eegsync verify FILE` compares a copy with the database. To restore one, see the page Housekeeping.

            EXAMPLES
              eegsync backup /mnt/stick/eegsync-2026-03-01.sqlite
              eegsync backup --force /srv/backup/eegsync.sqlite --json
            """)

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Copy the keys of pairings, too.")
    var withKeys = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if file.isEmpty || file.hasSuffix("/") || file == "-" { throw ValidationError("Name the file to write.") }
    }

    func run() throws {
        let database = try options.databasePath()
        // Before the database is opened: who closes a file gives back the locks that SQLite has on it in this process.
        try options.refuseOwnFile(file)
        let backup = DatabaseBackup(of: database)
        let bytes = try UnfinishedFiles.removedOnSignals {
            var bar = ProgressBar(label: "copying")
            defer { bar.finish() }
            return try BackupFile(path: file, replacesExisting: force).write(backup) { done, total in
                bar.update(done: done, total: total)
            }
        }
        let hasKeys = withKeys ? try backup.copyKeys(beside: file) : false
        try BackupFacts(database: database, file: file, bytes: bytes, hasKeys: hasKeys).print(asJSON: output.json)
    }
}

/// A copy that was written.
struct BackupFacts: Facts {
    var database: String
    var file: String
    var bytes: Int64
    /// True where the keys of pairings were copied.
    var hasKeys: Bool

    func lines(style: TerminalStyle) -> [String] {
        [
            style.apply(.good, to: "\(file) is a copy of \(database), \(Quantity.bytes(bytes))."),
            hasKeys
                ? "The keys of pairings are in \(file)-keys: keep it as you keep passwords."
                : "It has no keys of pairings; headsets that need them are paired anew after a restoration.",
            "Compare it with the database: eegsync verify \(file)",
        ]
    }
}
