/// Takes little-endian fields from the front of bytes, whose lengths may lie.
struct LittleEndianReader {
    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    /// Reads `bytes[position ..< end]`; an `end` beyond the bytes counts as their count.
    init(_ bytes: [UInt8], from position: Int = 0, to end: Int = .max) {
        self.bytes = bytes
        self.end = min(end, bytes.count)
        self.position = position
    }

    var remaining: Int { max(0, end - position) }

    /// The next fixed-width integer.
    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(BufferedEEGError) -> Value {
        let width = Value.bitWidth / 8
        guard remaining >= width else { throw .truncated }
        var value: Value = 0
        for offset in (0..<width).reversed() {
            value = value << 8 | Value(truncatingIfNeeded: bytes[position + offset])
        }
        position += width
        return value
    }

    /// The next byte as a number, 0 ... 255.
    mutating func byte() throws(BufferedEEGError) -> Int { Int(try integer(UInt8.self)) }

    /// The next IEEE 754 binary64, which may be no number.
    mutating func double() throws(BufferedEEGError) -> Double { Double(bitPattern: try integer()) }

    /// The next text: length byte, then 1 ... `maximum` printable ASCII characters.
    mutating func text(_ field: String, maximum: Int) throws(BufferedEEGError) -> String {
        let length = try byte()
        guard remaining >= length else { throw .truncated }
        let characters = bytes[position..<position + length]
        guard (1...maximum).contains(length), characters.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalidField(field)
        }
        position += length
        return String(decoding: characters, as: UTF8.self)
    }

    /// Ends the message: nothing may be left.
    func finish() throws(BufferedEEGError) {
        guard remaining == 0 else { throw .trailingBytes(count: remaining) }
    }
}

extension [UInt8] {
    /// Appends an integer, least significant byte first.
    mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends a length byte and at most `maximum` bytes of the text.
    mutating func append(text: String, maximum: Int) {
        let characters = text.utf8.prefix(maximum)
        append(UInt8(clamping: characters.count))
        append(contentsOf: characters)
    }
}
