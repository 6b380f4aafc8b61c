import GRDB

/// Rows and ledger, as set-based SQL.
extension Audit {
    /// Counts rows, where their values are not looked at.
    func countedRows(of stream: Int64, since: Int64?) throws -> RowSums {
        var sums = RowSums()
        let row = try Row.fetchOne(
            db, sql: "SELECT count(*), min(n), max(n) FROM sample WHERE stream_id = ? AND n >= ?",
            arguments: [stream, since ?? .min])
        sums.rows = row?[0] ?? 0
        sums.firstN = row?[1]
        sums.lastN = row?[2]
        return sums
    }

    /// Rows and what the ledger says is missing, from `since` on.
    func sums(of row: Row, since: Int64?, counted: RowSums) throws -> AuditReport.StreamSums {
        let id: Int64 = row["id"]
        let begin = since ?? .min
        let ledger = try Row.fetchOne(
            db,
            sql: """
                SELECT min(max(first_n, ?2)) FILTER (WHERE count IS NOT NULL), max(first_n + count - 1),
                    coalesce(sum(CASE WHEN first_n >= ?2 THEN count - recovered ELSE first_n + count - ?2 - (
                        SELECT count(*) FROM sample
                        WHERE stream_id = ?1 AND n >= ?2 AND n < first_n + count) END), 0),
                    coalesce(sum(recovered), 0), min(first_n) FILTER (WHERE count IS NULL)
                FROM gap WHERE stream_id = ?1 AND channel = 0 AND (count IS NULL OR first_n + count > ?2)
                """, arguments: [id, begin])
        guard let ledger else { throw StorageError.notFound(what: "stream \(id)") }
        let first = [counted.firstN, ledger[0] as Int64?].compactMap(\.self).min()
        let last = [counted.lastN, ledger[1] as Int64?].compactMap(\.self).max()
        let expected = if let first, let last { last - first + 1 } else { Int64(0) }
        return AuditReport.StreamSums(
            recordingID: row["recording_id"], streamID: id, name: row["name"], bank: row["bank"], firstN: first, lastN: last,
            rows: counted.rows, missing: ledger[2], recovered: ledger[3], openGapFirstN: ledger[4],
            certainty: try StreamCertainty(ofStream: id, in: db), expected: expected)
    }

    /// Where samples are neither stored nor ledgered, or both: only looked for when the sums say that there are such.
    mutating func findHoles(stream: Int64, sums: AuditReport.StreamSums) throws {
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

    mutating func checkGaps(stream: Int64) throws {
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

    mutating func checkChannels(stream: Int64, channelCount: Int, nulls: [Int64], beyond: Int64) throws {
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
}

extension StreamCertainty {
    /// Reads what the view says of a stream.
    fileprivate init(ofStream stream: Int64, in db: Database) throws {
        let found = try Row.fetchOne(db, sql: "SELECT * FROM stream_certainty WHERE stream_id = ?", arguments: [stream])
        guard let row = found else { throw StorageError.notFound(what: "stream \(stream)") }
        self.init(
            lossDetection: row["loss_detection"], counted: row.number("counted") ?? 0, timed: row.number("timed") ?? 0,
            uncertainty: row.number("uncertainty"), unknown: row.number("unknown") ?? 0,
            unknownGaps: row.number("unknown_gaps") ?? 0)
    }
}
