/// Reads a table of ``DialectWriter`` back: the numbers that stand for raw values, and every byte.
struct DialectReader {
    let path: String
    let table: DialectTable

    /// The header's lines, the checksum of the raw values of all rows, and that of the bytes.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where a row is not as it must be.
    func digest(progress: (Double) -> Void) throws -> (header: [String], values: SampleDigest, bytes: SampleDigest) {
        let lines = TextLines(file: try ReadFile(path: path))
        var values = SampleDigest()
        var header: [String] = []
        let numbers = table.columns.map(\.number)
        let last = numbers.lastIndex { $0 != nil } ?? -1
        let separator = table.separator.utf8.first ?? UInt8(ascii: ",")
        let isSpaced = table.separator.utf8.count > 1
        try lines.forEach(progress: progress) { line in
            if header.count < table.header.count {
                header.append(String(decoding: line, as: UTF8.self))
                return
            }
            var position = 0
            for column in 0...max(0, last) {
                if column > 0 {
                    guard position < line.count, line[position] == separator else { throw failure("a row lacks a column") }
                    position += isSpaced ? 2 : 1
                }
                let start = position
                while position < line.count, line[position] != separator { position += 1 }
                if let number = numbers[column] {
                    values.add(UInt64(bitPattern: try raw(line[min(start, position)..<position], number)))
                }
            }
        }
        return (header, values, lines.digest)
    }

    /// The raw value of a cell.
    private func raw(_ cell: Slice<UnsafeBufferPointer<UInt8>>, _ number: CSVNumber) throws -> Int64 {
        if case .text(let word) = table.missing, cell.elementsEqual(word.utf8) { return CSVReader.missing }
        if table.unknown.isEmpty, cell.isEmpty { return CSVReader.missing }
        var (mantissa, decimals, hasPoint): (Int64, Int, Bool) = (0, 0, false)
        let isNegative = cell.first == UInt8(ascii: "-")
        for byte in isNegative ? cell.dropFirst() : cell {
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            let digit = Int64(byte) - 0x30
            let (next, overflow) = mantissa.multipliedReportingOverflow(by: 10)
            guard (0...9).contains(digit), !overflow else { throw failure("a cell is not a number") }
            mantissa = next + digit
            if hasPoint { decimals += 1 }
        }
        guard !cell.isEmpty else { throw failure("a cell is empty") }
        return number.raw(mantissa: isNegative ? -mantissa : mantissa, decimals: decimals)
    }

    private func failure(_ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}

/// The lines of a file, in constant memory.
final class TextLines {
    private let file: ReadFile
    /// Of all bytes that were read.
    private(set) var digest = SampleDigest()

    init(file: ReadFile) { self.file = file }

    /// Calls `body` with each line, without its end.
    ///
    /// - Throws: `verificationFailed` where the file does not end with a whole line, and what `body` throws.
    func forEach(progress: (Double) -> Void, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        var rest: [UInt8] = []
        var done: Int64 = 0
        while true {
            let read = try file.read(atMost: 1 << 18)
            if read.isEmpty { break }
            done += Int64(read.count)
            for byte in read { digest.add(UInt64(byte)) }
            rest += read
            var start = 0
            try rest.withUnsafeBufferPointer { bytes in
                while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                    try body(UnsafeBufferPointer(rebasing: bytes[start..<end]))
                    start = end + 1
                }
            }
            rest.removeFirst(start)
            progress(Double(done) / Double(max(1, file.byteCount)))
        }
        guard rest.isEmpty else {
            throw ExportError.verificationFailed(path: file.path, detail: "it does not end with a whole row")
        }
    }
}
