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
    /// - Parameter since: the first n that is wanted; the block that holds it is looked at as a whole.
    mutating func add(_ stream: AuditedStream, since: Int64 = .min, in db: Database) throws {
        let first = try Row.fetchOne(
            db,
            sql: """
                SELECT number, first_n FROM block WHERE stream_id = ?1 AND chain = 'live' AND last_n >= ?2
                ORDER BY number LIMIT 1
                """, arguments: [stream.id, since])
        let isWhole = since == .min
        var begin: (n: Int64, block: Int) = (
            isWhole ? .min : first?["first_n"] ?? since, isWhole ? 0 : first?["number"] ?? .max
        )
        if !isWhole { begin.n = try beforeLate(begin.n, of: stream, in: db) }
        let borders = try Row.fetchAll(
            db,
            sql: """
                SELECT number, first_n FROM block WHERE stream_id = ? AND chain = 'live' AND number > ? AND number % ? = 0
                ORDER BY number
                """, arguments: [stream.id, begin.block, Self.blocksPerRange])
        for border in borders {
            let n: Int64 = border["first_n"]
            guard n > begin.n, try beforeLate(n, of: stream, in: db) == n else { continue }
            ranges.append(RowRange(stream: stream, n: begin.n...n - 1, liveBlocks: begin.block..<border["number"]))
            begin = (n, border["number"])
        }
        ranges.append(RowRange(stream: stream, n: begin.n...Int64.max, liveBlocks: begin.block..<Int.max))
        rowCount +=
            try Int64.fetchOne(
                db,
                sql: "SELECT coalesce(sum(row_count), 0) FROM block WHERE stream_id = ? AND channel = 0 AND last_n >= ?",
                arguments: [stream.id, begin.n == .min ? Int64.min : since]) ?? 0
        if let undigested = stream.undigested, isWhole {
            rowCount += undigested.upperBound - undigested.lowerBound + 1
        }
    }

    /// The first n of the late block that n lies within; n itself where it lies within none.
    private func beforeLate(_ n: Int64, of stream: AuditedStream, in db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT min(first_n) FROM block
                WHERE stream_id = ?1 AND chain = 'late' AND first_n < ?2 AND first_n >= ?2 - ?3 AND last_n >= ?2
                """, arguments: [stream.id, n, Int64(StreamBlocks.capacity)]) ?? n
    }
}
