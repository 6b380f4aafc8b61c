import Glibc

/// The lines of a file, in constant memory.
final class TextLines {
    private static let capacity = 1 << 18

    private let file: ReadFile
    /// Of all bytes that were read.
    private(set) var digest = ByteDigest()

    init(file: ReadFile) { self.file = file }

    /// Calls `body` with whole lines, one behind the other; the last byte of each piece ends a line.
    ///
    /// - Throws: `verificationFailed` where the file does not end with a whole line, or a line is longer than any that is
    ///   written, and what `body` throws.
    func forEachPiece(progress: (Double) -> Void, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        // Digits are read some at a time, also behind the last one.
        let all = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.capacity + DecimalDigits.slack, alignment: 8)
        defer { all.deallocate() }
        all.initializeMemory(as: UInt8.self, repeating: 0)
        let memory = UnsafeMutableRawBufferPointer(rebasing: all[..<Self.capacity])
        // Bytes of a line whose end was not read yet lie in front.
        var rest = 0
        var done: Int64 = 0
        while true {
            let free = UnsafeMutableRawBufferPointer(rebasing: memory[rest...])
            guard !free.isEmpty else { throw failure("a row does not end") }
            let count = try file.read(into: free)
            if count == 0 { break }
            done += Int64(count)
            digest.add(UnsafeRawBufferPointer(rebasing: free[..<count]))
            let end = rest + count
            let lines = memory.bindMemory(to: UInt8.self)
            var length = end
            while length > 0, lines[length - 1] != UInt8(ascii: "\n") { length -= 1 }
            if length > 0 { try body(UnsafeBufferPointer(rebasing: lines[..<length])) }
            rest = end - length
            if let base = memory.baseAddress, length > 0, rest > 0 { memmove(base, base + length, rest) }
            progress(Double(done) / Double(max(1, file.byteCount)))
        }
        guard rest == 0 else { throw failure("it does not end with a whole row") }
    }

    /// Calls `body` with each line, without its end.
    func forEach(progress: (Double) -> Void, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        try forEachPiece(progress: progress) { piece in
            var start = 0
            while start < piece.count, let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
                try body(UnsafeBufferPointer(rebasing: piece[start..<end]))
                start = end + 1
            }
        }
    }

    private func failure(_ detail: String) -> ExportError { .verificationFailed(path: file.path, detail: detail) }
}
