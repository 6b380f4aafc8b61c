import Evidence
import Foundation
import GRDB

/// Where a chain of blocks ended at some instant, as somebody has kept it.
struct ChainEnd {
    let chain: String
    let end: Manifest.End

    /// Where the chains of a stream end now, by chain; without those that have no block.
    static func all(of stream: Int64, in db: Database) throws -> [String: Manifest.End] {
        var ends: [String: Manifest.End] = [:]
        for chain in Chain.allCases {
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT number, row_count, digest FROM block WHERE stream_id = ? AND chain = ?
                    ORDER BY number DESC LIMIT 1
                    """,
                arguments: [stream, chain.rawValue])
            guard let row, let digest = Digest(Array(row["digest"] as Data)) else { continue }
            ends[chain.rawValue] = Manifest.End(block: row["number"], rows: row["row_count"], digest: digest.hexadecimal)
        }
        return ends
    }

    /// What contradicts it now, with the last n of the block; nil where the chain ends there, or goes on from there.
    ///
    /// - Parameter stream: nil for one that is not there any more.
    func contradiction(of stream: Int64?, in db: Database) throws -> (n: Int64?, words: String)? {
        let row = try Row.fetchOne(
            db, sql: "SELECT row_count, digest, last_n FROM block WHERE stream_id = ? AND chain = ? AND number = ?",
            arguments: [stream, chain, end.block])
        let name = "\(chain) block \(end.block)"
        guard let row else { return (nil, "\(name) is not there") }
        let rows: Int = row["row_count"]
        if rows < end.rows { return (row["last_n"], "\(name) has \(rows) rows, but it had \(end.rows)") }
        // The last block of a chain grows: its first rows are still those that it had.
        let digest =
            if rows > end.rows, let stream {
                try BlockBeginning(stream: stream, chain: chain, number: end.block).digest(rows: end.rows, in: db)
            } else {
                Digest(Array(row["digest"] as Data))
            }
        if digest?.hexadecimal == end.digest { return nil }
        return (row["last_n"], "\(name) is another one than there was")
    }
}
