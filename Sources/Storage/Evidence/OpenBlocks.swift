import GRDB
import Headsets
import Synchronization

/// The blocks that an acquisition goes on with, from one transaction to the next.
final class OpenBlocks: Sendable {
    private let streams = Mutex<[StreamID: StreamBlocks]>([:])

    /// Runs a transaction that writes rows. What it has made of the blocks counts where it was committed.
    func inTransaction<Result: Sendable>(
        of database: OpenDatabase, _ body: (Database, BlockInsertion) throws -> Result
    ) throws(StorageError) -> Result {
        try streams.withLock { (streams) throws(StorageError) -> Result in
            var after: [StreamID: StreamBlocks] = [:]
            let result = try database.write { db in
                let blocks = BlockInsertion(db: db, streams: streams, isKept: database.keepsEvidence)
                let result = try body(db, blocks)
                try blocks.save()
                after = blocks.streams
                return result
            }
            streams = after
            return result
        }
    }

    /// Writes down where the chains end, once all that was committed has reached the disk.
    func witness(beside path: String) {
        streams.withLock { streams in
            let changed = streams.filter(\.value.isUnwitnessed)
            if changed.isEmpty { return }
            var witness = Witness.read(of: path) ?? Witness()
            for (stream, blocks) in changed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                witness.merge(blocks.heads)
                streams[stream]?.isUnwitnessed = false
            }
            witness.write(beside: path)
        }
    }
}
