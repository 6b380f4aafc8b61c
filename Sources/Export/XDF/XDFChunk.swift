/// The parts that an XDF file consists of (XDF 1.0, "Chunks").
enum XDFChunk: UInt16 {
    case fileHeader = 1
    case streamHeader = 2
    case samples = 3
    case clockOffset = 4
    case boundary = 5
    case streamFooter = 6

    /// How every file begins.
    static let magic = Array("XDF:".utf8)
    /// What every boundary holds, so that a reader finds its way in a damaged file.
    static let boundaryContent: [UInt8] = [
        0x43, 0xA5, 0x46, 0xDC, 0xCB, 0xF5, 0x41, 0x0F, 0xB3, 0x0E, 0xD5, 0x46, 0x73, 0x83, 0xCB, 0xE4,
    ]
    /// The bytes before a length: lengths take 1, 4 or 8; four hold whatever is written here.
    static let lengthByteCount: UInt8 = 4
    /// The bytes before a time stamp; 0 would mean that there is none.
    static let stampByteCount: UInt8 = 8

    /// True where the number of a stream follows the tag.
    var hasStream: Bool { self != .fileHeader && self != .boundary }

    /// Writes the beginning of a chunk whose content behind the tag takes so many bytes.
    func begin(_ byteCount: Int, of stream: UInt32? = nil, to bytes: BinaryWriter) throws {
        try bytes.append(Self.lengthByteCount)
        try bytes.append(UInt32(byteCount + 2 + (stream == nil ? 0 : 4)))
        try bytes.append(rawValue)
        if let stream { try bytes.append(stream) }
    }
}
