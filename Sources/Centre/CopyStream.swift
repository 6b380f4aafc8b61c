/// The bytes of `COPY ... FROM STDIN (FORMAT binary)` (PostgreSQL 15, COPY, Binary Format), while rows are appended.
package struct CopyStream {
    /// The key of the type integer in pg_type.
    private static let integerType: UInt32 = 23

    private var buffer: [UInt8] = Self.head
    private static let head = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)
    /// How many rows there are.
    package private(set) var rowCount = 0

    package init() {}

    /// Begins a row.
    package mutating func beginRow(fieldCount: Int) {
        rowCount += 1
        append(UInt16(fieldCount))
    }

    /// Appends NULL.
    package mutating func appendNull() { append(UInt32.max) }

    /// Appends an integer of 4 bytes.
    package mutating func append(integer: Int32) {
        append(UInt32(4))
        append(UInt32(bitPattern: integer))
    }

    /// Appends an integer of 8 bytes.
    package mutating func append(bigint: Int64) {
        append(UInt32(8))
        let bits = UInt64(bitPattern: bigint)
        append(UInt32(truncatingIfNeeded: bits >> 32))
        append(UInt32(truncatingIfNeeded: bits))
    }

    /// Appends a UUID; NULL for a text that is none.
    package mutating func append(uuid: String) {
        let digits = uuid.compactMap(\.hexDigitValue)
        guard digits.count == 32 else { return appendNull() }
        append(UInt32(16))
        for index in 0..<16 { buffer.append(UInt8(digits[2 * index] << 4 | digits[2 * index + 1])) }
    }

    /// Appends an array of integers, of which some may be NULL.
    package mutating func append(integers: some Collection<Int32?>) {
        let size = integers.reduce(20) { $0 + ($1 == nil ? 4 : 8) }
        append(UInt32(size))
        append(UInt32(1))
        append(UInt32(integers.contains { $0 == nil } ? 1 : 0))
        append(Self.integerType)
        append(UInt32(integers.count))
        append(UInt32(1))
        for integer in integers {
            guard let integer else {
                appendNull()
                continue
            }
            append(integer: integer)
        }
    }

    /// All bytes, the end included.
    package var bytes: [UInt8] { buffer + [0xFF, 0xFF] }

    /// The fields of each row, as parameters of a statement have them in binary form, too; nil for NULL.
    package var rows: [[[UInt8]?]] {
        var offset = Self.head.count
        func number(_ size: Int) -> Int {
            defer { offset += size }
            return buffer[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
        }
        return (0..<rowCount).map { _ in
            (0..<number(2)).map { _ in
                let size = number(4)
                if size == UInt32.max { return nil }
                defer { offset += size }
                return Array(buffer[offset..<offset + size])
            }
        }
    }

    /// How many bytes there are so far.
    package var byteCount: Int { buffer.count }

    private mutating func append(_ value: UInt16) {
        buffer.append(UInt8(value >> 8))
        buffer.append(UInt8(value & 0xFF))
    }

    private mutating func append(_ value: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { buffer.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
