import GRDB
import Synchronization

/// A database that is only looked at, by whoever may read the file.
package struct ReadOnlyStore: Store {
    package let hostBoot: HostBoot
    package let database: OpenDatabase
    private let boot: PresentBoot

    /// The row of ``hostBoot``; nil where the database has not seen it. Who keeps a database open may have opened it before the
    /// daemon did in this boot, so that it is looked for until it is there.
    package var presentBoot: Int64? { boot.row(of: hostBoot, in: database) }

    /// Opens a database file, which must exist and is not changed.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - hostBoot: the boot that instants given to this store belong to.
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `needsWriter`, `busy`.
    package init(path: String, hostBoot: HostBoot) throws(StorageError) {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        try self.init(try opening.openForReading(), hostBoot: hostBoot)
    }

    /// The same for a program that may be alone with the database and may not write beside it: where nobody has the database
    /// open and it is complete without a log, it is read as it stands (https://www.sqlite.org/uri.html#uriimmutable). Whoever
    /// opens it so closes it at once: a program that begins to write meanwhile is not noticed.
    ///
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `needsWriter`, `busy`.
    package init(unattended path: String, hostBoot: HostBoot) throws(StorageError) {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        do throws(StorageError) {
            try self.init(try opening.openForReading(), hostBoot: hostBoot)
        } catch {
            guard case .needsWriter = error, !DatabaseOpening.hasLog(path) else { throw error }
            try self.init(try opening.openForReading(isImmutable: true), hostBoot: hostBoot)
        }
    }

    private init(_ database: OpenDatabase, hostBoot: HostBoot) throws(StorageError) {
        self.database = database
        boot = PresentBoot(try database.row(of: hostBoot))
        self.hostBoot = hostBoot
    }
}

/// The row of the present host boot, which stays once it is found.
private final class PresentBoot: Sendable {
    private let found: Mutex<Int64?>

    init(_ row: Int64?) { found = Mutex(row) }

    /// Nil where the database has not seen the boot, or cannot be read just now.
    func row(of hostBoot: HostBoot, in database: OpenDatabase) -> Int64? {
        if let row = found.withLock({ $0 }) { return row }
        // Without the lock, as the connection has one, too. Who asks may be in the midst of a reading of the same connection.
        let row = try? database.writer.unsafeReentrantRead { db in
            try Int64.fetchOne(db, sql: "SELECT id FROM host_boot WHERE uuid = ?", arguments: [hostBoot.uuid])
        }
        if let row { found.withLock { $0 = row } }
        return row
    }
}
