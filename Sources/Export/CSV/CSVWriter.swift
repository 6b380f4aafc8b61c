import Headsets
import Storage

/// Writes one stream as a table: a header row `n,time,TP9,...`, then one row for every n from the first to the last.
///
/// A missing row is there with its n and time and empty cells; a NULL is an empty cell. Times are UTC to the microsecond.
struct CSVWriter {
    /// What was written, for the check and the report.
    struct Written {
        /// Of the n's and raw values.
        var values: SampleDigest
        var bytes: ByteDigest
        var rowCount: Int64
        var missingRowCount: Int64
    }

    let stream: StreamContents
    let range: ClosedRange<Int64>
    let numbers: [CSVNumber]
    let reader: RecordingReader

    private static let rowsPerChunk = 16_384

    init(stream: StreamContents, range: ClosedRange<Int64>, values: TableValues, reader: RecordingReader) throws {
        self.stream = stream
        self.range = range
        self.reader = reader
        numbers = try stream.description.channels.map { values == .raw ? .raw : try CSVNumber(channel: $0) }
    }

    /// The header row, without its end. A channel that is called as another column has a number behind its name, as in the
    /// views.
    var headerRow: String {
        stream.description.channels.reduce(into: ["n", "time"]) { names, channel in
            var (name, number) = (channel.name, 2)
            while names.contains(name) {
                name = "\(channel.name)_\(number)"
                number += 1
            }
            names.append(name)
        }.map(Self.quoted).joined(separator: ",")
    }

    /// Writes the table.
    func write(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        let text = CSVBuffer(file: file)
        for piece in Array(headerRow.utf8).chunks(of: 512) {
            text.append(piece)
            try text.flush()
        }
        try text.endRow()
        let clock = CSVClock(stream: stream)
        var written = Written(values: SampleDigest(), bytes: ByteDigest(), rowCount: 0, missingRowCount: 0)
        var expected = range.lowerBound
        let longestFill = TimelinePieces.longestFill(of: stream)
        try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            // Whole runs are written at once: the loop is run for every sample.
            var row = 0
            while row < chunk.n.count {
                let n = chunk.n[row]
                // What nobody would have filled is left out: the next n shows it.
                if n - expected > longestFill { expected = n }
                while expected < n {
                    try appendMissing(expected, to: text, clock: clock, written: &written)
                    expected += 1
                }
                let end = Self.runEnd(chunk.n, from: row)
                try append(chunk, row..<end, to: text, clock: clock, written: &written)
                expected = n + Int64(end - row)
                row = end
            }
            written.rowCount += Int64(chunk.n.count)
            progress(Double(expected - range.lowerBound) / Double(range.count))
        }
        while expected <= range.upperBound, range.upperBound - expected <= longestFill {
            try appendMissing(expected, to: text, clock: clock, written: &written)
            expected += 1
        }
        try text.flush()
        written.bytes = text.digest
        return written
    }

    /// Behind the last row that goes on from the one before without a gap.
    private static func runEnd(_ n: [Int64], from row: Int) -> Int {
        if n[n.count - 1] - n[row] == Int64(n.count - 1 - row) { return n.count }
        var end = row + 1
        while end < n.count, n[end] == n[end - 1] + 1 { end += 1 }
        return end
    }

    /// Appends rows that follow each other.
    private func append(
        _ chunk: borrowing SampleChunk, _ rows: Range<Int>, to text: CSVBuffer, clock: CSVClock, written: inout Written
    ) throws {
        let channelCount = numbers.count
        let first = chunk.n[rows.lowerBound]
        var digest = written.values
        try numbers.withUnsafeBufferPointer { numbers in
            try chunk.values.withUnsafeBufferPointer { values in
                try chunk.missingChannels.withUnsafeBufferPointer { missingChannels in
                    for row in rows {
                        let n = first + Int64(row - rows.lowerBound)
                        var next = text.next
                        DecimalDigits.write(n, to: &next)
                        next.pointee = UInt8(ascii: ",")
                        next += 1
                        clock.write(n, to: &next)
                        digest.add(UInt64(bitPattern: n))
                        let missing = row < missingChannels.count ? missingChannels[row] : 0
                        for channel in 0..<channelCount {
                            next.pointee = UInt8(ascii: ",")
                            next += 1
                            if missing & (1 << UInt8(channel)) != 0 {
                                digest.add(UInt64(bitPattern: CSVReader.missing))
                            } else {
                                let value = values[row * channelCount + channel]
                                numbers[channel].write(value, to: &next)
                                digest.add(UInt64(bitPattern: Int64(value)))
                            }
                        }
                        text.next = next
                        try text.endRow()
                    }
                }
            }
        }
        written.values = digest
    }

    private func appendMissing(_ n: Int64, to text: CSVBuffer, clock: CSVClock, written: inout Written) throws {
        text.append(n)
        text.append(UInt8(ascii: ","))
        clock.write(n, to: &text.next)
        written.values.add(UInt64(bitPattern: n))
        for _ in numbers {
            text.append(UInt8(ascii: ","))
            written.values.add(UInt64(bitPattern: CSVReader.missing))
        }
        try text.endRow()
        written.missingRowCount += 1
    }

    /// A cell of the header row; quoted where it must be (RFC 4180).
    static func quoted(_ cell: String) -> String {
        guard cell.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return cell }
        return "\"" + cell.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}

/// Writes times of ascending n's; the day and the second are formatted only when they change.
final class CSVClock {
    private let segments: [TimeSegment]
    private var segment = 0
    /// The second that the prefix shows, in nanoseconds since 1970.
    private var second: Int64 = -1 << 62
    private let prefix: UnsafeMutablePointer<UInt8>
    private var prefixCount = 0

    init(stream: StreamContents) {
        segments = stream.segments
        prefix = .allocate(capacity: 32)
        prefix.initialize(repeating: 0, count: 32)
    }

    deinit { prefix.deallocate() }

    /// Writes the time of a sample: `yyyy-MM-ddTHH:mm:ss.ffffffZ`; nothing where the stream has no times.
    @inline(__always)
    func write(_ n: Int64, to next: inout UnsafeMutablePointer<UInt8>) {
        while segment + 1 < segments.count && segments[segment + 1].firstN <= n { segment += 1 }
        guard segment < segments.count else { return }
        let unix = segments[segment].unixNanoseconds(ofSample: n)
        if unix < second || unix - second >= 1_000_000_000 { begin(secondOf: unix) }
        next.update(from: prefix, count: 32)
        next += prefixCount
        DecimalDigits.write(UInt64(unix - second) / 1000, width: 6, to: &next)
        next.pointee = UInt8(ascii: "Z")
        next += 1
    }

    private func begin(secondOf unix: Int64) {
        let seconds = unix.floorDivided(by: 1_000_000_000)
        second = seconds * 1_000_000_000
        let text = Array((CivilTime(unixSeconds: seconds).iso8601 + ".").utf8.prefix(32))
        prefix.update(from: text, count: text.count)
        prefixCount = text.count
    }
}

extension Array {
    /// The array in pieces of at most `size` elements.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
