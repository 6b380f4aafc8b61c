package import Bluetooth
import GRDB

/// What a disk had been given to write when the process that acquires began.
package struct DiskStart: Hashable, Sendable {
    /// The kernel's name of the disk.
    package var disk: String
    /// On the clock of the present boot.
    package var time: MonotonicTime
    /// By all programs, since the machine booted.
    package var writtenBytes: Int64
    /// Nil where the kernel does not count them.
    package var flushes: Int64?

    package init(disk: String, time: MonotonicTime, writtenBytes: Int64, flushes: Int64?) {
        (self.disk, self.time, self.writtenBytes, self.flushes) = (disk, time, writtenBytes, flushes)
    }
}

extension AcquisitionStore {
    /// Keeps what a disk had been given to write, instead of what an earlier process kept.
    package func noteDiskStart(_ start: DiskStart) throws(StorageError) {
        try database.write { db in
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO disk_start (id, disk, host_boot_id, boottime_ns, written_bytes, flushes)
                    VALUES (1, ?, ?, ?, ?, ?)
                    """, arguments: [start.disk, hostBootID, start.time.nanoseconds, start.writtenBytes, start.flushes])
        }
    }
}

extension Store {
    /// What was kept in the present boot; nil where nothing was.
    package func diskStart() throws(StorageError) -> DiskStart? {
        let present = presentBoot
        return try database.read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM disk_start WHERE host_boot_id = ?", arguments: [present]).map { row in
                DiskStart(
                    disk: row["disk"], time: MonotonicTime(nanoseconds: row["boottime_ns"]),
                    writtenBytes: row["written_bytes"], flushes: row["flushes"])
            }
        }
    }
}
