/// Bytes of a table on their way to a file.
final class CSVBuffer {
    /// Emptied into the file when this many bytes wait.
    private static let fullByteCount = 1 << 18
    /// More than any row: forty numbers, times, separators, and an annotation.
    private static let rowByteCount = 4096

    private let memory = UnsafeMutablePointer<UInt8>.allocate(
        capacity: fullByteCount + rowByteCount + DecimalDigits.slack)
    /// Where the next byte goes; a loop may keep it for the length of a row.
    var next: UnsafeMutablePointer<UInt8>
    private let file: PartialFile
    /// The checksum of the bytes that were flushed.
    private(set) var digest = ByteDigest()

    init(file: PartialFile) {
        self.file = file
        next = memory
    }

    deinit { memory.deallocate() }

    /// Ends a row, and empties the buffer if it is nearly full. To be called at least once in ``rowByteCount`` bytes.
    @inline(__always)
    func endRow() throws {
        append(UInt8(ascii: "\n"))
        if next - memory >= Self.fullByteCount { try flush() }
    }

    func flush() throws {
        let bytes = UnsafeRawBufferPointer(start: memory, count: next - memory)
        digest.add(bytes)
        try file.write(bytes)
        next = memory
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        next.pointee = byte
        next += 1
    }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            next.update(from: base, count: bytes.count)
        }
        next += bytes.count
    }

    /// A whole number.
    func append(_ value: Int64) { DecimalDigits.write(value, to: &next) }

    /// A whole number with so many zeros behind a point; without a point for none.
    func append(_ value: Int64, zeros: Int) {
        append(value)
        guard zeros > 0 else { return }
        append(UInt8(ascii: "."))
        for _ in 0..<zeros { append(UInt8(ascii: "0")) }
    }

    /// Nanoseconds as seconds with six decimals, rounded down.
    func appendSeconds(_ nanoseconds: Int64) {
        let seconds = nanoseconds.floorDivided(by: 1_000_000_000)
        append(seconds)
        append(UInt8(ascii: "."))
        appendDigits(UInt64(nanoseconds - seconds * 1_000_000_000) / 1000, width: 6)
    }

    /// Decimal digits, with leading zeros up to a width of at most 8.
    func appendDigits(_ value: UInt64, width: Int) { DecimalDigits.write(value, width: width, to: &next) }
}
