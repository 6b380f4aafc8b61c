import Bluetooth
import GRDB
import Headsets

extension ResumeState {
    /// Reads what is known of a recording.
    ///
    /// - Parameter hostBoot: the row of the present boot of the host.
    static func read(_ recording: RecordingID, hostBoot: Int64, in db: Database) throws -> ResumeState {
        let headset = HeadsetID(
            rawValue: try Int64.fetchOne(
                db, sql: "SELECT headset_id FROM recording WHERE id = ?", arguments: [recording.rawValue]) ?? 0)
        var state = ResumeState(
            headset: headset, recording: recording, identifiers: try headset.identifiers(in: db),
            identityProof: try String.fetchOne(
                db, sql: "SELECT serial_number FROM headset WHERE id = ?", arguments: [headset.rawValue]),
            preservedJSON: try String.fetchOne(
                db, sql: "SELECT json FROM preserved_state WHERE headset_id = ?", arguments: [headset.rawValue]),
            streams: try StreamRow.fetch(of: recording, in: db).map { try Self.state(of: $0, hostBoot: hostBoot, in: db) },
            nextStreamID: try nextStreamID(in: db))
        state.learntRates = try learntRates(of: headset, in: db)
        state.firmwareRevision = try String.fetchOne(
            db,
            sql: """
                SELECT coalesce(p.facts ->> 'firmware_revision', p.facts ->> 'software_revision') AS revision
                FROM link AS l JOIN provenance AS p ON p.id = l.provenance_id
                WHERE l.headset_id = ? AND revision IS NOT NULL ORDER BY l.id DESC LIMIT 1
                """, arguments: [headset.rawValue])
        return state
    }

    /// The first stream key that no stream has, or had.
    static func nextStreamID(in db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT coalesce(max(id), 0) + 1
                FROM (SELECT max(id) AS id FROM stream UNION ALL SELECT max(stream_id) FROM deleted_stream)
                """) ?? 1
    }

    private static func state(of stream: StreamRow, hostBoot: Int64, in db: Database) throws -> StreamState {
        let key: StatementArguments = [stream.id.rawValue]
        let lastRow = try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: key)
        let gapEnd = try Int64.fetchOne(
            db, sql: "SELECT max(first_n + count) FROM gap WHERE stream_id = ? AND channel = 0", arguments: key)
        let nextN = max(lastRow.map { $0 + 1 } ?? 0, gapEnd ?? 0)
        let openGapRow = try Row.fetchOne(
            db, sql: "SELECT first_n, cause FROM gap WHERE stream_id = ? AND channel = 0 AND count IS NULL", arguments: key)
        let openGap: Int64? = openGapRow?["first_n"]
        let missing = MissingRanges(stream: stream.id, channelCount: stream.description.channels.count, db: db)
        let (segment, segmentBoot) = try latestSegment(of: stream.id, in: db)
        return StreamState(
            id: stream.id, position: stream.position, description: stream.description,
            declaredChannels: try stream.declaredChannels(in: db), nextN: nextN,
            hasSamples: lastRow != nil || gapEnd != nil || openGap != nil,
            epoch: try latestEpoch(of: stream.id, in: db),
            openGap: openGap.map { MissingRange(firstN: $0, count: 0, channel: 0, gapFirstN: $0) },
            openGapCause: openGapRow.flatMap { GapCause(rawValue: $0["cause"]) },
            missing: try missing.rows(), missingChannels: try missing.channels(),
            segment: segment, isSameHostBoot: segmentBoot == hostBoot)
    }

    private static func latestEpoch(of stream: StreamID, in db: Database) throws -> EpochRecord? {
        try Row.fetchOne(
            db, sql: "SELECT * FROM epoch WHERE stream_id = ? ORDER BY number DESC LIMIT 1", arguments: [stream.rawValue]
        ).map { row in
            EpochRecord(
                stream: stream, number: row["number"],
                bootIdentifier: (row["boot_identifier"] as Int64?).map(UInt32.init(truncatingIfNeeded:)),
                firstN: row["first_n"], firstIndex: row["first_index"],
                began: MonotonicTime(nanoseconds: row["boottime_ns"]))
        }
    }

    private static func latestSegment(of stream: StreamID, in db: Database) throws -> (SegmentRecord?, hostBoot: Int64?) {
        let found = try Row.fetchOne(
            db, sql: "SELECT * FROM segment WHERE stream_id = ? ORDER BY first_n DESC LIMIT 1", arguments: [stream.rawValue])
        guard let row = found else { return (nil, nil) }
        return (SegmentRecord(row, of: stream), row["host_boot_id"])
    }

    /// Of each kind of stream of the headset the latest segment that rests on enough evidence. In a map that was computed anew
    /// a segment counts the arrivals that are kept, one a second or less; fewer than five are never so certain.
    private static func learntRates(of headset: HeadsetID, in db: Database) throws -> [LearntRate] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, sampling_frequency, period_ns FROM (
                    SELECT st.name AS name, st.sampling_frequency AS sampling_frequency, (
                        SELECT g.period_ns FROM segment AS g
                        WHERE g.stream_id = st.id AND g.observation_count >= 5 AND g.uncertainty_ns < 5e6
                        ORDER BY g.first_n DESC LIMIT 1) AS period_ns
                    FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
                    WHERE r.headset_id = ? ORDER BY st.id DESC LIMIT 64)
                WHERE period_ns IS NOT NULL
                """, arguments: [headset.rawValue]
        ).map {
            LearntRate(
                stream: $0["name"], samplingFrequency: $0["sampling_frequency"], periodNanoseconds: $0["period_ns"])
        }
    }
}

/// Where exactly the samples of the ledger's gaps are missing, read from the sample rows.
struct MissingRanges {
    let stream: StreamID
    let channelCount: Int
    let db: Database

    /// Runs of whole rows, in ascending order.
    func rows() throws -> [ResumeState.MissingRange] {
        try gaps(channels: "channel = 0").flatMap { gap in
            if gap.recovered == 0 {
                return [ResumeState.MissingRange(firstN: gap.first, count: gap.count, channel: 0, gapFirstN: gap.first)]
            }
            // The holes between the rows that were recovered; the row after the gap's end ends the last hole.
            let holes = try Row.fetchAll(
                db,
                sql: """
                    SELECT before + 1 AS first, n - before - 1 AS length FROM (
                        SELECT n, lag(n, 1, ?2 - 1) OVER (ORDER BY n) AS before FROM (
                            SELECT n FROM sample WHERE stream_id = ?1 AND n >= ?2 AND n < ?3 UNION ALL SELECT ?3))
                    WHERE n - before > 1 ORDER BY n
                    """, arguments: [stream.rawValue, gap.first, gap.first + gap.count])
            return holes.map {
                ResumeState.MissingRange(firstN: $0["first"], count: $0["length"], channel: 0, gapFirstN: gap.first)
            }
        }
    }

    /// Runs of rows that lack one channel, in ascending order.
    func channels() throws -> [ResumeState.MissingRange] {
        let ranges = try gaps(channels: "channel BETWEEN 1 AND \(channelCount)").flatMap { gap in
            // Rows of one run have the same distance between n and their number.
            try Row.fetchAll(
                db,
                sql: """
                    SELECT min(n) AS first, count(*) AS length FROM (
                        SELECT n, n - row_number() OVER (ORDER BY n) AS run FROM sample
                        WHERE stream_id = ?1 AND n >= ?2 AND n < ?3 AND c\(gap.channel) IS NULL)
                    GROUP BY run ORDER BY first
                    """, arguments: [stream.rawValue, gap.first, gap.first + gap.count]
            ).map { row in
                ResumeState.MissingRange(
                    firstN: row["first"], count: row["length"], channel: gap.channel, gapFirstN: gap.first)
            }
        }
        return ranges.sorted { ($0.firstN, $0.channel) < ($1.firstN, $1.channel) }
    }

    /// Gaps that something could still fill; what a headset never sends would be one a second.
    private func gaps(channels: String) throws -> [(first: Int64, count: Int64, channel: Int, recovered: Int64)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT first_n, count, channel, recovered FROM gap
                WHERE stream_id = ? AND \(channels) AND recovered < count AND cause <> 'notSent' ORDER BY first_n
                """, arguments: [stream.rawValue]
        ).map { ($0["first_n"], $0["count"], $0["channel"], $0["recovered"]) }
    }
}
