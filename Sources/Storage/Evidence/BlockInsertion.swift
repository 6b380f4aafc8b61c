import Evidence
import Foundation
import GRDB
import Headsets

/// Writes the blocks of the rows of one transaction. What it has learnt is kept by ``OpenBlocks`` once the transaction is
/// committed, and forgotten otherwise.
final class BlockInsertion {
    let db: Database
    /// By stream; those that the transaction, or one before, has written to.
    var streams: [StreamID: StreamBlocks]
    /// Of ``streams``, those whose open blocks differ from what the database has.
    private var changed: Set<StreamID> = []
    /// False where nobody wants digests.
    private let isKept: Bool

    init(db: Database, streams: [StreamID: StreamBlocks] = [:], isKept: Bool = true) {
        self.isKept = isKept
        self.db = db
        self.streams = streams
    }

    /// Takes rows that were inserted.
    func append(_ rows: SampleRows) throws {
        try change(rows.stream) { blocks in
            let isLive = blocks.live.lastN.map { rows.firstN > $0 } ?? true
            try rows.values.withUnsafeBufferPointer { values in
                guard let values = values.baseAddress else { return }
                try blocks.append(
                    to: isLive ? \.live : \.late, channel: 0, channelCount: rows.channelCount, firstN: rows.firstN,
                    rowCount: rows.rowCount, values: values, missing: rows.missingChannels, in: db)
            }
        }
    }

    /// Takes values of one channel that rows were given.
    func append(_ fill: ChannelFill) throws {
        try change(fill.stream) { blocks in
            try fill.values.withUnsafeBufferPointer { values in
                guard let values = values.baseAddress else { return }
                try blocks.append(
                    to: \.late, channel: fill.channel, channelCount: 1, firstN: fill.firstN, rowCount: fill.values.count,
                    values: values, missing: [], in: db)
            }
        }
    }

    /// Writes the blocks that go on.
    func save() throws {
        for stream in changed.sorted(by: { $0.rawValue < $1.rawValue }) { try streams[stream]?.save(in: db) }
        changed.removeAll(keepingCapacity: true)
    }

    private func change(_ stream: StreamID, _ body: (inout StreamBlocks) throws -> Void) throws {
        guard isKept else { return }
        var blocks = try streams.removeValue(forKey: stream) ?? StreamBlocks(of: stream, in: db)
        changed.insert(stream)
        defer { streams[stream] = blocks }
        try body(&blocks)
    }
}

/// The two chains of a stream, as far as they are written.
struct StreamBlocks: Sendable {
    /// Rows of a block that is closed because it is full.
    static let capacity = 4_096

    let stream: StreamID
    private let identity: StreamIdentity
    var live: BlockChain
    var late: BlockChain
    /// True where ``heads`` differ from those of the last witness.
    var isUnwitnessed = true

    /// Reads where the chains end: a block that an earlier process has begun is not gone on with.
    init(of stream: StreamID, in db: Database) throws {
        self.stream = stream
        guard let uuid = try String.fetchOne(db, sql: "SELECT uuid FROM stream WHERE id = ?", arguments: [stream.rawValue])
        else { throw StorageError.constraint(detail: "stream \(stream.rawValue) has no UUID") }
        identity = StreamIdentity(uuid: uuid)
        live = try BlockChain(.live, of: stream, identity: identity, in: db)
        late = try BlockChain(.late, of: stream, identity: identity, in: db)
        let before = try Int64.fetchOne(
            db, sql: "SELECT last_n FROM undigested_rows WHERE stream_id = ?", arguments: [stream.rawValue])
        live.lastN = [live.lastN, before].compactMap(\.self).max()
    }

    mutating func append(
        to chain: WritableKeyPath<StreamBlocks, BlockChain>, channel: Int, channelCount: Int, firstN: Int64, rowCount: Int,
        values: UnsafePointer<Int32>, missing: [UInt8], in db: Database
    ) throws {
        var done = 0
        while done < rowCount {
            let n = firstN + Int64(done)
            try self[keyPath: chain].begin(channel: channel, n: n, stream: stream, in: db)
            let count = min(rowCount - done, Self.capacity - self[keyPath: chain].openCount)
            var rows = RowBytes(channelCount: channelCount, capacity: count)
            for row in done..<done + count {
                rows.append(
                    n: firstN + Int64(row), values: values + row * channelCount, missing: missing.isEmpty ? 0 : missing[row])
            }
            self[keyPath: chain].append(rows, lastN: n + Int64(count - 1), count: count)
            done += count
        }
    }

    mutating func save(in db: Database) throws {
        try live.save(stream: stream, in: db)
        try late.save(stream: stream, in: db)
        isUnwitnessed = true
    }

    /// Where the chains end.
    var heads: [Witness.Head] {
        [live, late].compactMap { $0.head(of: identity) }
    }
}

/// One chain of a stream's blocks, and the block at its end that rows are appended to.
struct BlockChain: Sendable {
    private let chain: Chain
    private var nextNumber: Int
    /// The digest of the last block that is closed.
    private var head: Digest
    private var open: OpenBlock?
    /// The highest n of the chain's blocks; nil where it has none.
    var lastN: Int64?

    private struct OpenBlock: Sendable {
        /// Nil until it is in the database.
        var id: Int64?
        var channel: Int
        var firstN: Int64
        var lastN: Int64
        var rowCount: Int
        var digest: BlockDigest
        var isSaved = false
    }

    init(_ chain: Chain, of stream: StreamID, identity: StreamIdentity, in db: Database) throws {
        self.chain = chain
        let last = try Row.fetchOne(
            db, sql: "SELECT number, last_n, digest FROM block WHERE stream_id = ? AND chain = ? ORDER BY number DESC LIMIT 1",
            arguments: [stream.rawValue, chain.rawValue])
        nextNumber = last.map { $0["number"] + 1 } ?? 0
        lastN = last?["last_n"]
        head = last.flatMap { Digest(Array($0["digest"] as Data)) } ?? identity.genesis(of: chain)
    }

    var openCount: Int { open?.rowCount ?? 0 }

    /// Sees to it that a block is open which a row may be appended to: one of the channel that is not full, and in the late
    /// chain ends just before the row.
    mutating func begin(channel: Int, n: Int64, stream: StreamID, in db: Database) throws {
        if let block = open {
            let goesOn = chain == .live || (block.channel == channel && block.lastN + 1 == n)
            if goesOn, block.rowCount < StreamBlocks.capacity { return }
            try close(stream: stream, in: db)
        }
        open = OpenBlock(
            channel: channel, firstN: n, lastN: n, rowCount: 0, digest: BlockDigest(previous: head, channel: channel))
    }

    mutating func append(_ rows: borrowing RowBytes, lastN last: Int64, count: Int) {
        open?.digest.append(rows)
        open?.lastN = last
        open?.rowCount += count
        open?.isSaved = false
        lastN = max(last, lastN ?? last)
    }

    private mutating func close(stream: StreamID, in db: Database) throws {
        try save(stream: stream, in: db)
        if let block = open { head = block.digest.value }
        nextNumber += 1
        open = nil
    }

    /// The last block that has rows; nil where this process has written none.
    func head(of stream: StreamIdentity) -> Witness.Head? {
        open.map {
            Witness.Head(
                stream: stream.uuid, chain: chain, number: nextNumber, rowCount: $0.rowCount, digest: $0.digest.value)
        }
    }

    /// Writes the open block as it is.
    mutating func save(stream: StreamID, in db: Database) throws {
        guard var block = open, !block.isSaved, block.rowCount > 0 else { return }
        let digest = Data(block.digest.value.bytes)
        if let id = block.id {
            try db.cachedStatement(sql: "UPDATE block SET last_n = ?, row_count = ?, digest = ? WHERE id = ?")
                .execute(arguments: [block.lastN, block.rowCount, digest, id])
        } else {
            try db.cachedStatement(
                sql: """
                    INSERT INTO block (stream_id, chain, number, channel, first_n, last_n, row_count, digest)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                stream.rawValue, chain.rawValue, nextNumber, block.channel, block.firstN, block.lastN, block.rowCount, digest,
            ])
            block.id = db.lastInsertedRowID
        }
        block.isSaved = true
        open = block
    }
}
