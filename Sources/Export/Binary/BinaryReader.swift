import Glibc

/// Reads back what ``BinaryWriter`` has written.
final class BinaryReader {
    private static let byteCapacity = 1 << 18

    private let file: ReadFile
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCapacity, alignment: 16)
    /// What of ``memory`` was read of the file and not yet given to anybody.
    private var ready = 0..<0
    private var byteCountRead: Int64 = 0
    /// Of all bytes that were read of the file so far.
    private(set) var digest = ByteDigest()

    init(path: String) throws { file = try ReadFile(path: path) }

    deinit { memory.deallocate() }

    /// The fraction of the file that was read.
    var fractionDone: Double { Double(byteCountRead - Int64(ready.count)) / Double(max(1, file.byteCount)) }

    /// True where no byte is left.
    var isAtEnd: Bool {
        get throws {
            if ready.isEmpty { try readMore() }
            return ready.isEmpty
        }
    }

    /// The next number.
    ///
    /// - Throws: `verificationFailed` where the file ends before it.
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws -> Number {
        Number(littleEndian: try rows(of: MemoryLayout<Number>.size, atMost: 1).loadUnaligned(as: Number.self))
    }

    /// The next bytes.
    ///
    /// - Throws: `verificationFailed` where there are not so many.
    func bytes(_ count: Int) throws -> [UInt8] {
        guard count <= file.byteCount else { throw Self.failure(file.path, "a length is beyond the file's end") }
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += try rows(of: 1, atMost: count - bytes.count) }
        return bytes
    }

    /// Some of the next rows of so many bytes each, side by side; at least one. They are there until something else is read.
    ///
    /// - Parameters:
    ///   - byteCount: 1 ... 2^18.
    ///   - limit: how many rows are wanted; at least 1.
    /// - Throws: `verificationFailed` where the file ends before a whole row.
    func rows(of byteCount: Int, atMost limit: Int) throws -> UnsafeRawBufferPointer {
        if ready.count < byteCount { try readMore() }
        let count = min(limit, ready.count / byteCount)
        guard count > 0 else { throw Self.failure(file.path, "it ends too early") }
        let start = ready.lowerBound
        ready = (start + count * byteCount)..<ready.upperBound
        return UnsafeRawBufferPointer(rebasing: memory[start..<ready.lowerBound])
    }

    /// Fills the memory behind what nobody was given yet.
    private func readMore() throws {
        if let base = memory.baseAddress, ready.lowerBound > 0 { memmove(base, base + ready.lowerBound, ready.count) }
        let free = UnsafeMutableRawBufferPointer(rebasing: memory[ready.count...])
        let count = try file.read(into: free)
        digest.add(UnsafeRawBufferPointer(rebasing: free[..<count]))
        byteCountRead += Int64(count)
        ready = 0..<(ready.count + count)
    }

    private static func failure(_ path: String, _ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}
