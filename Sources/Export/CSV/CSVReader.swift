/// Reads a table of ``CSVWriter`` back.
struct CSVReader {
    /// What an empty cell counts as in the checksum: no raw value is as low.
    static let missing = Int64.min

    let path: String
    let numbers: [CSVNumber]

    /// The header row, the checksum of the n's and raw values of all rows, and that of the bytes.
    ///
    /// - Throws: ``ExportError``, `verificationFailed` where a row is not as it must be.
    func digest(progress: (Double) -> Void = { _ in }) throws -> (header: String, values: SampleDigest, bytes: SampleDigest) {
        let file = try ReadFile(path: path)
        var digest = SampleDigest()
        var byteDigest = SampleDigest()
        var header: String?
        var rest: [UInt8] = []
        var done: Int64 = 0
        while true {
            let read = try file.read(atMost: 1 << 18)
            if read.isEmpty { break }
            done += Int64(read.count)
            for byte in read { byteDigest.add(UInt64(byte)) }
            rest += read
            var start = 0
            try rest.withUnsafeBufferPointer { bytes in
                while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                    if header == nil {
                        header = String(decoding: bytes[start..<end], as: UTF8.self)
                    } else {
                        try add(UnsafeBufferPointer(rebasing: bytes[start..<end]), to: &digest)
                    }
                    start = end + 1
                }
            }
            rest.removeFirst(start)
            progress(Double(done) / Double(max(1, file.byteCount)))
        }
        guard let header, rest.isEmpty else { throw failure("it does not end with a whole row") }
        return (header, digest, byteDigest)
    }

    private func add(_ row: UnsafeBufferPointer<UInt8>, to digest: inout SampleDigest) throws {
        var position = 0
        for column in -2..<numbers.count {
            var mantissa: Int64 = 0
            var (isNegative, isEmpty, decimals) = (false, true, 0)
            var hasPoint = false
            while position < row.count, row[position] != UInt8(ascii: ",") {
                let byte = row[position]
                position += 1
                isEmpty = false
                // The time column is not a number; the sidecar holds the time map.
                if column == -1 { continue }
                if byte == UInt8(ascii: "-") {
                    isNegative = true
                } else if byte == UInt8(ascii: ".") {
                    hasPoint = true
                } else {
                    let digit = Int64(byte) - 0x30
                    let (next, overflow) = mantissa.multipliedReportingOverflow(by: 10)
                    guard (0...9).contains(digit), !overflow else { throw failure("a cell is not a number") }
                    mantissa = next + digit
                    if hasPoint { decimals += 1 }
                }
            }
            if isNegative { mantissa = -mantissa }
            switch column {
            case -2: digest.add(UInt64(bitPattern: mantissa))
            case -1: break
            default:
                let value = isEmpty ? Self.missing : numbers[column].raw(mantissa: mantissa, decimals: decimals)
                digest.add(UInt64(bitPattern: value))
            }
            let isLast = column == numbers.count - 1
            guard isLast == (position == row.count) else { throw failure("a row has not \(numbers.count + 2) cells") }
            position += 1
        }
    }

    private func failure(_ detail: String) -> ExportError {
        .verificationFailed(path: path, detail: detail)
    }
}
