// Settings of SQLite, made when the process starts; there is nothing to call.
import CSQLite
import Foundation
import GRDB
import GRDBSQLite
import Glibc
import Migrations

/// How a database file is checked, opened and brought up to date.
struct DatabaseOpening {
    /// The file itself, whatever link led to it.
    let path: String
    let options: StoreOptions
    /// What hears that a change of the schema makes progress; see ``SchemaUpdate``.
    var progress: SchemaProgress?
    /// What of the disk is not filled.
    var reserve: DiskReserve?
    /// Of all connections that write.
    private let lockWait: LockWait

    init(
        path: String, options: StoreOptions, progress: SchemaProgress? = nil, reserve: DiskReserve? = DiskReserve()
    ) {
        self.path = DatabaseFiles.resolve(path)
        (self.options, self.progress, self.reserve) = (options, progress, reserve)
        lockWait = LockWait(.seconds(options.busyTimeoutSeconds))
    }

    static func checkDirectory(of path: String) throws(StorageError) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileAccess(path: path).check()
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw StorageError.directoryMissing(path: directory)
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw StorageError.cannotOpen(path: path, reason: "it is a directory")
        }
    }

    /// Creates the file before SQLite does, with the mode that its companions will inherit.
    private func create() {
        let modes = FileModes(database: path)
        // Only what this process has surely made is given away: a link may lead to a file of somebody else.
        var file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if file >= 0 { modes.hand(file) } else { file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644) }
        // What hinders it, SQLite will say better.
        guard file >= 0 else { return }
        modes.share(file)
        Glibc.close(file)
    }

    /// Opens the database for writing: creates the file where there is none, and brings its schema up to date.
    ///
    /// - Parameter isAcquiring: takes the ``AcquisitionLock`` for as long as the database is open. Otherwise wishes are
    ///   written, and a wish is durable when the command returns: with `synchronous=FULL`, SQLite flushes its log with each
    ///   commit, and with it every commit before, of whatever process.
    func openForWriting(isAcquiring: Bool) throws(StorageError) -> OpenDatabase {
        try Self.checkDirectory(of: path)
        let schema = SchemaLock(opening: self)
        let lock = isAcquiring ? try schema.acquire() : try schema.holdForUpdate()
        defer { if !isAcquiring { lock?.release() } }
        var update: SchemaUpdate?
        if FileManager.default.fileExists(atPath: path) {
            update = SchemaUpdate(path: path, pending: try inspect(), progress: progress)
        } else {
            create()
        }
        if isAcquiring { FileModes(database: path).tighten() }
        update?.takeSnapshot(configuration(isReadOnly: true))
        let keys = PairingKeyFile(database: path)
        do {
            let pool = try DatabasePool(path: path, configuration: configuration(isReadOnly: false))
            var removed = try pool.writeWithoutTransaction(ForeignTrigger.all)
            if !removed.isEmpty { removed = try pool.write(ForeignTrigger.removeAll) }
            try pool.writeWithoutTransaction { db in
                // After GRDB, which chooses NORMAL when it switches to WAL.
                let isFull = options.isFullySynchronous || !isAcquiring
                try db.execute(sql: "PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")")
                let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? StoreOptions.pageSize
                try db.execute(sql: "PRAGMA wal_autocheckpoint = \(StoreOptions.checkpointBytes / pageSize)")
            }
            try bringUpToDate(pool, update, keys, isAcquiring: isAcquiring)
            if options.keepsEvidence { try pool.writeWithoutTransaction(DigestedTable.keepSums) }
            lock?.noteUpdated()
            return OpenDatabase(
                writer: pool, path: path, lock: isAcquiring ? lock : nil, keepsEvidence: options.keepsEvidence,
                reserve: reserve, keys: keys, removedTriggers: removed,
                file: isAcquiring ? OpenedFile(path: path) : nil, lockWait: lockWait)
        } catch {
            throw translated(error)
        }
    }

    /// Applies the migrations that are missing, and moves the keys of pairings out of the database.
    private func bringUpToDate(_ pool: DatabasePool, _ update: SchemaUpdate?, _ keys: PairingKeyFile, isAcquiring: Bool) throws
    {
        let move = KeyMove(file: keys)
        if let update {
            try pool.writeWithoutTransaction(move.prepare)
            pool.writeWithoutTransaction(update.watch)
        }
        try migrate(pool)
        if let update { pool.writeWithoutTransaction(update.unwatch) }
        // A command of somebody who may write the database, but not read the keys, has nothing to do with them.
        if update != nil || isAcquiring { try move.finish(pool) }
    }

    /// True where commits may stand in the write-ahead log that the file lacks.
    static func hasLog(_ path: String) -> Bool {
        var facts = stat()
        return stat(path + "-wal", &facts) == 0 && facts.st_size > 0
    }

    /// Opens an existing database, whose schema is up to date, for reading only.
    ///
    /// - Parameter isImmutable: whether the file is read as it stands, without locks and log.
    func openForReading(isImmutable: Bool = false) throws(StorageError) -> OpenDatabase {
        try Self.checkDirectory(of: path)
        guard FileManager.default.fileExists(atPath: path) else {
            throw StorageError.cannotOpen(path: path, reason: "it is not there")
        }
        let name = isImmutable ? Self.uri(of: path, with: "immutable=1") : path
        guard try inspect(name) == [] else {
            throw StorageError.cannotOpen(
                path: path, reason: "it is empty, or `eegsync run` has not yet brought it up to date")
        }
        do {
            let queue = try DatabaseQueue(path: name, configuration: configuration(isReadOnly: true))
            return OpenDatabase(writer: queue, path: path)
        } catch {
            throw translated(error)
        }
    }

    /// The file as a URI with a parameter (https://www.sqlite.org/uri.html); what is no letter or digit of ASCII is escaped,
    /// but for the slashes.
    static func uri(of path: String, with parameter: String) -> String {
        let plain = path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "file:\(plain.joined())?\(parameter)"
    }

    func openInMemory() throws(StorageError) -> OpenDatabase {
        do {
            let queue = try DatabaseQueue(configuration: configuration(isReadOnly: false))
            try migrate(queue)
            try queue.inDatabase(DigestedTable.keepSums)
            return OpenDatabase(writer: queue, path: nil, reserve: reserve)
        } catch {
            throw StorageError(error, path: path)
        }
    }

    /// Creates or updates the schema of an open database.
    func migrate(_ writer: any DatabaseWriter) throws {
        do {
            try DatabaseSchema.bringUpToDate(writer)
        } catch {
            // Another process may create the same database at the same moment. What hinders both is said.
            switch StorageError(error, path: path) {
            case .busy, .constraint, .sqlite(SQLITE_ERROR, _):
                let isComplete = { try writer.read(DatabaseSchema.migrator.hasCompletedMigrations) }
                if try !SchemaLock(opening: self).awaitCreation(isComplete) { throw error }
            default: throw error
            }
        }
    }

    func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration.ofOrdinaryPriority
        configuration.readonly = isReadOnly
        configuration.busyMode =
            isReadOnly
            ? .timeout(options.busyTimeoutSeconds) : .callback { [lockWait] tries in lockWait.pause(after: tries) }
        configuration.label = "eegsync"
        let pages = options.maximumPageCount
        let keepsLog = !isReadOnly && FileModes(database: path).isReadByGroup
        configuration.prepareDatabase { db in
            // The database may have been made by somebody else: its views and expressions reach nothing beyond it.
            try TrustedFunctions.distrustSchema(of: db)
            if keepsLog {
                // Who may not write beside the database reads it through these files, which the last program to close it
                // would remove (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlpersistwal).
                var isPersistent: CInt = 1
                sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
            }
            // Of a database that has no page yet.
            if !isReadOnly { try db.execute(sql: "PRAGMA page_size = \(StoreOptions.pageSize)") }
            if let pages, !isReadOnly { try db.execute(sql: "PRAGMA max_page_count = \(pages)") }
            // After a burst (an export holds the log back) the file shrinks to 64 MiB again.
            if !isReadOnly { try db.execute(sql: "PRAGMA journal_size_limit = \(StoreOptions.writeAheadLogBound)") }
            // Besides the open flag: nothing that a later line of this program may say writes.
            if isReadOnly { try db.execute(sql: "PRAGMA query_only = 1") }
        }
        return configuration
    }

    /// Looks at an existing file through a read-only connection, so that a file that is refused stays as it is.
    ///
    /// - Parameter name: the file as SQLite is to open it; nil for its path.
    /// - Returns: the migrations that have not been applied; nil where the file holds no database yet.
    func inspect(_ name: String? = nil) throws(StorageError) -> [String]? {
        if let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size == 0 { return nil }
        do {
            let queue = try DatabaseQueue(path: name ?? path, configuration: configuration(isReadOnly: true))
            defer { try? queue.close() }
            return try queue.read { db in
                let application = try Int32.fetchOne(db, sql: "PRAGMA application_id")
                let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
                if application != Migration.applicationID {
                    // Empty so far: a creation that was interrupted, or is under way in another process.
                    if application == 0, tables.allSatisfy({ $0 == "grdb_migrations" }) { return nil }
                    throw StorageError.cannotOpen(path: path, reason: "it is a SQLite database of another program")
                }
                let applied = try DatabaseSchema.migrator.appliedIdentifiers(db)
                let all = try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY identifier")
                let unknown = all.filter { identifier in !Migration.all.contains { $0.identifier == identifier } }
                if !unknown.isEmpty {
                    throw StorageError.newerSchema(
                        path: path, unknownMigrations: unknown,
                        snapshot: SchemaSnapshot.existing(of: path, before: unknown.min() ?? ""))
                }
                return Migration.all.map(\.identifier).filter { !applied.contains($0) }
            }
        } catch {
            let translated = translated(error)
            if case .readOnlyFileSystem = translated { throw translated }
            if lacksSharedMemory { throw StorageError.needsWriter(path: path) }
            throw translated
        }
    }

    /// An error of opening, where SQLite itself knows only that it could not.
    private func translated(_ error: any Error) -> StorageError {
        let translated = StorageError(error, path: path)
        switch translated {
        case .cannotOpen, .readOnly:
            return FileAccess(path: path).isOnReadOnlyFileSystem ? .readOnlyFileSystem(path: path) : translated
        default: return translated
        }
    }

    /// Whether a database in WAL mode that this user may read lacks the file that readers share, and they may not create it
    /// (https://www.sqlite.org/wal.html#readonly).
    private var lacksSharedMemory: Bool {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return access(path, R_OK) == 0 && access(directory, W_OK) != 0 && access(path + "-shm", R_OK) != 0
    }
}
