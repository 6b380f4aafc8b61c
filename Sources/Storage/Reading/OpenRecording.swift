package import Bluetooth
import GRDB

/// A recording that the acquisition has to care for.
package struct OpenRecording: Hashable, Sendable {
    package var recording: RecordingID
    package var headset: HeadsetID
    package var headsetName: String
    package var model: String
    /// False where the operator has stopped it and the acquisition has not ended it yet
    /// (``RecordingChange/stopped(_:at:)``).
    package var isWanted: Bool
    /// When the operator stopped it; nil where it is wanted.
    package var stop: StopRequest?
    /// When it is to end by itself; nil for never.
    package var end: StopRequest?
}

/// When the operator stopped a recording.
package struct StopRequest: Hashable, Sendable {
    /// The instant on the clock of the boot in which it was asked for.
    package var at: MonotonicTime
    /// True where that is the store's present boot.
    package var isSameHostBoot: Bool
    /// The same in UTC, nanoseconds since 1970; nil where that boot has no clock offset.
    package var unixNanoseconds: Int64?

    /// Creates a request.
    package init(at: MonotonicTime, isSameHostBoot: Bool, unixNanoseconds: Int64?) {
        self.at = at
        self.isSameHostBoot = isSameHostBoot
        self.unixNanoseconds = unixNanoseconds
    }
}

extension StopRequest {
    /// Of the columns `NAME_boot`, `NAME_ns` and `NAME_unix_ns`; nil where there is none.
    fileprivate init?(_ row: Row, _ name: String, present: Int64?) {
        guard let time = row["\(name)_ns"] as Int64? else { return nil }
        self.init(
            at: MonotonicTime(nanoseconds: time), isSameHostBoot: row["\(name)_boot"] == present,
            unixNanoseconds: row.instant("\(name)_unix_ns"))
    }
}

extension Store {
    /// Recordings that are wanted, and stopped ones that the acquisition has not ended yet, in order of their keys.
    package func openRecordings() throws(StorageError) -> [OpenRecording] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT r.id, r.headset_id, h.name, h.model, r.desired_state = 'recording' AS wanted,
                        r.stop_requested_host_boot_id AS stop_boot, r.stop_requested_boottime_ns AS stop_ns,
                        k.offset_ns + r.stop_requested_boottime_ns AS stop_unix_ns,
                        e.host_boot_id AS end_boot, e.boottime_ns AS end_ns, o.offset_ns + e.boottime_ns AS end_unix_ns
                    FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                    LEFT JOIN host_boot_clock AS k ON k.host_boot_id = r.stop_requested_host_boot_id
                    LEFT JOIN recording_end AS e ON e.recording_id = r.id
                    LEFT JOIN host_boot_clock AS o ON o.host_boot_id = e.host_boot_id
                    WHERE r.stopped_host_boot_id IS NULL ORDER BY r.id
                    """
            ).map { row in
                OpenRecording(
                    recording: RecordingID(rawValue: row["id"]), headset: HeadsetID(rawValue: row["headset_id"]),
                    headsetName: row["name"], model: row["model"], isWanted: row["wanted"],
                    stop: StopRequest(row, "stop", present: presentBoot),
                    end: StopRequest(row, "end", present: presentBoot))
            }
        }
    }

    /// Since when nothing is to be recorded; nil where what is wanted is recorded.
    package func pause() throws(StorageError) -> StoredInstant? {
        try database.read { db in
            let sql = "SELECT began_host_boot_id, began_boottime_ns FROM pause WHERE ended_host_boot_id IS NULL"
            guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
            return try StoredInstant(
                row["began_boottime_ns"], ofBoot: row["began_host_boot_id"], present: presentBoot, in: db)
        }
    }
}
