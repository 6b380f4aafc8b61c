import GRDB

/// The gap of a recording that was noticed last.
package struct LatestGap: Hashable, Sendable {
    package var stream: String
    package var cause: String
    /// The cause in words.
    package var meaning: String
    /// At the nominal sampling frequency, or what the clocks of two host boots say; nil while that is not known.
    package var durationSeconds: Double?
    /// True while its end is not known.
    package var isOpen: Bool
    package var noticed: StoredInstant
}

extension Store {
    /// The latest gap of whole rows of a recording that somebody wanted filled; nil where there is none.
    package func latestGap(of recording: RecordingID) throws(StorageError) -> LatestGap? {
        let present = presentBoot
        return try database.read { db in
            // By key from the end: the ledger of weeks is not read.
            try Row.fetchOne(
                db,
                sql: """
                    SELECT st.name AS stream, g.cause AS cause, w.meaning AS meaning, g.host_boot_id, g.boottime_ns,
                        g.count IS NULL AS is_open,
                        CASE WHEN g.count = 0 THEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id)
                            ELSE g.count END / st.sampling_frequency AS duration_seconds
                    FROM gap AS g JOIN stream AS st ON st.id = g.stream_id JOIN gap_cause AS w ON w.cause = g.cause
                    WHERE st.recording_id = ? AND g.channel = 0 AND g.cause <> 'notSent' ORDER BY g.id DESC LIMIT 1
                    """, arguments: [recording.rawValue]
            ).map { row in
                LatestGap(
                    stream: row["stream"], cause: row["cause"], meaning: row["meaning"],
                    durationSeconds: row["duration_seconds"], isOpen: row["is_open"],
                    noticed: try StoredInstant(row["boottime_ns"], ofBoot: row["host_boot_id"], present: present, in: db))
            }
        }
    }
}
