package import Bluetooth
import Foundation
import GRDB
import Headsets

/// What commands show.
extension Store {
    /// All recordings, by key.
    package func recordings() throws(StorageError) -> [RecordingSummary] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM recording_overview WHERE recording_id NOT IN (SELECT recording_id FROM deletion)
                    ORDER BY recording_id
                    """
            ).map { try RecordingSummary($0, in: db) }
        }
    }

    /// The gaps of a recording, by time and stream.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func gaps(of recording: RecordingID) throws(StorageError) -> [GapSummary] {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM gap_time WHERE recording_id = ?
                    ORDER BY start_unix_ns IS NULL, start_unix_ns, stream_id, first_n, channel
                    """, arguments: [recording.rawValue]
            ).map { row in
                GapSummary(
                    stream: row["stream"], bank: row["bank"], firstN: row.number("first_n") ?? 0, count: row.number("count"),
                    channel: row["channel"], channelName: row["channel_name"], cause: row["cause"], meaning: row["meaning"],
                    recovered: row.number("recovered") ?? 0, startUnixNanoseconds: row.instant("start_unix_ns"),
                    endUnixNanoseconds: row.instant("end_unix_ns"), noticedUnixNanoseconds: row.instant("noticed_unix_ns"),
                    durationSeconds: row["duration_seconds"], missing: row.number("missing"), certainty: row["certainty"],
                    uncertainty: row.number("uncertainty"))
            }
        }
    }

    /// What is known last about each headset, by name.
    ///
    /// - Parameters:
    ///   - now: for the rates; on the clock of the store's host boot.
    ///   - window: over how long rates are taken. Commits come once a second, so 10 s is steady.
    package func headsets(
        at now: MonotonicTime, window: Duration = .seconds(10)
    ) throws(StorageError) -> [HeadsetActivity] {
        let inspection = ActivityInspection(hostBoot: presentBoot, now: now, window: window)
        return try database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM headset ORDER BY name").map { try inspection.activity(of: $0, in: db) }
        }
    }

    /// The bytes of the write-ahead log; 0 where there is none.
    package var writeAheadLogBytes: Int64 {
        guard let path else { return 0 }
        return (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// How much room the database takes and has.
    package func size() throws(StorageError) -> DatabaseSize {
        guard let path else {
            let bytes = try database.read { db in
                try Int64.fetchOne(db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
            }
            return DatabaseSize(bytes: bytes, freeBytes: nil)
        }
        let bytes = [path, path + "-wal"].map { file in
            (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.int64Value ?? 0
        }
        let room = DiskRoom(of: path)
        return DatabaseSize(bytes: bytes.reduce(0, +), freeBytes: room?.freeBytes, reservedBytes: room?.reserve ?? 0)
    }
}

/// The gaps of what a headset by its design never sends, which are no sign that anything is wrong.
struct GapsByDesign {
    let count: Int64
    let samples: Int64

    /// Counts those of whole rows.
    ///
    /// - Parameter streams: an SQL expression for the keys of streams.
    init(of streams: String, arguments: StatementArguments, in db: Database) throws {
        let sums = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*) AS gaps, coalesce(sum(count - recovered), 0) AS samples FROM gap
                WHERE stream_id IN (\(streams)) AND channel = 0 AND cause = 'notSent'
                """, arguments: arguments)
        count = sums?.number("gaps") ?? 0
        samples = sums?.number("samples") ?? 0
    }
}

extension RecordingSummary {
    /// A row of the view `recording_overview`.
    init(_ row: Row, in db: Database) throws {
        let byDesign = try GapsByDesign(
            of: "SELECT id FROM stream WHERE recording_id = ?", arguments: [row["recording_id"]], in: db)
        self.init(
            id: row["recording_id"], headset: row["headset"], model: row["model"], label: row["label"],
            subject: row["subject"], task: row["task"],
            state: RecordingSummary.State(rawValue: row["state"]) ?? .stopped,
            requestedUnixNanoseconds: row.instant("requested_unix_ns"),
            startUnixNanoseconds: row.instant("start_unix_ns"), endUnixNanoseconds: row.instant("end_unix_ns"),
            stoppedUnixNanoseconds: row.instant("stopped_unix_ns"),
            durationSeconds: row["duration_seconds"], rows: row.number("rows") ?? 0, missing: row.number("missing") ?? 0,
            recovered: row.number("recovered") ?? 0, gaps: row.number("gaps") ?? 0, missingByDesign: byDesign.samples,
            gapsByDesign: byDesign.count,
            views: (row["view_names"] as String?).map { $0.split(separator: ",").map(String.init) } ?? [])
    }
}
