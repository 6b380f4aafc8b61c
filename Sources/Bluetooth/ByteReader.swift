/// Takes fields from the front of bytes that came from outside, whose lengths may lie: nothing is read beyond their end.
///
/// Each boundary has its own error for bytes that end too early, and adds its own fields in an extension.
public struct ByteReader<Failure: Error> {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let end: Int
    @usableFromInline var next: Int
    /// What is thrown where the bytes end before a field does.
    public let truncated: Failure

    /// Reads `bytes[position ..< end]`; bounds beyond the bytes count as theirs.
    @inlinable
    public init(_ bytes: [UInt8], from position: Int = 0, to end: Int = .max, truncated: Failure) {
        self.bytes = bytes
        self.end = max(0, min(end, bytes.count))
        next = max(0, min(position, self.end))
        self.truncated = truncated
    }

    /// Where the next byte stands.
    @inlinable public var position: Int { next }

    /// How many bytes are left.
    @inlinable public var remaining: Int { end - next }

    /// The next `count` bytes.
    @inlinable
    public mutating func slice(_ count: Int) throws(Failure) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw truncated }
        defer { next += count }
        return bytes[next..<next + count]
    }

    /// The next `count` bytes as an array of their own.
    @inlinable public mutating func bytes(_ count: Int) throws(Failure) -> [UInt8] { Array(try slice(count)) }

    /// All bytes that are left.
    @inlinable
    public mutating func rest() -> [UInt8] {
        defer { next = end }
        return Array(bytes[next..<end])
    }

    /// The next integer, least significant byte first.
    @inlinable
    public mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(Failure) -> Value {
        let width = Value.bitWidth / 8
        guard remaining >= width else { throw truncated }
        var value: Value = 0
        for offset in stride(from: next + width - 1, through: next, by: -1) {
            value = value << 8 | Value(truncatingIfNeeded: bytes[offset])
        }
        next += width
        return value
    }

    /// The next integer, most significant byte first.
    @inlinable
    public mutating func integer<Value: FixedWidthInteger>(bigEndian type: Value.Type) throws(Failure) -> Value {
        try integer(type).byteSwapped
    }
}

extension ByteReader: Sendable where Failure: Sendable {}

extension ArraySlice<UInt8> {
    /// The number that these bytes are, most significant byte first; 0 of none, the last eight of more.
    public var bigEndianInteger: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    /// The number that these bytes are, least significant byte first; 0 of none, the first eight of more.
    public var littleEndianInteger: UInt64 { reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

extension [UInt8] {
    /// The number of 16 bits at an offset, least significant byte first; bytes beyond the end count as 0.
    public func uint16(littleEndianAt offset: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: dropFirst(offset).prefix(2).littleEndianInteger)
    }

    /// The bytes of an integer, least significant byte first.
    @inlinable public init(littleEndian value: some FixedWidthInteger) {
        self = []
        append(littleEndian: value)
    }

    /// Appends an integer, least significant byte first.
    @inlinable public mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends an integer, most significant byte first.
    @inlinable public mutating func append(bigEndian value: some FixedWidthInteger) { append(littleEndian: value.byteSwapped) }

    /// Appends the lowest 24 bits of a number, most significant byte first.
    @inlinable public mutating func append(bigEndianInt24 value: Int32) {
        for shift in [16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}
