package import Bluetooth
import GRDB

/// A process that acquired and died.
package struct ProcessDeath: Hashable, Sendable {
    /// When it was last known to be alive.
    package var lastSign: StoredInstant
    /// Why it died, in words; nil where nobody knows.
    package var cause: String?
}

extension Store {
    /// Processes that have died, the latest first.
    ///
    /// - Parameters:
    ///   - isRunning: whether the latest one lives.
    ///   - limit: at most so many.
    package func deaths(isRunning: Bool, limit: Int) throws(StorageError) -> [ProcessDeath] {
        let present = presentBoot
        return try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT host_boot_id, alive_boottime_ns, end_cause FROM process
                    WHERE ended_boottime_ns IS NULL AND (id < (SELECT max(id) FROM process) OR NOT ?)
                    ORDER BY id DESC LIMIT ?
                    """, arguments: [isRunning, limit]
            ).map { row in
                ProcessDeath(
                    lastSign: try StoredInstant(
                        row["alive_boottime_ns"], ofBoot: row["host_boot_id"], present: present, in: db),
                    cause: row["end_cause"])
            }
        }
    }

    /// Starts of this boot that have not proven themselves yet, the latest last: all but that one have ended in an early death.
    package func earlyStarts() throws(StorageError) -> [MonotonicTime] {
        let present = presentBoot
        return try database.read { db in
            try Int64.fetchAll(
                db, sql: "SELECT boottime_ns FROM early_start WHERE host_boot_id = ? ORDER BY id", arguments: [present]
            ).map(MonotonicTime.init(nanoseconds:))
        }
    }

    /// The file of the spool of the process that acquires; nil for none.
    package func spoolPath() throws(StorageError) -> String? {
        try database.read { db in try String.fetchOne(db, sql: "SELECT path FROM spool") }
    }
}
