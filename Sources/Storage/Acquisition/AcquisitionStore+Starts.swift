package import Bluetooth
import Foundation
import GRDB
import Glibc

/// Starts of this process and of those before it, and the copies of the database that are kept until a newer version has proven
/// itself.
extension AcquisitionStore {
    /// For how long the processes of a newer version must have run before the copy from before it is removed, in nanoseconds:
    /// seven days.
    static let snapshotAgeNanoseconds: Int64 = 7 * 86_400 * 1_000_000_000

    /// Notes that a process begins, and counts those before it in this boot that died early.
    ///
    /// - Parameters:
    ///   - time: now.
    ///   - deathCause: how the process before this one died, in words; nil where it did not, or nobody knows.
    /// - Returns: how many; 0 after one that was ended in order, or has settled.
    package func noteStart(at time: MonotonicTime, deathCause: String? = nil) throws(StorageError) -> Int {
        try database.write { db in
            if let deathCause {
                // One that died before it had a row is not named: the one before it then has a cause, or has ended in order.
                try db.execute(
                    sql: """
                        UPDATE process SET end_cause = ?
                        WHERE id = (SELECT max(id) FROM process) AND ended_boottime_ns IS NULL AND end_cause IS NULL
                        """, arguments: [deathCause])
            }
            // The power may go as often as it likes: that is no defect that repeats.
            try db.execute(sql: "DELETE FROM early_start WHERE host_boot_id <> ?", arguments: [hostBootID])
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM early_start") ?? 0
            try db.execute(
                sql: "INSERT INTO early_start (host_boot_id, boottime_ns) VALUES (?, ?)",
                arguments: [hostBootID, time.nanoseconds])
            return count
        }
    }

    /// Notes that this process has run for long enough, or ends in order.
    package func noteSettled() throws(StorageError) {
        try database.write { db in try db.execute(sql: "DELETE FROM early_start") }
    }

    /// Takes new copies into the account, and removes those whose time has come.
    func keepAccountOfSnapshots(keepingNanoseconds: Int64 = snapshotAgeNanoseconds) throws(StorageError) {
        guard let path else { return }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        let files = SchemaSnapshot.files(of: path)
        let old = try database.write { db in
            for known in try String.fetchAll(db, sql: "SELECT file FROM schema_snapshot") where !files.contains(known) {
                try db.execute(sql: "DELETE FROM schema_snapshot WHERE file = ?", arguments: [known])
            }
            for file in files {
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO schema_snapshot
                        VALUES (?, (SELECT ifnull(max(id), 0) + 1 FROM process))
                        """, arguments: [file])
            }
            return try String.fetchAll(
                db,
                sql: """
                    SELECT file FROM schema_snapshot AS s WHERE (
                        SELECT total(alive_boottime_ns - started_boottime_ns) FROM process WHERE id >= s.first_process_id) >= ?
                    """, arguments: [keepingNanoseconds])
        }
        for file in old { unlink(directory.appendingPathComponent(file).path) }
    }
}
