import Evidence
import Foundation
import GRDB

/// The digest that a block had when it had fewer rows, computed from the rows that are there.
struct BlockBeginning {
    let stream: Int64
    let chain: String
    let number: Int

    /// Values that came late: not of the block of their row. Channel 0 is whole rows.
    private struct Late {
        var channel: Int
        var n: ClosedRange<Int64>
    }

    /// The digest of the first rows of the block; nil where there are not so many, or the block before is not there.
    func digest(rows count: Int, in db: Database) throws -> Digest? {
        guard let chain = Chain(rawValue: chain),
            let found = try Row.fetchOne(
                db, sql: StoredBlock.sql(chain, where: "b.number = ?2", order: "b.number"), arguments: [stream, number]),
            let described = try Row.fetchOne(
                db, sql: "SELECT uuid, channel_count FROM stream WHERE id = ?", arguments: [stream])
        else { return nil }
        let block = StoredBlock(found, chain)
        let genesis = StreamIdentity(uuid: described[0] ?? "").genesis(of: chain)
        guard let previous = block.previous ?? (block.number == 0 ? genesis : nil) else { return nil }
        let channelCount: Int = described[1]
        guard (1...8).contains(channelCount), (0...channelCount).contains(block.channel) else { return nil }
        return try digest(rows: count, of: block, behind: previous, channelCount: channelCount, in: db)
    }

    private func digest(
        rows count: Int, of block: StoredBlock, behind previous: Digest, channelCount: Int, in db: Database
    ) throws -> Digest? {
        let late = try late(within: block.firstN...max(block.firstN, block.lastN), in: db)
        var digest = BlockDigest(previous: previous, channel: block.channel)
        let channels = block.channel == 0 ? Array(1...channelCount) : [block.channel]
        var bytes = RowBytes(channelCount: channels.count, capacity: max(1, count))
        var taken = 0
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT n, \(channels.map { "c\($0)" }.joined(separator: ", ")) FROM sample
                WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n
                """, arguments: [stream, block.firstN, block.lastN])
        var values = [Int32](repeating: 0, count: channels.count)
        while taken < count, let row = try rows.next() {
            let n: Int64 = row[0]
            let cameLate = late.filter { $0.n.contains(n) }.map(\.channel)
            if block.chain == .live, cameLate.contains(0) { continue }
            var missing: UInt8 = 0
            for (index, channel) in channels.enumerated() {
                let value: Int64? = block.channel == 0 && cameLate.contains(channel) ? nil : row[index + 1]
                values[index] = Int32(truncatingIfNeeded: value ?? 0)
                if value == nil { missing |= 1 << UInt8(index) }
            }
            values.withUnsafeBufferPointer { values in
                if let base = values.baseAddress { bytes.append(n: n, values: base, missing: missing) }
            }
            taken += 1
        }
        guard taken == count else { return nil }
        digest.append(bytes)
        return digest.value
    }

    private func late(within n: ClosedRange<Int64>, in db: Database) throws -> [Late] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT channel, first_n, last_n FROM block
                WHERE stream_id = ?1 AND chain = 'late' AND first_n <= ?3 AND last_n >= ?2 AND last_n >= first_n
                """, arguments: [stream, n.lowerBound, n.upperBound]
        ).map { Late(channel: $0[0], n: ($0[1] as Int64)...($0[2] as Int64)) }
    }
}
