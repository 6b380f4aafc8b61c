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

    @inline(__always)
    func append<Number: FixedWidthInteger>(_ number: Number) throws {
        if count + MemoryLayout<Number>.size > Self.byteCapacity { try flush() }
        memory.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    @inline(__always)
    func append(_ number: Double) throws { try append(number.bitPattern) }

    @inline(__always)
    func append(_ number: Float) throws { try append(number.bitPattern) }

    func append(_ bytes: [UInt8]) throws {
        for byte in bytes { try append(byte) }
    }

    func flush() throws {
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<count])
        digest.add(bytes)
        try file.write(bytes)
        count = 0
    }
}
