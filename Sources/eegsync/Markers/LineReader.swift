import Glibc

/// Lines of a file, a pipe or a socket, without their ends.
final class LineReader {
    private let descriptor: Int32
    private let byteMaximum: Int
    private var bytes: [UInt8] = []
    private var hasEnded = false

    /// - Parameter byteMaximum: of a longer line, no more than one byte beyond it is given: enough to refuse it.
    init(descriptor: Int32, byteMaximum: Int) { (self.descriptor, self.byteMaximum) = (descriptor, byteMaximum) }

    /// The next line; nil at the end. An empty line is none.
    func next() -> [UInt8]? {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(bytes[..<min(end, byteMaximum + 1)])
                bytes.removeSubrange(...end)
                if line.contains(where: { !Self.isBlank($0) }) { return line }
                continue
            }
            if hasEnded {
                defer { bytes = [] }
                return bytes.contains { !Self.isBlank($0) } ? bytes : nil
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            hasEnded = count <= 0
            // What nobody will read of a line that is too long is not kept.
            let isTooLong = bytes.count > byteMaximum
            if count > 0 {
                let newline = piece[..<count].firstIndex(of: UInt8(ascii: "\n"))
                bytes += isTooLong ? piece[(newline ?? count)..<count] : piece[..<count]
            }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0D || byte == 0x09 }
}
