import Bluetooth

/// Takes the fields of the Buffered EEG Service's messages.
typealias BufferedEEGReader = ByteReader<BufferedEEGError>

extension ByteReader<BufferedEEGError> {
    /// Reads from an offset on.
    init(_ bytes: [UInt8], from position: Int) { self.init(bytes, from: position, truncated: .truncated) }

    /// The next byte as a number, 0 ... 255.
    mutating func byte() throws(BufferedEEGError) -> Int { Int(try integer(UInt8.self)) }

    /// The next IEEE 754 binary64, which may be no number.
    mutating func double() throws(BufferedEEGError) -> Double { Double(bitPattern: try integer()) }

    /// The next text: length byte, then 1 ... `maximum` printable ASCII characters.
    mutating func text(_ field: String, maximum: Int) throws(BufferedEEGError) -> String {
        let length = try byte()
        let characters = try slice(length)
        guard (1...maximum).contains(length), characters.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalidField(field)
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Ends the message: nothing may be left.
    func finish() throws(BufferedEEGError) {
        guard remaining == 0 else { throw .trailingBytes(count: remaining) }
    }
}

extension [UInt8] {
    /// Appends a length byte and at most `maximum` bytes of the text.
    mutating func append(text: String, maximum: Int) {
        let characters = text.utf8.prefix(maximum)
        append(UInt8(clamping: characters.count))
        append(contentsOf: characters)
    }
}
