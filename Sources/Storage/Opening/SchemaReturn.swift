import Foundation
import GRDB
import Glibc

/// The way back to an older version of eegsync, whose schema the database had before.
package struct SchemaReturn: Hashable, Sendable {
    /// The database, which holds again what the copy had.
    package let database: String
    /// Where that stands which the newer version has made of it.
    package let newer: String

    /// Puts the copy from before the newer version in the database's stead, and keeps what the newer version wrote.
    ///
    /// - Parameters:
    ///   - path: the database, into which nobody acquires.
    ///   - suffix: what is appended to its name for the newer one, such as `-newer-20260301T100000Z`.
    /// - Throws: ``StorageError/refused(reason:)`` where this version can open the database as it is, or where there is no
    /// copy;
    ///   `inUse`, and `busy` where another program has it open. Nothing was changed then.
    package init(of path: String, suffix: String) throws(StorageError) {
        let lock = try AcquisitionLock(database: path)
        defer { lock.release() }
        let snapshot = try Self.snapshot(of: path)
        database = path
        newer = path + suffix
        try Self.closeLog(of: path)
        // Two names for a moment, so that there is a database at each instant: one that is missing would be created anew.
        guard link(path, newer) == 0 else { throw Self.failed(path) }
        // The copy is for its owner alone; the database is for whom the newer one was.
        var facts = stat()
        if stat(newer, &facts) == 0 { chmod(snapshot, facts.st_mode & 0o777) }
        guard rename(snapshot, path) == 0 else {
            unlink(newer)
            throw Self.failed(snapshot)
        }
        // It witnesses what the newer one holds.
        rename(Witness.path(of: path), Witness.path(of: newer))
        unlink(path + "-shm")
        SchemaSnapshot.synchroniseDirectory(of: path)
    }

    private static func snapshot(of path: String) throws(StorageError) -> String {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        do {
            _ = try opening.inspect()
        } catch .newerSchema(_, _, let snapshot?) {
            // What this version cannot go on with either is no way back.
            _ = try DatabaseOpening(path: snapshot, options: StoreOptions()).inspect()
            return snapshot
        } catch .newerSchema {
            throw .refused(reason: "beside \(path) is no copy from before the newer version changed it")
        }
        throw .refused(reason: "this version can open \(path) as it is; there is nothing to go back from")
    }

    /// Writes the write-ahead log into the database, which SQLite can do whatever the schema.
    private static func closeLog(of path: String) throws(StorageError) {
        do {
            let queue = try DatabaseQueue(path: path)
            _ = try queue.inDatabase { db in try db.checkpoint(.truncate) }
            try queue.close()
        } catch {
            throw StorageError(error, path: path)
        }
        var log = stat()
        if stat(path + "-wal", &log) == 0, log.st_size > 0 {
            throw .busy(detail: "another program has \(path) open; its write-ahead log must be written into it first")
        }
        unlink(path + "-wal")
    }

    private static func failed(_ path: String) -> StorageError {
        .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
}
