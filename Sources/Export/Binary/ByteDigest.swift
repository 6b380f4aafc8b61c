/// A checksum of bytes in their order, eight at a time; each fourth word goes into the same one of four checksums, so that none
/// waits for the multiplication of the word before.
struct ByteDigest: Hashable, Sendable {
    private var first = SampleDigest()
    private var second = SampleDigest()
    private var third = SampleDigest()
    private var fourth = SampleDigest()
    /// Bytes that are no whole word yet, the first lowest.
    private var rest: UInt64 = 0
    private(set) var byteCount = 0

    private static let blockByteCount = 32

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, byteCount % Self.blockByteCount != 0 {
            add(bytes[index])
            index += 1
        }
        let begin = index
        while index + Self.blockByteCount <= bytes.count {
            first.add(Self.word(bytes, index))
            second.add(Self.word(bytes, index + 8))
            third.add(Self.word(bytes, index + 16))
            fourth.add(Self.word(bytes, index + 24))
            index += Self.blockByteCount
        }
        byteCount += index - begin
        while index < bytes.count {
            add(bytes[index])
            index += 1
        }
    }

    mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { add($0) }
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    private mutating func add(_ byte: UInt8) {
        rest |= UInt64(byte) << UInt64(byteCount & 7 * 8)
        byteCount += 1
        guard byteCount & 7 == 0 else { return }
        switch byteCount / 8 % 4 {
        case 1: first.add(rest)
        case 2: second.add(rest)
        case 3: third.add(rest)
        default: fourth.add(rest)
        }
        rest = 0
    }
}
