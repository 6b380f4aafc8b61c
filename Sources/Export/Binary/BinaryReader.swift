/// Reads back what ``BinaryWriter`` has written.
final class BinaryReader {
    private static let byteCapacity = 1 << 18

    private let file: ReadFile
    private var piece: [UInt8] = []
    private var position = 0
    private var byteCountBefore: Int64 = 0
    /// Of all bytes that were read of the file so far.
    private(set) var digest = ByteDigest()

    init(path: String) throws { file = try ReadFile(path: path) }

    /// The fraction of the file that was read.
    var fractionDone: Double { Double(byteCountBefore) / Double(max(1, file.byteCount)) }

    /// True where no byte is left.
    var isAtEnd: Bool {
        get throws {
            if position == piece.count { try readPiece() }
            return piece.isEmpty
        }
    }

    /// The next number.
    ///
    /// - Throws: `verificationFailed` where the file ends before it.
    @inline(__always)
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws -> Number {
        let size = MemoryLayout<Number>.size
        if position + size <= piece.count {
            defer { position += size }
            return piece.withUnsafeBytes {
                Number(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Number.self))
            }
        }
        let bytes = try bytes(size)
        return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// The next bytes.
    ///
    /// - Throws: `verificationFailed` where there are not so many.
    func bytes(_ count: Int) throws -> [UInt8] {
        guard count <= file.byteCount else { throw Self.failure(file.path, "a length is beyond the file's end") }
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard try !isAtEnd else { throw Self.failure(file.path, "it ends too early") }
            let taken = min(count - bytes.count, piece.count - position)
            bytes += piece[position..<(position + taken)]
            position += taken
        }
        return bytes
    }

    private func readPiece() throws {
        byteCountBefore += Int64(piece.count)
        piece = try file.read(atMost: Self.byteCapacity)
        digest.add(piece)
        position = 0
    }

    private static func failure(_ path: String, _ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}
