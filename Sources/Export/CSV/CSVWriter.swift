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
        /// Of the bytes.
        var bytes: SampleDigest
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

    /// The header row, without its end.
    var headerRow: String {
        (["n", "time"] + stream.description.channels.map(\.name)).map(Self.quoted).joined(separator: ",")
    }

    /// Writes the table.
    func write(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        let text = CSVBuffer(file: file)
        for piece in Array(headerRow.utf8).chunks(of: 512) {
            text.append(piece)
            try text.flush()
        }
        try text.endRow()
        var clock = CSVClock(stream: stream)
        var written = Written(values: SampleDigest(), bytes: SampleDigest(), rowCount: 0, missingRowCount: 0)
        var expected = range.lowerBound
        let channelCount = numbers.count
        let longestFill = TimelinePieces.longestFill(of: stream)
        try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            for row in chunk.n.indices {
                let n = chunk.n[row]
                // What nobody would have filled is left out: the next n shows it.
                if n - expected > longestFill { expected = n }
                while expected < n {
                    try appendMissing(expected, to: text, clock: &clock, written: &written)
                    expected += 1
                }
                text.append(n)
                text.append(UInt8(ascii: ","))
                clock.append(n, to: text)
                let missing = row < chunk.missingChannels.count ? chunk.missingChannels[row] : 0
                written.values.add(UInt64(bitPattern: n))
                for channel in 0..<channelCount {
                    text.append(UInt8(ascii: ","))
                    if missing & (1 << UInt8(channel)) != 0 {
                        written.values.add(UInt64(bitPattern: CSVReader.missing))
                    } else {
                        let value = chunk.values[row * channelCount + channel]
                        numbers[channel].append(value, to: text)
                        written.values.add(UInt64(bitPattern: Int64(value)))
                    }
                }
                try text.endRow()
                expected = n + 1
            }
            written.rowCount += Int64(chunk.n.count)
            progress(Double(expected - range.lowerBound) / Double(range.count))
        }
        while expected <= range.upperBound, range.upperBound - expected <= longestFill {
            try appendMissing(expected, to: text, clock: &clock, written: &written)
            expected += 1
        }
        try text.flush()
        written.bytes = text.digest
        return written
    }

    private func appendMissing(_ n: Int64, to text: CSVBuffer, clock: inout CSVClock, written: inout Written) throws {
        text.append(n)
        text.append(UInt8(ascii: ","))
        clock.append(n, to: text)
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
struct CSVClock {
    private let segments: [TimeSegment]
    private var segment = 0
    private var second = Int64.min
    private var prefix: [UInt8] = []

    init(stream: StreamContents) {
        segments = stream.segments
    }

    /// Appends the time of a sample: `yyyy-MM-ddTHH:mm:ss.ffffffZ`; nothing where the stream has no times.
    mutating func append(_ n: Int64, to text: CSVBuffer) {
        while segment + 1 < segments.count && segments[segment + 1].firstN <= n { segment += 1 }
        guard segment < segments.count else { return }
        let unix = segments[segment].unixNanoseconds(ofSample: n)
        let newSecond = unix.floorDivided(by: 1_000_000_000)
        if newSecond != second {
            second = newSecond
            prefix = Array((CivilTime(unixSeconds: newSecond).iso8601 + ".").utf8)
        }
        text.append(prefix)
        text.appendDigits(UInt64(unix - newSecond * 1_000_000_000) / 1000, width: 6)
        text.append(UInt8(ascii: "Z"))
    }
}

extension Array {
    /// The array in pieces of at most `size` elements.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
