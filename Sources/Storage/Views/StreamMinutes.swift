/// The companion by time of a stream's view: its rows with the minute in which each was taken.
///
/// Times are not stored, so no index can find a row by its time. The companion turns the question round: it cuts the few
/// segments of the time map into pieces of a minute, each with the range of n that may lie in it, and joins the rows by their
/// key. So `WHERE minute = '2026-03-01T10:00'` reads the segments and the rows of that minute, and nothing else.
enum StreamMinutes {
    private static let minute = "60000000000"

    /// The rows whose first bank that is there is `driver`. Rows have the time that the view itself gives them.
    static func arm(of driver: Int, banks: [Int64], columns: [[String]]) -> String {
        let row = "s\(driver)"
        let unixTime = Self.unixTime(of: "\(row).n", in: "p")
        let values =
            [
                "strftime('%Y-%m-%dT%H:%M', p.minute * 60, 'unixepoch') AS minute", "\(row).n AS n",
                "\(StreamView.text(ofUnixTime: unixTime)) AS time", "\(unixTime) AS unix_ns",
            ] + StreamView.values(of: driver, banks: banks, columns: columns)
        // The bounds are of floating point, and a little wide; the last condition gives each row its one minute. A cross join
        // keeps SQLite from reading the rows first (https://www.sqlite.org/optoverview.html#crossjoin).
        return """
            SELECT \(values.joined(separator: ",\n    "))
            FROM (\(pieces(of: banks[driver]))) AS p
            CROSS JOIN sample AS \(row)\(StreamView.joins(of: driver, banks: banks))
            WHERE \(row).stream_id = \(banks[driver])
                AND \(row).n BETWEEN max(p.first_n, p.reference_n
                    + CAST((p.minute * \(minute) - p.reference_unix_ns) / p.period_ns AS INTEGER) - 1)
                AND min(p.last_n, p.reference_n
                    + CAST(((p.minute + 1) * \(minute) - p.reference_unix_ns) / p.period_ns AS INTEGER) + 1)
                AND (\(unixTime)) / \(minute) = p.minute\(StreamView.absences(before: driver, banks: banks))
            """
    }

    private static func unixTime(of n: String, in piece: String) -> String {
        """
        \(piece).reference_unix_ns + CAST(round((\(n) - \(piece).reference_n) * \(piece).period_ns) AS INTEGER)
        """
    }

    /// Segments of the time map with the rows that take their time from them, cut at each full minute.
    ///
    /// A row takes the last segment that begins at or before it, or the first one. So where another segment does not follow
    /// without a hole, the rows say how far the segment reaches: not the hole, which may be as long as an outage.
    private static func pieces(of stream: Int64) -> String {
        let common = "reference_n, period_ns, reference_unix_ns"
        return """
            WITH RECURSIVE reach AS (
                SELECT g.first_n AS first_n, g.last_n AS last_n, g.reference_n AS reference_n, g.period_ns AS period_ns,
                    k.offset_ns + g.reference_boottime_ns AS reference_unix_ns,
                    lag(g.first_n) OVER (ORDER BY g.first_n) AS before_n, lead(g.first_n) OVER (ORDER BY g.first_n) AS next_n
                FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id WHERE g.stream_id = \(stream)),
            extent AS (
                SELECT CASE WHEN before_n IS NULL
                        THEN min(first_n, (SELECT coalesce(min(n), first_n) FROM sample WHERE stream_id = \(stream)))
                        ELSE first_n END AS first_n,
                    CASE WHEN next_n = last_n + 1 THEN last_n
                        ELSE (SELECT coalesce(max(n), first_n) FROM sample WHERE stream_id = \(stream) AND n >= first_n
                            AND n <= coalesce(next_n - 1, 9223372036854775807)) END AS last_n,
                    \(common) FROM reach),
            piece (first_n, last_n, \(common), minute, last_minute) AS (
                SELECT first_n, last_n, \(common), (\(unixTime(of: "extent.first_n", in: "extent"))) / \(minute),
                    (\(unixTime(of: "extent.last_n", in: "extent"))) / \(minute) FROM extent
                UNION ALL
                SELECT first_n, last_n, \(common), minute + 1, last_minute FROM piece WHERE minute < last_minute)
            SELECT * FROM piece
            """
    }
}
