import Foundation
import GRDB
import GRDBSQLite
import Headsets

extension RecordingReader {
    /// Writes the recording as a database of its own: same tables and views, nothing of other recordings and headsets, no
    /// addresses of headsets, no preserved state. It is one file without a write-ahead log, and not synchronised to the disk.
    ///
    /// The recording's own database is only read, through the reader's connection; nobody who writes there waits.
    ///
    /// - Parameters:
    ///   - path: a file that does not exist yet, or is empty; on an error it is removed again.
    ///   - seen: gets the rows of each stream as they are copied, in ascending order of n.
    /// - Throws: `refused` where the file holds something or the reader has read rows before, `directoryMissing`, `diskFull`
    package func copy(
        to path: String, seen: (StreamID, borrowing SampleChunk) -> Void = { _, _ in }
    ) throws(StorageError) {
        try DatabaseOpening.checkDirectory(of: path)
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        if let size, size.int64Value > 0 {
            throw StorageError.refused(reason: "the file \(path) exists")
        }
        do {
            try RecordingExport(reader: self, path: path).write(seen: seen)
        } catch {
            for file in [path, path + "-journal"] { try? FileManager.default.removeItem(atPath: file) }
            throw StorageError(error, path: path)
        }
    }
}

/// How a recording is copied: row by row from one connection to another, in constant memory. Two attached databases would be
/// faster by a little, and would be locked together.
struct RecordingExport {
    let reader: RecordingReader
    let path: String

    /// Rows of samples that are written at a time.
    private static let rowsPerChunk = 16_384

    /// A new database, with all tables and no row.
    ///
    /// - Parameter path: a file that does not exist yet, or is empty, and is removed on any error.
    static func newDatabase(at path: String) throws -> DatabaseQueue {
        var configuration = DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: false)
        configuration.prepareDatabase { db in
            // A file that is removed on any error needs no way back, and is synchronised once it is whole.
            try db.execute(sql: "PRAGMA journal_mode = OFF")
            try db.execute(sql: "PRAGMA synchronous = OFF")
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try DatabaseSchema.bringUpToDate(database)
        return database
    }

    func write(seen: (StreamID, borrowing SampleChunk) -> Void) throws {
        let target = try Self.newDatabase(at: path)
        defer { try? target.close() }
        try target.write { db in
            try reader.inFirstTransaction { source in
                for (table, condition) in Self.tables where table != "sample" {
                    // The trigger that declares channels has declared them as they are corrected.
                    if table == "channel_declaration" { try db.execute(sql: "DELETE FROM channel_declaration") }
                    try copy(table, where: condition, from: source, to: db)
                }
            }
            // Nothing records into a copy.
            try db.execute(sql: "UPDATE recording SET desired_state = 'stopped'")
            // What is copied whole keeps the sums that were written with it; the rest is a selection, with sums of its own.
            for table in DigestedTable.all {
                if table.owner == .stream {
                    try reader.inFirstTransaction { source in
                        try table.copySums(of: reader.contents.id.rawValue, from: source, to: db)
                    }
                } else {
                    try table.writeSums(in: db)
                }
            }
            let names = try String.fetchAll(db, sql: "SELECT DISTINCT view_name FROM stream ORDER BY id")
            for name in names { try StreamView.create(name, recording: reader.contents.id, in: db) }
        }
        for stream in reader.contents.streams {
            guard let first = stream.firstN, let last = stream.lastN, first <= last else { continue }
            try reader.forEachChunk(of: stream.id, in: first...last, rowsPerChunk: Self.rowsPerChunk) { chunk in
                seen(stream.id, chunk)
                try target.write { db in
                    try insert(chunk, of: stream, into: SampleInsertion(db: db))
                }
            }
        }
    }

    /// Copies rows of a table as they are, whatever their types.
    private func copy(_ table: String, where condition: String, from source: Database, to target: Database) throws {
        let rows = try source.makeStatement(sql: "SELECT * FROM \(table) AS t WHERE \(condition)")
        let columns = rows.columnCount
        let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
        let insertion = try target.makeStatement(sql: "INSERT INTO \(table) VALUES (\(marks))")
        let (from, to) = (rows.sqliteStatement, insertion.sqliteStatement)
        defer { for handle in [from, to] { sqlite3_reset(handle) } }
        for parameter in 0..<sqlite3_bind_parameter_count(from) {
            sqlite3_bind_int64(from, parameter + 1, reader.contents.id.rawValue)
        }
        while true {
            let code = sqlite3_step(from)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw Self.error(code, of: source, table) }
            for column in 0..<Int32(columns) { sqlite3_bind_value(to, column + 1, sqlite3_column_value(from, column)) }
            let result = sqlite3_step(to)
            guard result == SQLITE_DONE else { throw Self.error(result, of: target, table) }
            sqlite3_reset(to)
        }
    }

    /// Inserts the rows of a chunk, each run of consecutive n at once.
    private func insert(_ chunk: borrowing SampleChunk, of stream: StreamContents, into samples: SampleInsertion) throws {
        let channelCount = stream.description.channels.count
        var start = 0
        while start < chunk.n.count {
            var end = start + 1
            while end < chunk.n.count, chunk.n[end] == chunk.n[end - 1] + 1 { end += 1 }
            let missing = chunk.missingChannels[start..<end]
            try samples.insert(
                SampleRows(
                    stream: stream.id, channelCount: channelCount, firstN: chunk.n[start],
                    values: Array(chunk.values[start * channelCount..<end * channelCount]),
                    missingChannels: missing.allSatisfy { $0 == 0 } ? [] : Array(missing)))
            start = end
        }
    }

    private static func error(_ code: Int32, of db: Database, _ table: String) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: "\(db.lastErrorMessage ?? "") (table \(table))")
    }

    private static let ofStream = "t.stream_id IN (SELECT id FROM stream WHERE recording_id = :id)"
    /// Reports of the headset between the request and the end of the recording.
    static func duringRecording(_ time: String, id: String = ":id") -> String {
        """
        EXISTS (SELECT 1 FROM recording AS r WHERE r.id = \(id) AND r.headset_id = t.headset_id
            AND (t.host_boot_id, t.\(time)) >= (r.requested_host_boot_id, r.requested_boottime_ns)
            AND (r.stopped_host_boot_id IS NULL
                OR (t.host_boot_id, t.\(time)) <= (r.stopped_host_boot_id, r.stopped_boottime_ns)))
        """
    }

    /// Tables and which rows of them, those that others refer to first; `:id` is the recording.
    static let tables: [(name: String, condition: String)] = [
        ("host_boot", "TRUE"),
        ("machine", "TRUE"),
        ("merged_machine", "TRUE"),
        ("machine_boot", "TRUE"),
        ("clock_offset", "TRUE"),
        ("headset", "t.id = (SELECT headset_id FROM recording WHERE id = :id)"),
        ("recording", "t.id = :id"),
        ("stream", "t.recording_id = :id"),
        ("channel", ofStream),
        ("channel_declaration", ofStream),
        ("channel_correction", ofStream + " ORDER BY t.id"),
        ("epoch", ofStream),
        ("segment", ofStream),
        ("arrival", ofStream),
        ("loss_detection", ofStream),
        ("refit", ofStream),
        (
            "replaced_segment",
            "t.refit_id IN (SELECT f.id FROM refit AS f JOIN stream AS s ON s.id = f.stream_id WHERE s.recording_id = :id)"
        ),
        ("sample", ofStream + " ORDER BY t.stream_id, t.n"),
        ("gap", ofStream + " ORDER BY t.first_n, t.channel"),
        ("signal_check", ofStream),
        ("merge_conflict", ofStream + " ORDER BY t.id"),
        ("annotation", "t.recording_id = :id ORDER BY t.id"),
        ("block", ofStream),
        ("undigested_rows", ofStream),
        ("impedance", "t.recording_id = :id"),
        ("adoption", "t.recording_id = :id"),
        ("status_report", duringRecording("boottime_ns")),
        ("connection_attempt", duringRecording("began_boottime_ns")),
        ("connection_event", duringRecording("boottime_ns")),
        ("streaming_return", "t.recording_id = :id"),
        ("link_quality", duringRecording("boottime_ns")),
        ("process", "TRUE"),
        ("suspension", "TRUE"),
        ("full_disk", "TRUE"),
        ("clock_observation", duringRecording("boottime_ns")),
        ("provenance", "t.id IN (SELECT provenance_id FROM link WHERE recording_id = :id)"),
        ("link", "t.recording_id = :id"),
        ("headset_message", "t.link_id IN (SELECT id FROM link WHERE recording_id = :id)"),
        ("recording_detail", "t.recording_id = :id"),
        ("recording_property", "t.recording_id = :id"),
        ("recording_edit", "t.recording_id = :id"),
    ]

    /// Which rows of a table are of the recording `?1`; none of a table that stays behind.
    static func condition(of table: String) -> String {
        tables.first { $0.name == table }?.condition.replacing(":id", with: "?1") ?? "FALSE"
    }

    /// Tables that stay behind: addresses and what the next process needs, requests that end, and what each new
    /// database has.
    static let leftOut = [
        // Copied or written by itself.
        "digest_sum",
        "headset_identifier", "candidate", "handle_map", "preserved_state", "spool", "switched_off_adapter", "pause", "capture",
        "capture_chunk", "impedance_measurement", "gap_cause", "early_start", "schema_snapshot", "disk_start",
        "grdb_migrations",
        // Of other recordings, and of what others hold.
        "deletion", "deleted_stream", "confirmation", "whole_confirmation", "recording_end", "schedule", "schedule_start",
        "merged_recording",
    ]
}
