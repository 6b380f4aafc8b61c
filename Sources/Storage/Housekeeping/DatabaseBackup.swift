import Foundation
import GRDB
import GRDBSQLite
import Glibc

/// A copy of a whole database, as it is at one instant, while others go on writing to it.
///
/// It is made by `VACUUM INTO`: one transaction that only reads, so that no writer waits, and a new file without free pages, in
/// which nothing is left of what was deleted. The write-ahead log cannot begin anew meanwhile, and grows by what is recorded.
package struct DatabaseBackup {
    package let database: String

    /// What stays behind: keys of pairings, which databases of earlier versions held, and the spool, which is of the process
    /// that fills it.
    private static let left = ["long_term_key", "identity_resolving_key", "link_key", "spool"]
    /// Steps of SQLite's virtual machine between two looks at how far it is.
    var operations: Int32 = 1_000_000

    package init(of database: String) { self.database = database }

    /// The bytes that a copy has, about.
    ///
    /// - Throws: ``StorageError`` where the file is no database of this program, or of a newer version.
    package func size() throws(StorageError) -> Int64 {
        let opening = DatabaseOpening(path: database, options: StoreOptions())
        try DatabaseOpening.checkDirectory(of: database)
        guard FileManager.default.fileExists(atPath: database) else {
            throw .cannotOpen(path: database, reason: "it is not there")
        }
        guard try opening.inspect() != nil else { throw .cannotOpen(path: database, reason: "it is empty") }
        return try perform { source in try Self.usedBytes(source) }
    }

    /// Writes the copy, and does not flush it to the disk.
    ///
    /// - Parameters:
    ///   - target: a file that is empty, or not there.
    ///   - progress: gets how many bytes are written, and about how many there will be.
    package func write(
        to target: String, progress: @escaping (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(StorageError) {
        let watch = FileGrowth(path: target, progress: progress)
        try perform { source in
            watch.total = try Self.usedBytes(source)
            sqlite3_progress_handler(
                source.sqliteConnection, operations,
                { context in
                    guard let context else { return 0 }
                    Unmanaged<FileGrowth>.fromOpaque(context).takeUnretainedValue().report()
                    return 0
                }, Unmanaged.passUnretained(watch).toOpaque())
            defer { sqlite3_progress_handler(source.sqliteConnection, 0, nil, nil) }
            try source.execute(sql: "VACUUM INTO ?", arguments: [target])
        }
        do {
            try Self.strip(target)
        } catch {
            throw StorageError(error, path: target)
        }
    }

    /// Copies the keys of pairings beside a copy, where one of that name finds them: `<copy>-keys`, of mode 0600. Whoever has
    /// them can speak to the headsets in this machine's name.
    ///
    /// - Returns: whether there are any.
    /// - Throws: `cannotOpen` where they cannot be read, `diskFull`, `readOnly`.
    package func copyKeys(beside copy: String) throws(StorageError) -> Bool {
        let keys = try PairingKeyFile(database: database).keys()
        guard keys != PairingKeys() else { return false }
        try PairingKeyFile(database: copy).change { $0 = keys }
        return true
    }

    /// Pages that hold something.
    static func usedBytes(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT (p.page_count - f.freelist_count) * s.page_size
                FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s
                """) ?? 0
    }

    private func perform<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        do {
            // Without `query_only`, by which SQLite refuses to write the other file as well; the flag of opening protects this.
            var configuration = Configuration.ofOrdinaryPriority
            configuration.readonly = true
            configuration.busyMode = .timeout(StoreOptions().busyTimeoutSeconds)
            let source = try DatabaseQueue(path: database, configuration: configuration)
            defer { try? source.close() }
            return try source.inDatabase(body)
        } catch {
            throw StorageError(error, path: database)
        }
    }

    /// Leaves out what belongs to this machine alone, and makes one file of it that is read without any other.
    static func strip(_ path: String) throws {
        var configuration = Configuration.ofOrdinaryPriority
        configuration.prepareDatabase { db in
            // What is removed is overwritten; the file is flushed as a whole later.
            for pragma in ["secure_delete = ON", "synchronous = OFF", "journal_mode = MEMORY"] {
                try db.execute(sql: "PRAGMA \(pragma)")
            }
        }
        let copy = try DatabaseQueue(path: path, configuration: configuration)
        try copy.inDatabase { db in
            for table in left where try db.tableExists(table) { try db.execute(sql: "DELETE FROM \(table)") }
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        try copy.close()
    }
}

extension AcquisitionStore {
    /// Writes what a database in memory holds into a new file.
    ///
    /// - Throws: ``StorageError`` where the file cannot be made.
    package func copy(to path: String) throws(StorageError) {
        do {
            let copy = try DatabaseQueue(path: path)
            try database.writer.backup(to: copy)
            try copy.close()
            try DatabaseBackup.strip(path)
        } catch {
            throw StorageError(error, path: path)
        }
    }
}

/// How far a file has grown.
private final class FileGrowth {
    let path: String
    let progress: (Int64, Int64) -> Void
    var total: Int64 = 0

    init(path: String, progress: @escaping (Int64, Int64) -> Void) {
        (self.path, self.progress) = (path, progress)
    }

    func report() {
        var facts = stat()
        if stat(path, &facts) == 0 { progress(Int64(facts.st_size), total) }
    }
}
