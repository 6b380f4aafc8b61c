import Evidence
import GRDB

/// Divides the rows of streams into ranges that can be looked at by themselves.
struct RowRanges {
    /// Live blocks of a range: about a million rows.
    static let blocksPerRange = 256

    private(set) var ranges: [RowRange] = []
    /// About how many rows there are, by the blocks.
    private(set) var rowCount: Int64 = 0

    /// Adds a stream's rows.
    ///
    /// - Parameter since: where a block begins, as ``start(of:at:in:)`` gives it; nil for all rows.
    mutating func add(_ stream: AuditedStream, since: Int64?, in db: Database) throws {
        var begin: (n: Int64, block: Int) = (.min, 0)
        if let since {
            let block = try Int.fetchOne(
                db, sql: "SELECT min(number) FROM block WHERE stream_id = ? AND chain = 'live' AND last_n >= ?",
                arguments: [stream.id, since])
            begin = (since, block ?? .max)
        }
        let borders = try Row.fetchAll(
            db,
            sql: """
                SELECT number, first_n FROM block WHERE stream_id = ? AND chain = 'live' AND number > ? AND number % ? = 0
                ORDER BY number
                """, arguments: [stream.id, begin.block, Self.blocksPerRange])
        for border in borders {
            let n: Int64 = border["first_n"]
            guard n > begin.n, try Self.beforeLate(n, of: stream.id, in: db) == n else { continue }
            ranges.append(RowRange(stream: stream, n: begin.n...n - 1, liveBlocks: begin.block..<border["number"]))
            begin = (n, border["number"])
        }
        ranges.append(RowRange(stream: stream, n: begin.n...Int64.max, liveBlocks: begin.block..<Int.max))
        rowCount +=
            try Int64.fetchOne(
                db,
                sql: "SELECT coalesce(sum(row_count), 0) FROM block WHERE stream_id = ? AND channel = 0 AND last_n >= ?",
                arguments: [stream.id, since ?? .min]) ?? 0
        if let undigested = stream.undigested, since == nil {
            rowCount += undigested.upperBound - undigested.lowerBound + 1
        }
    }

    /// The first n of the blocks that hold n; n itself where none does. Whatever is counted from it on is whole blocks.
    static func start(of stream: Int64, at n: Int64, in db: Database) throws -> Int64 {
        let first = try Int64.fetchOne(
            db,
            sql: """
                SELECT first_n FROM block WHERE stream_id = ?1 AND chain = 'live' AND first_n <= ?2 AND last_n >= ?2
                """, arguments: [stream, n])
        return try beforeLate(first ?? n, of: stream, in: db)
    }

    /// The first n of the late block that n lies within; n itself where it lies within none.
    private static func beforeLate(_ n: Int64, of stream: Int64, in db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT min(first_n) FROM block
                WHERE stream_id = ?1 AND chain = 'late' AND first_n < ?2 AND first_n >= ?2 - ?3 AND last_n >= ?2
                """, arguments: [stream, n, Int64(StreamBlocks.capacity)]) ?? n
    }
}
