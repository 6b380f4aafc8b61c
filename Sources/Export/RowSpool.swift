import Glibc
import Storage

/// A stream's rows as they came out of the database, in a file without a name.
///
/// Stepping through rows is what an export costs most; the same rows as bare integers are read in a tenth of that. So an
/// export that must see all rows before it can write the first one keeps them here meanwhile. Memory holds one block, whatever
/// the length.
final class RowSpool {
    /// Stands before the rows of a block, which lie column by column: n, values, missing channels.
    private struct Header {
        var lastN: Int64
        var rowCount: Int64
        /// Of the rows: what the finished export is compared with must be what the database had.
        var rows: SampleDigest
        /// Of the fields above.
        var fields = SampleDigest()

        init(lastN: Int64, rowCount: Int, rows: SampleDigest) {
            (self.lastN, self.rowCount, self.rows) = (lastN, Int64(rowCount), rows)
            fields = expectedFields
        }

        var expectedFields: SampleDigest {
            var digest = rows
            digest.add(UInt64(bitPattern: lastN))
            digest.add(UInt64(bitPattern: rowCount))
            return digest
        }
    }

    /// The path of the export, for messages.
    private let path: String
    private let channelCount: Int
    private var descriptor: Int32
    private var blockCount = 0
    /// The block that is being written or read.
    private let memory: UnsafeMutableRawBufferPointer
    /// The block that was read last, and which one it is.
    private var chunk = SampleChunk()
    private var loaded: Int?

    /// A spool on the disk that an export is written to; nil where no file can be created there.
    ///
    /// - Parameter rowsPerBlock: The rows of each appended chunk; only the last one may have fewer.
    init?(beside path: String, channelCount: Int, rowsPerBlock: Int) {
        let (directory, name) = PartialFile.split(path)
        let opened = try? TemporaryNames.whileOneIsThere("\(directory)/.\(name).\(getpid()).rows") { temporaryPath in
            unlink(temporaryPath)
            let file = open(temporaryPath, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
            // Without a name it ends with this process, however that ends.
            if file >= 0 { unlink(temporaryPath) }
            return file
        }
        guard let opened, opened >= 0 else { return nil }
        descriptor = opened
        self.path = path
        self.channelCount = channelCount
        memory = .allocate(byteCount: MemoryLayout<Header>.size + rowsPerBlock * Self.bytesPerRow(channelCount), alignment: 16)
    }

    deinit {
        close(descriptor)
        memory.deallocate()
    }

    /// Appends rows, whose n's are greater than those before.
    ///
    /// - Returns: False where they could not be written, such as on a full disk; the spool is of no use then.
    func append(_ rows: borrowing SampleChunk) -> Bool {
        guard let last = rows.n.last else { return true }
        let parts = parts(rows.n.count)
        rows.n.withUnsafeBytes { parts.n.copyMemory(from: $0) }
        rows.values.withUnsafeBytes { parts.values.copyMemory(from: $0) }
        rows.missingChannels.withUnsafeBytes { parts.missing.copyMemory(from: $0) }
        let header = Header(lastN: last, rowCount: rows.n.count, rows: Self.digest(of: parts.all))
        memory.storeBytes(of: header, as: Header.self)
        defer { blockCount += 1 }
        return transfer(MemoryLayout<Header>.size + parts.all.count, ofBlock: blockCount) { pwrite(descriptor, $0, $1, $2) }
    }

    /// Reads rows as `RecordingReader` does.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where the disk does not give back what it was given, or what `body`
    ///   throws.
    func forEachChunk(in range: ClosedRange<Int64>, _ body: (borrowing SampleChunk) throws -> Void) throws {
        for block in try firstBlock(reaching: range.lowerBound)..<blockCount {
            try load(block)
            // n ascends, so what is not wanted stands at the ends.
            let low = chunk.n.firstIndex { $0 >= range.lowerBound } ?? chunk.n.endIndex
            let high = chunk.n.lastIndex { $0 <= range.upperBound }.map { $0 + 1 } ?? chunk.n.startIndex
            guard low < high else { return }
            if high - low == chunk.n.count {
                try body(chunk)
            } else {
                var part = SampleChunk()
                part.n = Array(chunk.n[low..<high])
                part.values = Array(chunk.values[(low * channelCount)..<(high * channelCount)])
                part.missingChannels = Array(chunk.missingChannels[low..<high])
                try body(part)
            }
            if high < chunk.n.count { return }
        }
    }

    /// Reads from and writes to another descriptor from now on; tests give it a full device, or damaged rows.
    func replaceDescriptor(_ replacement: (_ old: Int32) -> Int32) {
        let old = descriptor
        descriptor = replacement(old)
        if descriptor != old { close(old) }
    }

    /// The first block that holds an n of at least `n`; the number of blocks where none does.
    private func firstBlock(reaching n: Int64) throws -> Int {
        var (low, high) = (0, blockCount)
        while low < high {
            let middle = (low + high) / 2
            if try header(ofBlock: middle).lastN < n { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func header(ofBlock block: Int) throws -> Header {
        guard transfer(MemoryLayout<Header>.size, ofBlock: block, { pread(descriptor, $0, $1, $2) }) else { throw damaged }
        let header = memory.load(as: Header.self)
        guard header.fields == header.expectedFields, header.rowCount > 0, header.rowCount <= rowLimit else { throw damaged }
        return header
    }

    private func load(_ block: Int) throws {
        guard loaded != block else { return }
        loaded = nil
        let header = try header(ofBlock: block)
        let parts = parts(Int(header.rowCount))
        let byteCount = MemoryLayout<Header>.size + parts.all.count
        guard transfer(byteCount, ofBlock: block, { pread(descriptor, $0, $1, $2) }), Self.digest(of: parts.all) == header.rows
        else { throw damaged }
        chunk.n = Array(parts.n.bindMemory(to: Int64.self))
        chunk.values = Array(parts.values.bindMemory(to: Int32.self))
        chunk.missingChannels = Array(parts.missing)
        loaded = block
    }

    private var rowLimit: Int64 {
        Int64((memory.count - MemoryLayout<Header>.size) / Self.bytesPerRow(channelCount))
    }

    private var damaged: ExportError {
        .verificationFailed(path: path, detail: "the temporary copy of the rows beside it cannot be read back")
    }

    private static func bytesPerRow(_ channelCount: Int) -> Int { 8 + 4 * channelCount + 1 }

    private typealias Part = UnsafeMutableRawBufferPointer

    /// Where the columns of a block lie in ``memory``.
    private func parts(_ rowCount: Int) -> (all: Part, n: Part, values: Part, missing: Part) {
        let all = Part(rebasing: memory[MemoryLayout<Header>.size...].prefix(rowCount * Self.bytesPerRow(channelCount)))
        let values = all[(8 * rowCount)...]
        let missing = values[(values.startIndex + 4 * rowCount * channelCount)...]
        return (
            all, Part(rebasing: all[..<(8 * rowCount)]), Part(rebasing: values[..<missing.startIndex]), Part(rebasing: missing)
        )
    }

    /// Reads or writes the beginning of a block.
    private func transfer(
        _ byteCount: Int, ofBlock block: Int, _ call: (UnsafeMutableRawPointer, Int, off_t) -> Int
    ) -> Bool {
        guard let base = memory.baseAddress else { return false }
        var done = 0
        while done < byteCount {
            let count = call(base + done, byteCount - done, block * memory.count + done)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private static func digest(of bytes: Part) -> SampleDigest {
        var digest = SampleDigest()
        for offset in stride(from: 0, through: bytes.count - 8, by: 8) {
            digest.add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        for byte in bytes[(bytes.count / 8 * 8)...] { digest.add(UInt64(byte)) }
        return digest
    }
}
