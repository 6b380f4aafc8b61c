/// A file in the form of gzip (RFC 1952), which BIDS asks of physiological recordings. Its blocks are stored, not compressed
/// (RFC 1951, 3.2.4): every program reads them, no library is needed, and nothing is smaller for it.
struct GzipFile {
    /// Magic, method 8 (deflate), no flags, no time, no extra flags, made on Unix.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    /// The most bytes of a stored block.
    private static let blockByteCount = 65_535

    /// The CRC-32 of a byte's value (RFC 1952, 8).
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// Packs a file into another one. Returns the checksum of the packed bytes.
    static func pack(_ source: String, into file: PartialFile) throws -> ByteDigest {
        var digest = ByteDigest()
        func write(_ bytes: [UInt8]) throws {
            digest.add(bytes)
            try file.write(bytes)
        }
        let input = try ReadFile(path: source)
        try write(header)
        var crc = UInt32.max
        var left = input.byteCount
        repeat {
            let block = try input.read(atMost: blockByteCount)
            guard block.count == min(blockByteCount, Int(left)) else {
                throw ExportError.verificationFailed(path: source, detail: "it is shorter than it was")
            }
            left -= Int64(block.count)
            for byte in block { crc = table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8) }
            let length = UInt16(block.count)
            // The first bit says that it is the last block; the next two, 0, that it is stored.
            try write([left == 0 ? 1 : 0] + littleEndian(length) + littleEndian(~length) + block)
        } while left > 0
        try write(littleEndian(crc ^ .max) + littleEndian(UInt32(truncatingIfNeeded: input.byteCount)))
        return digest
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
