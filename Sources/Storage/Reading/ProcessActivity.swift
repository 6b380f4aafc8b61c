import GRDB

/// What the database knows of the process that acquired last.
package struct ProcessActivity: Hashable, Sendable {
    package var pid: Int32
    package var started: StoredInstant
    /// When it was last known to be alive, or its end where that was in order; it is noted once a minute.
    package var lastSign: StoredInstant
    /// True where it has ended in order.
    package var hasEnded: Bool
}

extension Store {
    /// The process that acquired last; nil where none has, or where the history is older than it.
    package func lastProcess() throws(StorageError) -> ProcessActivity? {
        try database.read { db in
            guard let row = try Row.fetchOne(db, sql: "SELECT * FROM process ORDER BY id DESC LIMIT 1") else { return nil }
            func instant(_ nanoseconds: Int64) throws -> StoredInstant {
                try StoredInstant(nanoseconds, ofBoot: row["host_boot_id"], present: presentBoot, in: db)
            }
            let ended = row["ended_boottime_ns"] as Int64?
            return ProcessActivity(
                pid: Int32(truncatingIfNeeded: row["pid"] as Int64), started: try instant(row["started_boottime_ns"]),
                lastSign: try instant(ended ?? row["alive_boottime_ns"]), hasEnded: ended != nil)
        }
    }
}
