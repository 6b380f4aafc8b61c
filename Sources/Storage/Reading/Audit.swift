import GRDB

extension Store {
    /// Proves that every sample is stored or ledgered exactly once, from one consistent snapshot.
    ///
    /// Counts rows by SQL: 1.4 million rows of 8 channels a second were seen, so weeks of data take minutes.
    ///
    /// - Parameter recording: the recording, or nil for all.
    /// - Throws: ``StorageError/notFound(what:)``, `corrupt`, `busy`. Findings are not errors.
    package func audit(recording: RecordingID? = nil) throws(StorageError) -> AuditReport {
        try database.read { db in
            if let recording { try Self.requireRecording(recording, in: db) }
            var audit = Audit(db: db)
            try audit.checkReferences()
            let streams = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, recording_id, name, bank, channel_count FROM stream
                    WHERE ?1 IS NULL OR recording_id = ?1 ORDER BY recording_id, id
                    """, arguments: [recording?.rawValue])
            for stream in streams { try audit.checkStream(stream) }
            return audit.report
        }
    }
}

extension StreamCertainty {
    /// Reads what the view says of a stream.
    fileprivate init(ofStream stream: Int64, in db: Database) throws {
        let found = try Row.fetchOne(db, sql: "SELECT * FROM stream_certainty WHERE stream_id = ?", arguments: [stream])
        guard let row = found else { throw StorageError.notFound(what: "stream \(stream)") }
        self.init(
            lossDetection: row["loss_detection"], counted: row["counted"], timed: row["timed"],
            uncertainty: row["uncertainty"], unknown: row["unknown"], unknownGaps: row["unknown_gaps"])
    }
}

/// The checks, as set-based SQL: no sample row ever reaches Swift.
struct Audit {
    let db: Database
    var report = AuditReport()

    mutating func checkStream(_ row: Row) throws {
        let id: Int64 = row["id"]
        let channelCount: Int = row["channel_count"]
        let (sums, nulls, beyond) = try sums(of: row, channelCount: channelCount)
        report.streams.append(sums)
        if sums.residual != 0 { try findHoles(stream: id, sums: sums) }
        try checkGaps(stream: id)
        try checkChannels(stream: id, channelCount: channelCount, nulls: nulls, beyond: beyond)
        try checkSegments(stream: id, sums: sums)
        try list(
            .epochsAscend, stream: id,
            """
            SELECT first_n, 'epoch ' || number || ' begins at ' || first_n || ', before epoch ' || (number - 1)
            FROM (SELECT number, first_n, lag(first_n) OVER (ORDER BY number) AS before FROM epoch WHERE stream_id = ?1)
            WHERE first_n < before ORDER BY number
            """)
    }

    /// One pass over the rows counts everything that needs them all.
    private func sums(of row: Row, channelCount: Int) throws -> (AuditReport.StreamSums, nulls: [Int64], beyond: Int64) {
        let id: Int64 = row["id"]
        let nulls = (1...channelCount).map { "count(*) - count(c\($0))" }.joined(separator: ", ")
        let beyond = channelCount == 8 ? "0" : (channelCount + 1...8).map { "count(c\($0))" }.joined(separator: " + ")
        let counted = try Row.fetchOne(
            db, sql: "SELECT count(*), min(n), max(n), \(beyond), \(nulls) FROM sample WHERE stream_id = ?", arguments: [id])
        let ledger = try Row.fetchOne(
            db,
            sql: """
                SELECT min(first_n) FILTER (WHERE count IS NOT NULL), max(first_n + count - 1),
                    coalesce(sum(count - recovered), 0), coalesce(sum(recovered), 0),
                    min(first_n) FILTER (WHERE count IS NULL)
                FROM gap WHERE stream_id = ? AND channel = 0
                """, arguments: [id])
        guard let counted, let ledger else { throw StorageError.notFound(what: "stream \(id)") }
        let certainty = try StreamCertainty(ofStream: id, in: db)
        let first = [counted[1] as Int64?, ledger[0] as Int64?].compactMap(\.self).min()
        let last = [counted[2] as Int64?, ledger[1] as Int64?].compactMap(\.self).max()
        let expected = if let first, let last { last - first + 1 } else { Int64(0) }
        let sums = AuditReport.StreamSums(
            recordingID: row["recording_id"], streamID: id, name: row["name"], bank: row["bank"], firstN: first, lastN: last,
            rows: counted[0], missing: ledger[2], recovered: ledger[3], openGapFirstN: ledger[4],
            certainty: certainty, expected: expected)
        return (sums, (0..<channelCount).map { counted[4 + $0] }, counted[3])
    }

    /// Where samples are neither stored nor ledgered, or both: only looked for when the sums say that there are such.
    private mutating func findHoles(stream: Int64, sums: AuditReport.StreamSums) throws {
        let before = report.findings.count
        try list(
            .rowsAndGapsAddUp, stream: stream,
            """
            SELECT first, (length - ledgered) || ' of the samples ' || first || ' to ' || (first + length - 1)
                || ' are neither stored nor in the ledger'
            FROM (
                SELECT first, length, (
                    SELECT coalesce(sum(min(g.first_n + g.count, first + length) - max(g.first_n, first)), 0) FROM gap AS g
                    WHERE g.stream_id = ?1 AND g.channel = 0 AND g.first_n < first + length
                        AND g.first_n + g.count > first) AS ledgered
                FROM (
                    SELECT before + 1 AS first, n - before - 1 AS length FROM (
                        SELECT n, lag(n, 1, ?2 - 1) OVER (ORDER BY n) AS before
                        FROM (SELECT n FROM sample WHERE stream_id = ?1 UNION ALL SELECT ?3 + 1))
                    WHERE n - before > 1))
            WHERE ledgered < length ORDER BY first
            """, [sums.firstN ?? 0, sums.lastN ?? 0])
        if report.findings.count == before {
            report.findings.append(
                AuditReport.Finding(
                    check: .rowsAndGapsAddUp, streamID: stream, n: sums.firstN,
                    detail: "\(sums.rows) rows and \(sums.missing) missing samples are not the \(sums.expected) expected ones"))
        }
    }

    private mutating func checkGaps(stream: Int64) throws {
        try list(
            .gapsDoNotOverlap, stream: stream,
            """
            SELECT first_n, 'the gap at ' || first_n || ' (channel ' || channel || ') begins before the gap at ' || before_n
                || ' ends'
            FROM (
                SELECT first_n, channel, lag(first_n) OVER byChannel AS before_n, lag(count) OVER byChannel AS before_count
                FROM gap WHERE stream_id = ?1 WINDOW byChannel AS (PARTITION BY channel ORDER BY first_n))
            WHERE before_n IS NOT NULL AND (before_count IS NULL OR before_n + before_count > first_n) ORDER BY first_n
            """)
        try list(
            .recoveredMatchesRows, stream: stream,
            """
            SELECT first_n, 'the gap at ' || first_n || ' says ' || recovered || ' recovered of ' || count || ', but '
                || found || ' rows are there'
            FROM (
                SELECT first_n, count, recovered, (
                    SELECT count(*) FROM sample WHERE stream_id = ?1 AND n >= first_n AND n < first_n + count) AS found
                FROM gap WHERE stream_id = ?1 AND channel = 0 AND count IS NOT NULL)
            WHERE found <> recovered ORDER BY first_n
            """)
        try list(
            .noRowInOpenGap, stream: stream,
            """
            SELECT s.n, 'row ' || s.n || ' lies in the gap at ' || g.first_n || ', whose end is not known'
            FROM gap AS g JOIN sample AS s ON s.stream_id = ?1 AND s.n >= g.first_n
            WHERE g.stream_id = ?1 AND g.channel = 0 AND g.count IS NULL
            """)
    }

    private mutating func checkChannels(stream: Int64, channelCount: Int, nulls: [Int64], beyond: Int64) throws {
        for channel in 1...channelCount {
            try list(
                .missingChannelsAreLedgered, stream: stream,
                """
                SELECT first_n, 'the gap of channel \(channel) at ' || first_n || ' says ' || (count - recovered)
                    || ' missing, but ' || found || ' rows lack the channel'
                FROM (
                    SELECT first_n, count, recovered, (
                        SELECT count(*) FROM sample
                        WHERE stream_id = ?1 AND n >= first_n AND n < first_n + count AND c\(channel) IS NULL) AS found
                    FROM gap WHERE stream_id = ?1 AND channel = \(channel) AND count IS NOT NULL)
                WHERE found <> count - recovered ORDER BY first_n
                """)
            let ledgered = try Int64.fetchOne(
                db, sql: "SELECT coalesce(sum(count - recovered), 0) FROM gap WHERE stream_id = ? AND channel = ?",
                arguments: [stream, channel])
            if ledgered == nulls[channel - 1] { continue }
            try list(
                .missingChannelsAreLedgered, stream: stream,
                """
                SELECT n, 'row ' || n || ' lacks channel \(channel), which is not in the ledger' FROM sample AS s
                WHERE stream_id = ?1 AND c\(channel) IS NULL AND NOT EXISTS (
                    SELECT 1 FROM gap AS g WHERE g.stream_id = ?1 AND g.channel = \(channel)
                        AND s.n >= g.first_n AND s.n < g.first_n + g.count) ORDER BY n
                """)
        }
        if beyond == 0 { return }
        let columns = (channelCount + 1...8).map { "c\($0)" }.joined(separator: ", ")
        try list(
            .noValueBeyondChannels, stream: stream,
            """
            SELECT n, 'row ' || n || ' has a value beyond channel \(channelCount)' FROM sample
            WHERE stream_id = ?1 AND coalesce(\(columns), NULL) IS NOT NULL ORDER BY n
            """)
    }

    /// Runs a query for (n, words) and keeps its first rows as findings. `?1` is the stream.
    mutating func list(_ check: AuditReport.Check, stream: Int64?, _ sql: String, _ more: [Int64] = []) throws {
        var arguments = StatementArguments(more)
        if let stream { arguments = StatementArguments([stream] + more) }
        let rows = try Row.fetchAll(db, sql: "\(sql) LIMIT \(AuditReport.findingLimit)", arguments: arguments)
        report.findings += rows.map { row in
            AuditReport.Finding(check: check, streamID: stream, n: row[0], detail: row[1])
        }
    }
}
