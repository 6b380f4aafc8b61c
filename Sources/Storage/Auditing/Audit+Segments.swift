import GRDB

extension Audit {
    /// Segments overlap nowhere, rows begin inside one, and times ascend from one segment to the next.
    mutating func checkSegments(stream: Int64, sums: AuditReport.StreamSums) throws {
        try list(
            .segmentsTile, stream: stream,
            """
            SELECT first_n, 'the segment at ' || first_n || ' begins before the segment at ' || before_n || ' ends'
            FROM (
                SELECT first_n, lag(first_n) OVER (ORDER BY first_n) AS before_n,
                    lag(last_n) OVER (ORDER BY first_n) AS before_last FROM segment WHERE stream_id = ?1)
            WHERE before_last >= first_n ORDER BY first_n
            """)
        if sums.rows > 0 {
            try list(
                .segmentsTile, stream: stream,
                """
                SELECT min(n), 'the stream has rows, but no segment gives them a time' FROM sample WHERE stream_id = ?1
                    AND NOT EXISTS (SELECT 1 FROM segment WHERE stream_id = ?1) HAVING count(*) > 0
                """)
        }
        // Rows take the time of the last segment that begins at or before them. Compared are the last row before and the
        // first row of each segment: on the boot's own clock within one host boot, in UTC across boots if both clocks were
        // synchronised, to within what both segments state and a tenth of a second, by which clocks that are synchronised over
        // the network may differ (as in gap_time). A clock that was never set says nothing.
        try list(
            .timesAscend, stream: stream,
            """
            SELECT first_n, 'row ' || first_row || ' lies '
                || printf('%.6f', (before_time - time) / 1e9) || ' s before row ' || last_row
            FROM (
                SELECT first_n, first_row, last_row, uncertainty,
                    offset + reference + CAST(round((first_row - reference_n) * period) AS INTEGER) AS time,
                    before_offset + before_reference
                        + CAST(round((last_row - before_reference_n) * before_period) AS INTEGER) AS before_time
                FROM (
                    SELECT b.first_n AS first_n,
                        (SELECT min(n) FROM sample WHERE stream_id = ?1 AND n >= b.first_n) AS first_row,
                        (SELECT max(n) FROM sample WHERE stream_id = ?1 AND n < b.first_n AND n >= a.first_n) AS last_row,
                        CASE WHEN a.host_boot_id = b.host_boot_id THEN 0 WHEN ka.is_synchronised AND kb.is_synchronised
                            THEN kb.offset_ns END AS offset,
                        CASE WHEN a.host_boot_id = b.host_boot_id THEN 0 ELSE ka.offset_ns END AS before_offset,
                        b.reference_boottime_ns AS reference, b.reference_n AS reference_n, b.period_ns AS period,
                        a.reference_boottime_ns AS before_reference, a.reference_n AS before_reference_n,
                        a.period_ns AS before_period,
                        CASE WHEN a.host_boot_id = b.host_boot_id THEN 0
                            ELSE coalesce(a.uncertainty_ns, 0) + coalesce(b.uncertainty_ns, 0) + 1e8 END AS uncertainty
                    FROM segment AS b
                    JOIN segment AS a ON a.stream_id = ?1 AND a.first_n = (
                        SELECT max(first_n) FROM segment WHERE stream_id = ?1 AND first_n < b.first_n)
                    JOIN host_boot_clock AS ka ON ka.host_boot_id = a.host_boot_id
                    JOIN host_boot_clock AS kb ON kb.host_boot_id = b.host_boot_id
                    WHERE b.stream_id = ?1))
            WHERE time < before_time - uncertainty ORDER BY first_n
            """)
    }

    /// Nothing refers to something that is not there; sqlite3 and other programs write with foreign keys off.
    mutating func checkReferences() throws {
        // Jumps from stream to stream by the key, instead of reading every row.
        try list(
            .nothingOrphaned, stream: nil,
            """
            WITH RECURSIVE used (stream_id) AS (
                SELECT min(stream_id) FROM sample
                UNION ALL
                SELECT (SELECT min(stream_id) FROM sample WHERE sample.stream_id > used.stream_id) FROM used
                WHERE used.stream_id IS NOT NULL)
            SELECT NULL, 'there are samples of stream ' || stream_id || ', which does not exist' FROM used
            WHERE stream_id IS NOT NULL AND stream_id NOT IN (SELECT id FROM stream) ORDER BY stream_id
            """)
        try list(
            .nothingOrphaned, stream: nil,
            """
            SELECT NULL, 'stream ' || id || ' has ' || channel_count || ' channels, but not so many rows in channel'
            FROM stream WHERE channel_count <> (SELECT count(*) FROM channel WHERE stream_id = stream.id) ORDER BY id
            """)
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sample' AND name NOT LIKE 'sqlite%'
                ORDER BY name
                """)
        for table in tables {
            try list(
                .nothingOrphaned, stream: nil,
                """
                SELECT NULL, 'a row of \(table) refers to a row of ' || "parent" || ' that does not exist'
                FROM pragma_foreign_key_check('\(table)')
                """)
        }
    }
}
