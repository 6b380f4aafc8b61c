/// What a decoder has not read yet of a stream of bytes that comes in pieces, cut anywhere.
///
/// A decoder takes what it understands with ``consume(_:)`` and steps over what it does not with ``skip()``; the memory stays
/// the same while it keeps up.
struct ByteStream: Sendable {
    private var bytes: [UInt8] = []
    /// The first byte that was not read yet.
    private var start = 0
    private var skippedByteCount = 0
    /// True where the byte before the next one belonged to something valid, or where nothing has come yet.
    private(set) var isAligned = true

    /// How many bytes are there to be read.
    var count: Int { bytes.count - start }

    /// A byte, from the next one on; the index must be below ``count``.
    subscript(offset: Int) -> UInt8 { bytes[start + offset] }

    /// Adds the next piece.
    mutating func append(_ piece: [UInt8]) {
        bytes.removeFirst(start)
        start = 0
        bytes.append(contentsOf: piece)
    }

    /// Goes behind bytes that were understood.
    mutating func consume(_ byteCount: Int) {
        start += min(byteCount, count)
        isAligned = true
    }

    /// Goes behind a byte that belongs to nothing valid.
    mutating func skip() {
        guard count > 0 else { return }
        start += 1
        skippedByteCount += 1
        isAligned = false
    }

    /// Goes behind a byte whose meaning only later ones show: it counts neither as understood nor as skipped.
    mutating func pass() {
        if count > 0 { start += 1 }
    }

    /// Bytes that were passed have turned out to belong to nothing valid.
    mutating func skipPassed(_ byteCount: Int) {
        skippedByteCount += byteCount
        isAligned = false
    }

    /// True where the last bytes that have come are these.
    func ends(with suffix: String.UTF8View) -> Bool { bytes[start...].suffix(suffix.count).elementsEqual(suffix) }

    /// How many bytes were skipped since the last call.
    mutating func takeSkipped() -> Int {
        defer { skippedByteCount = 0 }
        return skippedByteCount
    }

    /// The big-endian two's complement of 24 bits at an offset.
    func int24(bigEndianAt offset: Int) -> Int32 {
        let bits = UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
        return Int32(bitPattern: bits) >> 8
    }

    /// The little-endian two's complement of 24 bits at an offset.
    func int24(littleEndianAt offset: Int) -> Int32 {
        let bits = UInt32(self[offset + 2]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset]) << 8
        return Int32(bitPattern: bits) >> 8
    }

    /// The little-endian two's complement of 16 bits at an offset.
    func int16(littleEndianAt offset: Int) -> Int32 {
        Int32(Int16(bitPattern: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8))
    }

    /// The big-endian two's complement of 16 bits at an offset.
    func int16(bigEndianAt offset: Int) -> Int32 {
        Int32(Int16(bitPattern: UInt16(self[offset]) << 8 | UInt16(self[offset + 1])))
    }

    /// The big-endian number of 32 bits at an offset.
    func uint32(bigEndianAt offset: Int) -> UInt32 {
        uint32(littleEndianAt: offset).byteSwapped
    }

    /// The little-endian number of 32 bits at an offset.
    func uint32(littleEndianAt offset: Int) -> UInt32 {
        UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24
    }
}
