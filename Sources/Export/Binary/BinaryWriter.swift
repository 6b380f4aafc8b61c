/// Numbers and bytes on their way to a file, little endian, with a checksum of all of them.
final class BinaryWriter {
    private static let byteCapacity = 1 << 18

    private let file: PartialFile
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCapacity, alignment: 16)
    private var count = 0
    /// Of the bytes that were flushed.
    private(set) var digest = ByteDigest()

    init(_ file: PartialFile) { self.file = file }

    deinit { memory.deallocate() }

    func append<Number: FixedWidthInteger>(_ number: Number) throws {
        try append(rows: 1, of: MemoryLayout<Number>.size) { rows, _ in
            rows.storeBytes(of: number.littleEndian, as: Number.self)
        }
    }

    func append(_ number: Double) throws { try append(number.bitPattern) }

    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            try append(rows: bytes.count, of: 1) { rows, range in
                rows.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
    }

    /// Appends rows of so many bytes each.
    ///
    /// - Parameters:
    ///   - byteCount: 1 ... 2^18.
    ///   - fill: writes all bytes of some of the rows, which lie side by side; called until all were written, in their order.
    @inline(__always)
    func append(
        rows rowCount: Int, of byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer, Range<Int>) throws -> Void
    ) throws {
        var row = 0
        while row < rowCount {
            if count + byteCount > Self.byteCapacity { try flush() }
            let end = min(rowCount, row + (Self.byteCapacity - count) / byteCount)
            let size = (end - row) * byteCount
            try fill(UnsafeMutableRawBufferPointer(rebasing: memory[count..<(count + size)]), row..<end)
            count += size
            row = end
        }
    }

    func flush() throws {
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<count])
        digest.add(bytes)
        try file.write(bytes)
        count = 0
    }
}
