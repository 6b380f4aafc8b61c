/// The bytes of a file, which are read as they are needed: only a part of them is in memory.
package struct CaptureBytes: Sendable {
    /// How many there are.
    package let count: Int
    private let read: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]

    /// - Parameters:
    ///   - count: how many there are.
    ///   - read: gives up to so many bytes from an offset on; none where they cannot be read.
    package init(count: Int, read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]) {
        self.count = count
        self.read = read
    }

    /// Bytes that are in memory already.
    package init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { offset, count in
            Array(bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
        }
    }

    /// The first bytes, at most so many.
    package func prefix(_ count: Int) -> [UInt8] { read(0, min(count, self.count)) }

    /// Up to so many bytes from an offset on.
    func bytes(from offset: Int, count: Int) -> [UInt8] {
        offset < self.count ? read(offset, min(count, self.count - offset)) : []
    }
}

/// Goes through the bytes of a file from the first to the last.
struct ByteCursor {
    private let source: CaptureBytes
    private var chunk: [UInt8] = []
    private var position = 0
    private var chunkEnd = 0

    /// Large enough that reading costs little.
    private static let chunkLength = 1 << 18

    init(_ source: CaptureBytes, skipping count: Int = 0) {
        self.source = source
        chunkEnd = count
    }

    /// Where the next byte stands in the file.
    var offset: Int { chunkEnd - (chunk.count - position) }

    /// How many bytes of the file are left.
    var remaining: Int { source.count - offset }

    /// The next bytes; nil where there are not so many.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        while chunk.count - position < count {
            guard fill() else { return nil }
        }
        defer { position += count }
        return chunk[position..<position + count]
    }

    /// The next line, without what ends it; nil at the end of the file. A longer one than `limit` comes in parts.
    mutating func line(limit: Int) -> ArraySlice<UInt8>? {
        var searched = position
        while true {
            if let end = chunk[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Self.line(chunk[position..<end])
            }
            let count = chunk.count - position
            if count >= limit { return take(limit) }
            guard fill() else {
                guard count > 0 else { return nil }
                defer { position = chunk.count }
                return Self.line(chunk[position...])
            }
            searched = position + count
        }
    }

    private static func line(_ row: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        row.last == UInt8(ascii: "\r") ? row.dropLast() : row
    }

    /// Reads more; false at the end.
    private mutating func fill() -> Bool {
        let more = source.bytes(from: chunkEnd, count: Self.chunkLength)
        guard !more.isEmpty else { return false }
        chunk.removeFirst(position)
        position = 0
        chunk += more
        chunkEnd += more.count
        return true
    }
}
