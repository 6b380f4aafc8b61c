import Bluetooth
import GRDB

/// How much of a stream is missing for one cause.
package struct MissingByCause: Hashable, Sendable {
    /// The stream's name and bank.
    package var stream: String
    package var bank: Int
    /// A ``Headsets/GapCause``, or a word of a later version.
    package var cause: String
    /// Rows that are missing for good, and such that arrived after all.
    package var missing: Int64
    package var recovered: Int64
    package var gaps: Int64
}

/// Sums for programs that watch figures.
extension Store {
    /// What is missing in a recording, by stream and cause: gaps of whole rows.
    package func missingByCause(of recording: RecordingID) throws(StorageError) -> [MissingByCause] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT st.name, st.bank, g.cause, coalesce(sum(g.count - g.recovered), 0) AS missing,
                        sum(g.recovered) AS recovered, count(*) AS gaps
                    FROM stream AS st JOIN gap AS g ON g.stream_id = st.id AND g.channel = 0
                    WHERE st.recording_id = ? GROUP BY st.id, g.cause ORDER BY st.id, g.cause
                    """, arguments: [recording.rawValue]
            ).map { row in
                MissingByCause(
                    stream: row["name"], bank: row["bank"], cause: row["cause"], missing: row.number("missing") ?? 0,
                    recovered: row.number("recovered") ?? 0, gaps: row.number("gaps") ?? 0)
            }
        }
    }

    /// How long each return of a recording took, from when the headset was heard to its first sample. All of an open recording
    /// are kept.
    package func returnTimes(of recording: RecordingID) throws(StorageError) -> [Duration] {
        try database.read { db in
            try Int64.fetchAll(
                db, sql: "SELECT boottime_ns - heard_boottime_ns FROM streaming_return WHERE recording_id = ? ORDER BY id",
                arguments: [recording.rawValue]
            ).map { .nanoseconds($0) }
        }
    }

    /// How many processes have acquired into the database.
    package func processCount() throws(StorageError) -> Int64 {
        try database.read { db in try Int64.fetchOne(db, sql: "SELECT max(id) FROM process") ?? 0 }
    }

    /// How many batches the process that acquires has committed since it began; nil where it keeps no spool.
    package func committedBatches() throws(StorageError) -> Int64? {
        try database.read { db in try Int64.fetchOne(db, sql: "SELECT number FROM spool") }
    }

    /// How often the wall clock was set by a tenth of a second or more while a process acquired.
    package func clockStepCount() throws(StorageError) -> Int64 {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM clock_offset WHERE abs(step_ns) >= 100000000") ?? 0
        }
    }
}
