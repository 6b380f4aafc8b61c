import GRDB
package import Headsets

/// What is drawn of signals: pieces of streams, read in short transactions, so that a picture of weeks costs the recording
/// nothing. Statements are kept: to compile them takes several times as long as to read what they find.
extension Store {
    /// The streams of a recording, by position; those without a row have no extent.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func signalStreams(of recording: RecordingID) throws(StorageError) -> [SignalStream] {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            return try StreamRow.fetch(of: recording, in: db).map { stream in
                let ends = try SQLRequest<Row>(
                    sql: """
                        SELECT (SELECT min(n) FROM sample WHERE stream_id = ?1),
                            (SELECT max(n) FROM sample WHERE stream_id = ?1),
                            (SELECT uuid FROM stream WHERE id = ?1)
                        """, arguments: [stream.id.rawValue], cached: true
                ).fetchOne(db)
                let (first, last) = (ends?[0] as Int64?, ends?[1] as Int64?)
                return SignalStream(
                    id: stream.id, uuid: ends?[2] ?? "", description: stream.description,
                    extent: first.flatMap { first in last.map { first...max(first, $0) } })
            }
        }
    }

    /// The universal identifiers of all streams that are there.
    package func signalStreamIdentifiers() throws(StorageError) -> Set<String> {
        try database.read { db in
            try Set(
                String.fetchAll(
                    db,
                    sql: """
                        SELECT uuid FROM stream
                        WHERE uuid IS NOT NULL AND recording_id NOT IN (SELECT recording_id FROM deletion)
                        """))
        }
    }

    /// The n of the newest row of a stream; nil where it has none.
    package func newestN(of stream: StreamID) throws(StorageError) -> Int64? {
        try database.read { db in
            try SQLRequest<Int64>(
                sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [stream.rawValue], cached: true
            ).fetchOne(db)
        }
    }

    /// Rows of a stream, in ascending order of n.
    ///
    /// - Parameters:
    ///   - channelCount: how many channels the stream has.
    ///   - limit: the most rows.
    package func rows(
        of stream: StreamID, channelCount: Int, in range: ClosedRange<Int64>, limit: Int
    ) throws(StorageError) -> SampleChunk {
        try database.read { db in
            var rows = RowReading(stream: stream, channelCount: channelCount, rowsPerChunk: limit + 1)
            var late = LateSamples()
            _ = try rows.read(range, limit: limit, without: &late, in: db) { _ in }
            return rows.chunk
        }
    }

    /// The time map of a stream from the piece on that holds an n; the first piece also holds what lies before it.
    package func timeSegments(of stream: StreamID, from n: Int64 = .min) throws(StorageError) -> [TimeSegment] {
        try database.read { db in
            try SQLRequest<Row>(
                sql: """
                    SELECT * FROM segment_time
                    WHERE stream_id = ?1 AND reference_unix_ns IS NOT NULL AND first_n >= coalesce(
                        (SELECT max(first_n) FROM segment WHERE stream_id = ?1 AND first_n <= ?2), ?2)
                    ORDER BY first_n
                    """, arguments: [stream.rawValue, n], cached: true
            ).fetchAll(db).map(TimeSegment.init)
        }
    }

    /// Gaps of whole rows of a stream that overlap a range, with open ones; what a headset never sends is left out.
    ///
    /// - Parameter limit: the most gaps, the longest first.
    package func signalGaps(
        of stream: StreamID, in range: ClosedRange<Int64>, limit: Int
    ) throws(StorageError) -> [SignalGap] {
        try database.read { db in
            try SQLRequest<Row>(
                sql: """
                    SELECT g.*, w.meaning AS meaning FROM gap AS g JOIN gap_cause AS w ON w.cause = g.cause
                    WHERE g.stream_id = ?1 AND g.channel = 0 AND g.cause <> 'notSent' AND g.first_n <= ?3
                        AND g.first_n >= coalesce((SELECT max(first_n) FROM gap
                            WHERE stream_id = ?1 AND channel = 0 AND first_n < ?2), ?2)
                        AND (g.count IS NULL OR g.first_n + g.count >= ?2)
                    ORDER BY g.count IS NOT NULL, g.count DESC LIMIT ?4
                    """, arguments: [stream.rawValue, range.lowerBound, range.upperBound, limit], cached: true
            ).fetchAll(db).map { row in
                SignalGap(
                    firstN: row.number("first_n") ?? 0, count: row.number("count"),
                    recovered: row.number("recovered") ?? 0, cause: row["cause"], meaning: row["meaning"])
            }
        }
    }

    /// What may still change of the rows of a stream before an n: by the first n of each gap, of whole rows or of a channel,
    /// how many of its samples have arrived after all.
    package func recoveredSamples(of stream: StreamID, before n: Int64) throws(StorageError) -> [RecoveredGap] {
        try database.read { db in
            try SQLRequest<Row>(
                sql: """
                    SELECT first_n, channel, coalesce(count, 0) AS count, recovered FROM gap
                    WHERE stream_id = ? AND first_n < ? AND recovered > 0 ORDER BY first_n, channel
                    """, arguments: [stream.rawValue, n], cached: true
            ).fetchAll(db).map { row in
                RecoveredGap(
                    firstN: row.number("first_n") ?? 0, channel: row["channel"], count: row.number("count") ?? 0,
                    recovered: row.number("recovered") ?? 0)
            }
        }
    }

    /// Annotations of a recording that overlap a time, by onset; UTC nanoseconds since 1970.
    package func annotations(
        of recording: RecordingID, in time: ClosedRange<Int64>, limit: Int
    ) throws(StorageError) -> [AnnotationContents] {
        try database.read { db in
            try SQLRequest<Row>(
                sql: """
                    SELECT * FROM annotation_time
                    WHERE recording_id = ?1 AND onset_unix_ns <= ?3
                        AND onset_unix_ns + coalesce(duration_seconds, 0) * 1e9 >= ?2
                    ORDER BY onset_unix_ns LIMIT ?4
                    """, arguments: [recording.rawValue, time.lowerBound, time.upperBound, limit], cached: true
            ).fetchAll(db).map { row in
                AnnotationContents(
                    onsetUnixNanoseconds: row.nanoseconds("onset_unix_ns") ?? 0, durationSeconds: row["duration_seconds"],
                    description: row["description"], source: row["source"])
            }
        }
    }
}

/// A stream as it is drawn.
package struct SignalStream: Hashable, Sendable {
    package var id: StreamID
    package var uuid: String
    package var description: StreamDescription
    /// From the first to the newest row; nil without rows.
    package var extent: ClosedRange<Int64>?
}

/// A gap of whole rows as it is drawn.
package struct SignalGap: Hashable, Sendable {
    package var firstN: Int64
    /// Nil while the end is not known; 0 between two boots of the host.
    package var count: Int64?
    package var recovered: Int64
    package var cause: String
    /// The cause in words.
    package var meaning: String
}

/// A gap of which something arrived after all.
package struct RecoveredGap: Hashable, Sendable, Codable {
    package var firstN: Int64
    package var channel: Int
    package var count: Int64
    package var recovered: Int64

    package init(firstN: Int64, channel: Int, count: Int64, recovered: Int64) {
        (self.firstN, self.channel, self.count, self.recovered) = (firstN, channel, count, recovered)
    }
}
