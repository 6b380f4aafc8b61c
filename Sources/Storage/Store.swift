import Foundation
import GRDB
import Glibc
import Synchronization

/// The database: what was recorded, what is missing, and what the operator wants.
///
/// Every call is synchronous and safe from any thread; writes wait for each other. One process acquires into a database
/// (see ``AcquisitionLock``), any number of others may read it and change the operator's wishes.
public final class Store: Sendable {
    /// What the database is opened for.
    public enum Mode: Hashable, Sendable {
        /// By the process that acquires; takes the ``AcquisitionLock`` for the life of the store. Creates the file.
        case acquire
        /// By commands that change the operator's wishes. Creates the file.
        case control
        /// By commands that only look. The file must exist.
        case readOnly
    }

    /// The file, or nil for a database in memory.
    public var path: String? { connection.path }
    /// The host boot that instants given to this store belong to.
    public let hostBoot: HostBoot
    let connection: Connection
    /// Row of ``hostBoot``; nil in a read-only database that has not seen the boot.
    let hostBootID: Int64?
    private let lock: AcquisitionLock?
    /// True where no other process acquires into the database: this one holds the lock, or it is in memory.
    var isAcquiring: Bool { lock != nil || path == nil }

    /// Opens a database file, creates it where the mode allows that, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: the file; its directory must exist.
    ///   - hostBoot: the boot that instants given to this store belong to.
    ///   - mode: what the database is opened for.
    ///   - options: durability and limits.
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `readOnly`, `diskFull`, `busy`; `inUse` in mode
    ///   ``Mode/acquire``. A file that is refused was not changed.
    public init(path: String, hostBoot: HostBoot, mode: Mode, options: StoreOptions = StoreOptions()) throws(StorageError) {
        try DatabaseOpening.checkDirectory(of: path)
        self.lock = mode == .acquire ? try AcquisitionLock(database: path) : nil
        self.hostBoot = hostBoot
        let opening = DatabaseOpening(path: path, options: options)
        self.connection = Connection(writer: try opening.open(mode: mode), path: path)
        self.hostBootID = try connection.hostBootID(of: hostBoot, creating: mode != .readOnly)
    }

    private init(connection: Connection, hostBoot: HostBoot) throws(StorageError) {
        self.lock = nil
        self.connection = connection
        self.hostBoot = hostBoot
        self.hostBootID = try connection.hostBootID(of: hostBoot, creating: true)
    }

    /// A new database in memory, for simulations and tests.
    public static func inMemory(hostBoot: HostBoot, options: StoreOptions = StoreOptions()) throws(StorageError) -> Store {
        let writer = try DatabaseOpening(path: ":memory:", options: options).openInMemory()
        return try Store(connection: Connection(writer: writer, path: nil), hostBoot: hostBoot)
    }

    /// A second store on the same open database under another host boot: what a reboot of the host looks like to the
    /// database. The database stays open while either store exists.
    public func reopened(hostBoot: HostBoot) throws(StorageError) -> Store {
        try Store(connection: connection, hostBoot: hostBoot)
    }

    /// A number that changes whenever another process, or a control call of this one, has changed the database.
    ///
    /// Commits of this process do not change it (`PRAGMA data_version`), so it says cheaply whether to look at
    /// ``openRecordings()`` again.
    public func dataVersion() throws(StorageError) -> Int64 {
        let ownChanges = connection.controlChanges.withLock { $0 }
        let others = try connection.perform { writer in
            // The number is one of a connection, so it is always asked from the same one: the writer's.
            try writer.writeWithoutTransaction { db in try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
        }
        return others &+ ownChanges &<< 32
    }

    /// Makes everything committed so far survive a power cut, which `synchronous=NORMAL` alone does only at checkpoints.
    ///
    /// - Throws: ``StorageError`` where the disk refuses.
    public func synchronise() throws(StorageError) {
        guard let path else { return }
        let file = Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC)
        // Without a WAL everything is in the database, which a checkpoint has synchronised.
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        guard fsync(file) == 0 else {
            let reason = String(cString: strerror(errno))
            throw errno == ENOSPC ? .diskFull(detail: reason) : .sqlite(code: 10, detail: "fsync of \(path)-wal: \(reason)")
        }
    }

    /// Closes the database and gives the acquisition lock back. Further calls throw.
    public func close() throws(StorageError) {
        try connection.close()
        lock?.release()
    }
}

/// Durability and limits of an open database.
public struct StoreOptions: Hashable, Sendable {
    /// True: a commit survives power loss (`synchronous=FULL`). False: power loss may cost the last commits, never the
    /// database; a killed process costs nothing in either case.
    public var isFullySynchronous: Bool
    /// How long a call waits for other processes before it throws `busy`.
    public var busyTimeoutSeconds: Double
    /// The most pages (4,096 bytes) that the file may have, for tests of a full disk; nil for SQLite's own limit.
    public var maximumPageCount: Int?

    /// Creates options. Five seconds are far above any commit of one second of samples, and short enough for a person.
    public init(isFullySynchronous: Bool = false, busyTimeoutSeconds: Double = 5, maximumPageCount: Int? = nil) {
        self.isFullySynchronous = isFullySynchronous
        self.busyTimeoutSeconds = busyTimeoutSeconds
        self.maximumPageCount = maximumPageCount
    }
}

/// The open database that several stores may share.
final class Connection: Sendable {
    let writer: any DatabaseWriter
    let path: String?
    /// Counts control calls, which `PRAGMA data_version` does not show to their own connection.
    let controlChanges = Mutex<Int64>(0)

    init(writer: any DatabaseWriter, path: String?) {
        self.writer = writer
        self.path = path
    }

    deinit { try? close() }

    func close() throws(StorageError) {
        try perform { writer in
            // Readers first: only the writer, if it closes last, moves the write-ahead log into the file and removes it.
            (writer as? DatabasePool)?.invalidateReadOnlyConnections()
            try writer.close()
        }
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
        try perform { writer in try writer.read(body) }
    }

    func write<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        try perform { writer in try writer.write(body) }
    }

    func hostBootID(of hostBoot: HostBoot, creating: Bool) throws(StorageError) -> Int64? {
        let query = "SELECT id FROM host_boot WHERE uuid = ?"
        let known = try read { db in try Int64.fetchOne(db, sql: query, arguments: [hostBoot.uuid]) }
        if known != nil || !creating { return known }
        return try write { db in
            // Another process may have been faster.
            try db.execute(sql: "INSERT OR IGNORE INTO host_boot (uuid) VALUES (?)", arguments: [hostBoot.uuid])
            return try Int64.fetchOne(db, sql: query, arguments: [hostBoot.uuid])
        }
    }
}

extension Store {
    /// The row of the host boot, for writing.
    func requireHostBoot() throws(StorageError) -> Int64 {
        guard let hostBootID else { throw StorageError.readOnly(detail: "the database was opened for reading only") }
        return hostBootID
    }
}
