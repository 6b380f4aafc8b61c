/// A checksum of bytes in their order, eight at a time.
struct ByteDigest: Hashable, Sendable {
    private var words = SampleDigest()
    /// Bytes that are no whole word yet, the first lowest.
    private var rest: UInt64 = 0
    private(set) var byteCount = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, byteCount & 7 != 0 {
            add(bytes[index])
            index += 1
        }
        while index + 8 <= bytes.count {
            words.add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            index += 8
            byteCount += 8
        }
        while index < bytes.count {
            add(bytes[index])
            index += 1
        }
    }

    mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { add($0) }
    }

    private mutating func add(_ byte: UInt8) {
        rest |= UInt64(byte) << UInt64(byteCount & 7 * 8)
        byteCount += 1
        guard byteCount & 7 == 0 else { return }
        words.add(rest)
        rest = 0
    }
}
