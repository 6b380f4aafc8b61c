import GRDB
import Synchronization

/// The open database that several stores may share.
package final class OpenDatabase: Sendable {
    let writer: any DatabaseWriter
    /// The file, or nil for a database in memory.
    let path: String?
    /// False where a benchmark wants no digests of rows.
    let keepsEvidence: Bool
    /// What of the disk is not filled; nil for a database that is on none.
    let reserve: DiskReserve?
    /// The keys of pairings, which are not in it.
    let keys: PairingKeyFile
    /// Triggers of others, which were removed from the database; see ``ForeignTrigger``.
    let removedTriggers: [ForeignTrigger]
    private let lock: AcquisitionLock?
    /// Which file it is; nil for one that is only read, or in memory.
    let file: OpenedFile?
    /// How long it waits for others; nil for one that is only read, or in memory.
    let lockWait: LockWait?
    /// True where no other process acquires into the database: this one holds the lock, or it is in memory.
    var isAcquiring: Bool { lock != nil || path == nil }
    /// Counts control calls, which `PRAGMA data_version` does not show to their own connection.
    private let controlChanges = Mutex<Int64>(0)

    init(
        writer: any DatabaseWriter, path: String?, lock: AcquisitionLock? = nil, keepsEvidence: Bool = true,
        reserve: DiskReserve? = nil, keys: PairingKeyFile? = nil, removedTriggers: [ForeignTrigger] = [],
        file: OpenedFile? = nil, lockWait: LockWait? = nil
    ) {
        self.file = file
        self.lockWait = lockWait
        self.keepsEvidence = keepsEvidence
        self.reserve = reserve
        self.keys = keys ?? PairingKeyFile(database: path)
        self.removedTriggers = removedTriggers
        self.writer = writer
        self.path = path
        self.lock = lock
    }

    deinit { try? close() }

    func close() throws(StorageError) {
        try perform { writer in
            // Readers first: only the writer, if it closes last, moves the write-ahead log into the file and removes it.
            (writer as? DatabasePool)?.invalidateReadOnlyConnections()
            try writer.close()
        }
        lock?.release()
    }

    /// Runs a piece of work and translates its errors.
    func perform<Result>(_ body: (any DatabaseWriter) throws -> Result) throws(StorageError) -> Result {
        do {
            return try body(writer)
        } catch {
            throw StorageError(error, path: path ?? ":memory:")
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        try perform { writer in
            // A further connection would be made by the path, and be one to another file.
            guard file?.isLeft == true else { return try writer.read(body) }
            return try writer.unsafeReentrantWrite { db in
                if db.isInsideTransaction { return try body(db) }
                var result: Result?
                try db.inTransaction(.deferred) {
                    result = try body(db)
                    return .commit
                }
                guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
                return result
            }
        }
    }

    func write<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        try perform { writer in try writer.write(body) }
    }

    /// Writes everything that the WAL holds into the database file, and both to the disk. Waits for nobody.
    ///
    /// - Throws: `busy` where a reader of an older snapshot keeps pages in the WAL, and what the disk refuses.
    func checkpoint() throws(StorageError) {
        let (inLog, done) = try perform { writer in
            try writer.writeWithoutTransaction { db in
                let result = try db.checkpoint(.passive)
                return (result.walFrameCount, result.checkpointedFrameCount)
            }
        }
        guard done == inLog else {
            throw .busy(detail: "\(inLog - done) of \(inLog) pages wait for a reader of an older snapshot")
        }
    }

    func noteControlChange() {
        controlChanges.withLock { $0 &+= 1 }
    }

    /// A number that changes whenever another process, or a control call of this one, has changed the database.
    ///
    /// Commits of this process do not change it (`PRAGMA data_version`), so it says cheaply whether to look at the operator's
    /// wishes again.
    func dataVersion() throws(StorageError) -> Int64 {
        let ownChanges = controlChanges.withLock { $0 }
        let others = try perform { writer in
            // The number is one of a connection, so it is always asked from the same one: the writer's.
            try writer.writeWithoutTransaction { db in
                try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
            }
        }
        return others &+ ownChanges &<< 32
    }

    /// The row of a host boot; nil where the database has not seen it.
    func row(of hostBoot: HostBoot) throws(StorageError) -> Int64? {
        try read { db in try Self.row(of: hostBoot, in: db) }
    }

    /// The row of a host boot, which is inserted where the database has not seen it.
    func insertedRow(of hostBoot: HostBoot) throws(StorageError) -> Int64 {
        if let known = try row(of: hostBoot) { return known }
        return try write { db in
            // Another process may have been faster.
            try db.execute(sql: "INSERT OR IGNORE INTO host_boot (uuid) VALUES (?)", arguments: [hostBoot.uuid])
            return try Self.row(of: hostBoot, in: db) ?? db.lastInsertedRowID
        }
    }

    private static func row(of hostBoot: HostBoot, in db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT id FROM host_boot WHERE uuid = ?", arguments: [hostBoot.uuid])
    }
}
