import Foundation
import GRDB
import Glibc

/// What makes a file smaller, and erases for good. Nobody acquires meanwhile: a process that does holds the lock.
extension AcquisitionStore {
    /// Bytes that the file and its log have.
    package var fileBytes: Int64 { path.map(SchemaSnapshot.bytes) ?? 0 }

    /// Bytes of pages that hold something, and of all pages.
    package func pageBytes() throws(StorageError) -> (used: Int64, all: Int64) {
        try database.read { db in
            let all = try Int64.fetchOne(
                db, sql: "SELECT p.page_count * s.page_size FROM pragma_page_count AS p, pragma_page_size AS s")
            return (try DatabaseBackup.usedBytes(db), all ?? 0)
        }
    }

    /// Throws where the disk has not the room that ``compact()`` needs: a copy of what is used, and as much in the log.
    package func requireRoomToCompact() throws(StorageError) {
        guard let path else { return }
        try database.reserve?.require(2 * pageBytes().used, at: path, for: "to write the database anew")
    }

    /// Writes the database anew: without free pages, and with nothing between its rows of what was deleted. The log is emptied.
    ///
    /// - Throws: `diskFull` where the room is not there, before anything is changed; `busy` where another program reads an
    ///   older state, which the log then keeps.
    package func compact() throws(StorageError) {
        try requireRoomToCompact()
        // Sorted copies go beside the database, not into a directory that may be in memory.
        if let path { setenv("SQLITE_TMPDIR", URL(fileURLWithPath: path).deletingLastPathComponent().path, 1) }
        try database.perform { writer in
            (writer as? DatabasePool)?.invalidateReadOnlyConnections()
            try writer.writeWithoutTransaction { db in
                // While it writes the file anew SQLite prefers its own functions to those that stand in for them
                // (``TrustedFunctions``), and would take its own of JSON for somebody else's. It runs no trigger and no view.
                try db.execute(sql: "PRAGMA trusted_schema = ON")
                defer { try? db.execute(sql: "PRAGMA trusted_schema = OFF") }
                try db.execute(sql: "VACUUM")
            }
        }
        try emptyLog()
    }

    /// Writes the log into the file, and makes it empty.
    func emptyLog() throws(StorageError) {
        guard path != nil else { return }
        let isEmpty = try database.perform { writer in
            try writer.writeWithoutTransaction { db in
                // The first column: whether somebody hindered it.
                try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)").map { ($0[0] as Int64) == 0 } ?? true
            }
        }
        guard isEmpty else {
            throw .busy(
                detail: "another program reads an older state of the database, which the write-ahead log keeps for it; end it "
                    + "and run `eegsync compact`")
        }
    }
}
