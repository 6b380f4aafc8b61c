import Bluetooth
import GRDB

/// What people and other programs have marked, as far as it is new.
package struct StoredMarks: Hashable, Sendable {
    /// The key of the latest annotation of all; 0 where there is none.
    package var latest: Int64
    /// The new ones whose onset lies in this boot of the host, the oldest first.
    package var marks: [AnnotationRecord]

    /// Creates an answer.
    package init(latest: Int64, marks: [AnnotationRecord]) {
        (self.latest, self.marks) = (latest, marks)
    }
}

extension AcquisitionStore {
    /// So many at most in one answer: a person who imports a file of marks writes thousands. Older ones are left out.
    private static let markMaximum = 1000

    /// Reads annotations that the acquisition has not written itself.
    ///
    /// - Parameter key: only later ones; nil for none, only the key of the latest.
    package func marks(after key: Int64?) throws(StorageError) -> StoredMarks {
        try database.read { db in
            let latest = try Int64.fetchOne(db, sql: "SELECT max(id) FROM annotation") ?? 0
            guard let key, key < latest else { return StoredMarks(latest: latest, marks: []) }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM annotation WHERE id > ?1 AND id <= ?2 AND source NOT IN ('headset', 'eegsync')
                        AND host_boot_id = ?3 AND withdrawn_boottime_ns IS NULL ORDER BY id DESC LIMIT ?4
                    """, arguments: [key, latest, hostBootID, Self.markMaximum])
            return StoredMarks(latest: latest, marks: rows.reversed().map(AnnotationRecord.init(stored:)))
        }
    }
}

extension AnnotationRecord {
    /// A row of the table.
    fileprivate init(stored row: Row) {
        self.init(
            recording: RecordingID(rawValue: row["recording_id"]), onset: MonotonicTime(nanoseconds: row["boottime_ns"]),
            durationSeconds: row["duration_seconds"], description: row["description"], source: row["source"],
            sample: (row["n"] as Int64?).map {
                AnnotatedSample(stream: StreamID(rawValue: row["stream_id"]), n: $0)
            }, deviceTicks: (row["device_ticks"] as Int64?).map { UInt64(bitPattern: $0) }, code: row["code"])
    }
}
