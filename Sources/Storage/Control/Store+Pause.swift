public import Bluetooth
import GRDB

/// A person wants nothing recorded for a while, of whatever headset.
extension Store {
    /// Since when nothing is to be recorded; nil where what is wanted is recorded.
    public func pause() throws(StorageError) -> StoredInstant? {
        try connection.read { db in
            let sql = "SELECT began_host_boot_id, began_boottime_ns FROM pause WHERE ended_host_boot_id IS NULL"
            guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
            return try StoredInstant(
                row["began_boottime_ns"], ofBoot: row["began_host_boot_id"], present: hostBootID, in: db)
        }
    }

    /// Wants nothing recorded until ``resume(at:)``. Recordings stay open.
    ///
    /// - Returns: false where a pause lasts already.
    @discardableResult
    public func pause(at now: MonotonicTime) throws(StorageError) -> Bool {
        let hostBoot = try requireHostBoot()
        let hasBegun = try connection.write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO pause (began_host_boot_id, began_boottime_ns) VALUES (?, ?)",
                arguments: [hostBoot, now.nanoseconds])
            return db.changesCount == 1
        }
        noteControlChange()
        return hasBegun
    }

    /// Wants recorded again what was wanted before.
    ///
    /// - Returns: false where there was no pause.
    @discardableResult
    public func resume(at now: MonotonicTime) throws(StorageError) -> Bool {
        let hostBoot = try requireHostBoot()
        let hasEnded = try connection.write { db in
            try db.execute(
                sql: "UPDATE pause SET ended_host_boot_id = ?, ended_boottime_ns = ? WHERE ended_host_boot_id IS NULL",
                arguments: [hostBoot, now.nanoseconds])
            return db.changesCount == 1
        }
        noteControlChange()
        return hasEnded
    }
}
