/// Reads a table of ``CSVWriter`` back.
struct CSVReader {
    /// What an empty cell counts as in the checksum: no raw value is as low.
    static let missing = Int64.min

    let path: String
    let numbers: [CSVNumber]

    /// The header row, the checksum of the n's and raw values of all rows, and that of the bytes.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where a row is not as it must be.
    func digest(progress: (Double) -> Void = { _ in }) throws -> (header: String, values: SampleDigest, bytes: ByteDigest) {
        let lines = TextLines(file: try ReadFile(path: path))
        var digest = SampleDigest()
        var header: String?
        try numbers.withUnsafeBufferPointer { numbers in
            try lines.forEachPiece(progress: progress) { piece in
                var start = 0
                if header == nil, let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
                    header = String(decoding: piece[..<end], as: UTF8.self)
                    start = end + 1
                }
                try add(piece, from: start, numbers, to: &digest)
            }
        }
        guard let header else { throw failure("it is empty") }
        return (header, digest, lines.digest)
    }

    /// Adds the rows of a piece, whose last byte ends a row: no cell goes on behind it.
    private func add(
        _ piece: UnsafeBufferPointer<UInt8>, from start: Int, _ numbers: UnsafeBufferPointer<CSVNumber>,
        to digest: inout SampleDigest
    ) throws {
        guard var cell = piece.baseAddress.map({ $0 + start }) else { return }
        let end = cell + (piece.count - start)
        var sum = digest
        try CSVNumber.powers.withUnsafeBufferPointer { powers in
            while cell < end {
                sum.add(UInt64(bitPattern: try whole(&cell)))
                try pass(UInt8(ascii: ","), &cell)
                // The time is no number; the sidecar holds the time map.
                while cell.pointee != UInt8(ascii: ","), cell.pointee != UInt8(ascii: "\n") { cell += 1 }
                for number in numbers {
                    try pass(UInt8(ascii: ","), &cell)
                    if cell.pointee == UInt8(ascii: ",") || cell.pointee == UInt8(ascii: "\n") {
                        sum.add(UInt64(bitPattern: Self.missing))
                    } else {
                        sum.add(UInt64(bitPattern: number.raw(units: try units(&cell, of: number, powers))))
                    }
                }
                try pass(UInt8(ascii: "\n"), &cell)
            }
        }
        digest = sum
    }

    /// Reads a whole number.
    private func whole(_ cell: inout UnsafePointer<UInt8>) throws -> Int64 {
        let isNegative = cell.pointee == UInt8(ascii: "-")
        cell += isNegative ? 1 : 0
        var count = 0
        let value = Int64(truncatingIfNeeded: DecimalDigits.read(&cell, count: &count))
        guard (1...19).contains(count) else { throw failure("a cell is not a number") }
        return isNegative ? 0 &- value : value
    }

    /// Reads a number, in units of the last decimal of a channel.
    @inline(__always)
    private func units(
        _ cell: inout UnsafePointer<UInt8>, of number: CSVNumber, _ powers: UnsafeBufferPointer<Int64>
    ) throws -> Int64 {
        let isNegative = cell.pointee == UInt8(ascii: "-")
        cell += isNegative ? 1 : 0
        var (count, decimals) = (0, 0)
        var value = Int64(truncatingIfNeeded: DecimalDigits.read(&cell, count: &count)) &* number.power
        if cell.pointee == UInt8(ascii: ".") {
            cell += 1
            let fraction = Int64(truncatingIfNeeded: DecimalDigits.read(&cell, count: &decimals))
            guard decimals <= number.decimals else { throw failure("a cell has more decimals than were written") }
            value = value &+ fraction &* powers[number.decimals - decimals]
        }
        guard count > 0, count + decimals <= 19 else { throw failure("a cell is not a number") }
        return isNegative ? 0 &- value : value
    }

    @inline(__always)
    private func pass(_ byte: UInt8, _ cell: inout UnsafePointer<UInt8>) throws {
        guard cell.pointee == byte else { throw failure("a row has not \(numbers.count + 2) cells, or one is not a number") }
        cell += 1
    }

    private func failure(_ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}
