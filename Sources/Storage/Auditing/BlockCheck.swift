import Evidence
import Foundation
import GRDB

/// A block as it is stored.
struct StoredBlock {
    var chain: Chain
    var number: Int
    var channel: Int
    var firstN: Int64
    var lastN: Int64
    var rowCount: Int64
    var digest: [UInt8]
    /// The digest of the block before; nil where that is not there.
    var previous: Digest?

    /// Reads a row of ``sql(_:order:)``.
    init(_ row: Row, _ chain: Chain) {
        self.chain = chain
        number = row[0]
        channel = row[1]
        firstN = row[2]
        lastN = row[3]
        rowCount = row[4]
        digest = Array(row[5] as Data)
        previous = (row[6] as Data?).flatMap { Digest(Array($0)) }
    }

    /// A query for blocks of the stream `?1`.
    static func sql(_ chain: Chain, where condition: String, order: String) -> String {
        """
        SELECT b.number, b.channel, b.first_n, b.last_n, b.row_count, b.digest, (
            SELECT p.digest FROM block AS p
            WHERE p.stream_id = b.stream_id AND p.chain = '\(chain.rawValue)' AND p.number = b.number - 1)
        FROM block AS b WHERE b.stream_id = ?1 AND b.chain = '\(chain.rawValue)' AND \(condition) ORDER BY \(order)
        """
    }

    /// Such as `live block 17 (n 69632 to 73727)`.
    var words: String {
        let ofChannel = channel == 0 ? "" : " of channel \(channel)"
        return "\(chain.rawValue) block \(number)\(ofChannel) (n \(firstN) to \(lastN))"
    }
}

/// The rows of one block, compared with the digest that was written with them.
struct BlockCheck: ~Copyable {
    let block: StoredBlock
    private var digest: BlockDigest
    private var rows: RowBytes
    private(set) var rowCount: Int64 = 0

    /// Begins with no row.
    ///
    /// - Parameter genesis: what a first block has for the one before.
    init(_ block: StoredBlock, channelCount: Int, genesis: Digest) {
        self.block = block
        digest = BlockDigest(previous: block.previous ?? genesis, channel: block.channel)
        rows = RowBytes(channelCount: block.channel == 0 ? channelCount : 1, capacity: 64)
    }

    /// Takes a row.
    mutating func append(n: Int64, values: UnsafePointer<Int32>, missing: UInt8) {
        if rows.isFull { flush() }
        rows.append(n: n, values: values, missing: missing)
        rowCount += 1
    }

    private mutating func flush() {
        digest.append(rows)
        rows.removeAll()
    }

    /// What is wrong with the block, all of whose rows were taken.
    mutating func finding(stream: Int64) -> AuditReport.Finding? {
        flush()
        let block = block
        func finding(_ check: AuditReport.Check, _ detail: String) -> AuditReport.Finding {
            AuditReport.Finding(check: check, streamID: stream, n: block.firstN, detail: detail)
        }
        if block.previous == nil, block.number > 0 {
            return finding(.chainsAreWhole, "the \(block.chain.rawValue) block before \(block.words) is not there")
        }
        if rowCount != block.rowCount {
            return finding(.blocksAreAsWritten, "\(block.words): \(block.rowCount) rows were written, \(rowCount) are there")
        }
        if digest.value.bytes != block.digest {
            return finding(.blocksAreAsWritten, "\(block.words): its rows are not those that were written")
        }
        return nil
    }
}

/// A block of the late chain: there may be several at one n.
final class LateBlockCheck {
    var check: BlockCheck

    init(_ check: consuming BlockCheck) {
        self.check = check
    }
}
