import Headsets
import Storage

/// Writes the samples of a stream as a table without a header row: BIDS's form of motion and physiological recordings. Every n
/// from the first to the last has a row; what is missing is `n/a`.
struct BIDSSampleTable {
    /// What was written, for the check and the report.
    struct Written {
        /// Of the text, packed or not.
        var bytes: ByteDigest
        var rowCount: Int64
        var missingRowCount: Int64
        /// Runs of missing rows, as positions from 0.
        var missingRuns: [ClosedRange<Int64>] = []
    }

    let part: StreamPart
    let reader: RecordingReader
    private let numbers: [CSVNumber]

    private static let rowsPerChunk = 16_384
    private static let missing = Array("n/a".utf8)

    init(part: StreamPart, reader: RecordingReader) throws {
        self.part = part
        self.reader = reader
        numbers = try part.stream.description.channels.map { try CSVNumber(channel: $0) }
    }

    /// Writes the table.
    func write(to file: PartialFile, progress: (Double) -> Void) throws -> Written {
        let text = CSVBuffer(file: file)
        let range = part.range
        var written = Written(bytes: ByteDigest(), rowCount: 0, missingRowCount: 0)
        var expected = range.lowerBound
        func appendMissing() throws {
            for channel in numbers.indices {
                if channel > 0 { text.append(UInt8(ascii: "\t")) }
                text.append(Self.missing)
            }
            try text.endRow()
            written.missingRowCount += 1
            let index = expected - range.lowerBound
            if let last = written.missingRuns.last, last.upperBound + 1 == index {
                written.missingRuns[written.missingRuns.count - 1] = last.lowerBound...index
            } else {
                written.missingRuns.append(index...index)
            }
            expected += 1
        }
        try reader.forEachChunk(of: part.stream.id, in: range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            for row in chunk.n.indices {
                while expected < chunk.n[row] { try appendMissing() }
                let missing = row < chunk.missingChannels.count ? chunk.missingChannels[row] : 0
                for channel in numbers.indices {
                    if channel > 0 { text.append(UInt8(ascii: "\t")) }
                    if missing & (1 << UInt8(channel)) != 0 {
                        text.append(Self.missing)
                    } else {
                        numbers[channel].append(chunk.values[row * numbers.count + channel], to: text)
                    }
                }
                try text.endRow()
                expected += 1
            }
            written.rowCount += Int64(chunk.n.count)
            progress(Double(expected - range.lowerBound) / Double(range.count))
        }
        while expected <= range.upperBound { try appendMissing() }
        try text.flush()
        written.bytes = text.digest
        return written
    }

    /// The checksum of a table as it stands on the disk.
    static func digest(of path: String) throws -> ByteDigest {
        let file = try ReadFile(path: path)
        var digest = ByteDigest()
        while case let block = try file.read(atMost: 1 << 18), !block.isEmpty { digest.add(block) }
        return digest
    }
}
