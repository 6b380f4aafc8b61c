import Bluetooth
import GRDB

/// Annotations as commands show them.
extension Store {
    /// The annotations of a recording, by onset.
    ///
    /// - Parameter includingWithdrawn: also those that were corrected or deleted.
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func annotations(
        of recording: RecordingID, includingWithdrawn: Bool = false
    ) throws(StorageError) -> [AnnotationSummary] {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            let start = try Row.fetchOne(
                db, sql: "SELECT start_unix_ns FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
            let first = start?.instant("start_unix_ns")
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM annotation_history WHERE recording_id = ?1 AND (?2 OR annotation_id IN (
                        SELECT id FROM annotation WHERE recording_id = ?1 AND withdrawn_boottime_ns IS NULL))
                    ORDER BY onset_unix_ns IS NULL, onset_unix_ns, annotation_id
                    """, arguments: [recording.rawValue, includingWithdrawn]
            ).map { AnnotationSummary($0, recordingStart: first) }
        }
    }

    /// One annotation, whether or not it holds.
    ///
    /// - Throws: ``StorageError/notFound(what:)``.
    package func annotation(_ number: Int64) throws(StorageError) -> AnnotationSummary {
        try database.read { db in
            let found = try Row.fetchOne(
                db, sql: "SELECT * FROM annotation_history WHERE annotation_id = ?", arguments: [number])
            guard let found else { throw StorageError.notFound(what: "annotation \(number)") }
            let start = try Row.fetchOne(
                db, sql: "SELECT start_unix_ns FROM recording_overview WHERE recording_id = ?",
                arguments: [found["recording_id"] as Int64])
            return AnnotationSummary(found, recordingStart: start?.instant("start_unix_ns"))
        }
    }

    /// The stream that a view shows, or the first one of the recording.
    ///
    /// - Parameter name: of the stream or its view; nil for the first stream.
    /// - Throws: ``StorageError/notFound(what:)``.
    package func stream(named name: String?, of recording: RecordingID) throws(StorageError) -> StreamID {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            let found = try Int64.fetchOne(
                db,
                sql: """
                    SELECT id FROM stream WHERE recording_id = ?1 AND (?2 IS NULL OR name = ?2 OR view_name = ?2)
                    ORDER BY bank, id LIMIT 1
                    """, arguments: [recording.rawValue, name])
            guard let found else {
                throw StorageError.notFound(what: "stream \(name.map { $0 + " " } ?? "")in recording \(recording.rawValue)")
            }
            return StreamID(rawValue: found)
        }
    }
}

/// One annotation, with what became of it.
package struct AnnotationSummary: Hashable, Sendable {
    package var number: Int64
    package var recording: Int64
    /// Nil where the clock of its host boot is not known.
    package var onsetUnixNanoseconds: Int64?
    /// Seconds since the recording's first sample; nil where that or the onset is not known.
    package var positionSeconds: Double?
    package var durationSeconds: Double?
    package var description: String
    package var source: String
    /// The view of the stream that it was said of, and the sample.
    package var view: String?
    package var n: Int64?
    package var deviceTicks: Int64?
    package var code: Int64?
    package var replaces: Int64?
    package var replacedBy: Int64?
    /// When it was corrected or deleted; nil where it holds.
    package var withdrawnUnixNanoseconds: Int64?

    init(_ row: Row, recordingStart: Int64?) {
        number = row["annotation_id"]
        recording = row["recording_id"]
        onsetUnixNanoseconds = row.instant("onset_unix_ns")
        if let recordingStart, let onset = onsetUnixNanoseconds {
            positionSeconds = Double(onset.subtractingClamped(recordingStart)) / 1e9
        }
        durationSeconds = (row["duration_seconds"] as Double?).map(AnnotationContents.capped)
        description = row["description"]
        source = row["source"]
        view = row["view_name"]
        n = row["n"]
        deviceTicks = row["device_ticks"]
        code = row["code"]
        replaces = row["replaces"]
        replacedBy = row["replaced_by"]
        withdrawnUnixNanoseconds = row.instant("withdrawn_unix_ns")
    }
}
