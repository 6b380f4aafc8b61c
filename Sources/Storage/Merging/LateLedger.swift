import GRDB

/// The gaps of a stream after rows of another one came in that lie in them: how much of each has arrived, and which channels
/// the rows lack.
struct LateLedger {
    /// The other stream.
    let source: Database
    let there: Int64
    /// What is added to an n of the other stream to get that of the same sample here.
    var shift: Int64 = 0
    let db: Database
    let here: Int64
    /// What rows of the source are called here; nil where it is the same database.
    var keys: MergedKeys?

    /// - Returns: how many gaps of whole rows are complete that were not.
    func follow(_ changes: RowChanges) throws -> Int64 {
        let closed = try changes.taken > 0 ? countRecovered() : 0
        for piece in changes.lacking { try ledger(piece) }
        for channel in changes.filledChannels.sorted() {
            try db.execute(
                sql: """
                    UPDATE gap SET recovered = count - (SELECT count(*) FROM sample AS s WHERE s.stream_id = gap.stream_id
                        AND s.n >= gap.first_n AND s.n < gap.first_n + gap.count AND s.c\(channel) IS NULL)
                    WHERE stream_id = ? AND channel = ?
                    """, arguments: [here, channel])
        }
        return closed
    }

    /// Has each gap say how many of its rows are there.
    private func countRecovered() throws -> Int64 {
        let complete = "SELECT count(*) FROM gap WHERE stream_id = ? AND channel = 0 AND count > 0 AND recovered = count"
        let before = try Int64.fetchOne(db, sql: complete, arguments: [here]) ?? 0
        try db.execute(
            sql: """
                UPDATE gap SET recovered = (SELECT count(*) FROM sample AS s WHERE s.stream_id = gap.stream_id
                    AND s.n >= gap.first_n AND s.n < gap.first_n + gap.count)
                WHERE stream_id = ? AND channel = 0 AND count > 0 AND recovered < count
                """, arguments: [here])
        return (try Int64.fetchOne(db, sql: complete, arguments: [here]) ?? 0) - before
    }

    /// Says of rows that came in without a channel why they lack it, as the other stream does.
    private func ledger(_ piece: (channel: Int, firstN: Int64, count: Int64)) throws {
        let (begin, end) = (piece.firstN - shift, piece.firstN - shift + piece.count)
        let gaps = try Row.fetchAll(
            source,
            sql: """
                SELECT * FROM gap WHERE stream_id = ?1 AND channel = ?2 AND first_n < ?3 AND first_n + count > ?4
                    AND first_n >= coalesce((SELECT max(first_n) FROM gap
                        WHERE stream_id = ?1 AND channel = ?2 AND first_n <= ?4), ?4)
                ORDER BY first_n
                """, arguments: [there, piece.channel, end, begin])
        for gap in gaps {
            let first = max(begin, gap["first_n"] as Int64)
            let last = min(end, (gap["first_n"] as Int64) + (gap["count"] as Int64))
            try insert(gap, channel: piece.channel, firstN: first + shift, count: last - first)
        }
    }

    /// Inserts a gap of the other stream, or a part of it, but for one that is there already.
    func insert(_ gap: Row, channel: Int, firstN: Int64, count: Int64?) throws {
        let boot: DatabaseValue = gap["host_boot_id"]
        let bootHere = try keys?.value(boot, of: "host_boot_id") ?? boot
        try db.execute(
            sql: """
                INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty, uncertainty)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE NOT EXISTS (SELECT 1 FROM gap WHERE stream_id = ?1
                    AND channel = ?3 AND (first_n = ?2 OR channel = 0 AND count IS NULL AND first_n < ?2))
                """,
            arguments: [
                here, firstN, channel, count, gap["cause"] as String, bootHere, gap["boottime_ns"] as Int64,
                gap["certainty"] as String, gap["uncertainty"] as Int64?,
            ])
    }
}
