import Crypto

/// The digest of a block of rows, while rows are appended.
///
/// It is SHA-256 of, one after the other: the digest of the block before in the chain (32 bytes;
/// ``StreamIdentity/genesis(of:)`` for the first one), the channel (1 byte: 0 for whole rows), and each row. A row is *n* (8
/// bytes), its values in the order of the channels (4 bytes each, 0 where there is none), and a byte whose bits say which
/// channels have no value (bit 0 is channel 1). Integers are two's complement and little-endian. A block of one channel has
/// rows of one value.
package struct BlockDigest: Sendable {
    private var hash = SHA256()

    /// Begins a block behind another.
    ///
    /// - Parameters:
    ///   - previous: the digest of the block before.
    ///   - channel: 0 for whole rows, 1 ... 8 for values of one channel.
    package init(previous: Digest, channel: Int) {
        previous.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: channel)) { hash.update(bufferPointer: $0) }
    }

    /// Appends rows.
    package mutating func append(_ rows: borrowing RowBytes) {
        rows.withBytes { hash.update(bufferPointer: $0) }
    }

    /// The digest so far; rows may follow.
    package var value: Digest { Digest(hash.finalize()) }
}

/// Rows in the form in which they are digested; see ``BlockDigest``.
package struct RowBytes: ~Copyable {
    private var bytes: [UInt8] = []
    private var used = 0
    private let rowLength: Int
    private let channelCount: Int

    /// Has no rows yet.
    ///
    /// - Parameters:
    ///   - channelCount: 1 ... 8.
    ///   - capacity: how many rows it holds at most.
    package init(channelCount: Int, capacity: Int) {
        self.channelCount = channelCount
        rowLength = 9 + 4 * channelCount
        bytes = Array(repeating: 0, count: rowLength * capacity)
    }

    /// True where no row fits any more.
    package var isFull: Bool { used + rowLength > bytes.count }

    /// True where there is no row.
    package var isEmpty: Bool { used == 0 }

    /// Appends a row. There must be room.
    ///
    /// - Parameters:
    ///   - values: as many as there are channels; those without a value are not looked at.
    ///   - missing: the channels without a value, bit 0 is channel 1.
    package mutating func append(n: Int64, values: UnsafePointer<Int32>, missing: UInt8) {
        let (begin, channelCount) = (used, channelCount)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: n.littleEndian, toByteOffset: begin, as: Int64.self)
            for channel in 0..<channelCount {
                let value = missing & (1 << UInt8(channel)) == 0 ? values[channel] : 0
                bytes.storeBytes(of: value.littleEndian, toByteOffset: begin + 8 + 4 * channel, as: Int32.self)
            }
            bytes.storeBytes(of: missing, toByteOffset: begin + 8 + 4 * channelCount, as: UInt8.self)
        }
        used += rowLength
    }

    /// Lets all rows go; the memory stays.
    package mutating func removeAll() { used = 0 }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<used])) }
    }
}
