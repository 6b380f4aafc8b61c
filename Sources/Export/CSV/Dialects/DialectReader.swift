/// Reads a table of ``DialectWriter`` back: the numbers that stand for raw values, and every byte.
struct DialectReader {
    let path: String
    let table: DialectTable

    /// The header's lines, the checksum of the raw values of all rows, and that of the bytes.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where a row is not as it must be.
    func digest(progress: (Double) -> Void) throws -> (header: [String], values: SampleDigest, bytes: ByteDigest) {
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
