import Headsets
import Storage

/// Writes the samples of a joined stream, row after row; nothing else stands in the file.
final class MultiplexedWriter {
    let stream: JoinedStream
    let format: MultiplexedFormat
    private(set) var layout = MultiplexedLayout()
    /// Of the counts of all rows, as a reader gets them back.
    private(set) var digest = SampleDigest()
    /// Rows of the database that were written.
    private(set) var sampleCount: Int64 = 0
    /// Rows that hold values of other rows because theirs are missing.
    private(set) var filledCount: Int64 = 0
    /// Values that a reader does not get back as they were.
    private(set) var inexactCount: Int64 = 0

    private let rows: JoinedRows
    private let fills: Bool
    private let longestFill: Int64
    private let jumps: [Int64]
    private var lastN: Int64?
    private var last: [Int32]
    /// Where, for each channel, the run of missing values began that is not over.
    private var missingSince: [Int64?]

    /// - Parameter fills: true to hold the last value over missing rows; false to leave them out.
    init(_ stream: JoinedStream, format: MultiplexedFormat, fills: Bool, reader: RecordingReader) throws {
        self.stream = stream
        self.format = format
        self.fills = fills
        rows = JoinedRows(stream, reader: reader)
        longestFill = TimelinePieces.longestFill(of: stream.clock)
        jumps = stream.jumps
        last = try stream.banks.flatMap { bank in
            try FirstValues.find(of: bank.stream, in: bank.range, from: reader).map { $0 ?? 0 }
        }
        missingSince = [Int64?](repeating: nil, count: stream.channels.count)
    }

    /// Writes all rows.
    func write(to bytes: BinaryWriter, progress: (Double) -> Void) throws {
        while let runs = try rows.readWindow() {
            for run in runs {
                try cross(run.hole, to: run.n, bytes: bytes)
                for row in run.rows { try write(row, to: bytes) }
                sampleCount += Int64(run.rows.count)
                lastN = run.n + Int64(run.rows.count) - 1
            }
            progress(rows.fractionDone)
        }
        for channel in missingSince.indices { endMissing(channel) }
        try bytes.flush()
    }

    /// Writes what stands for the samples before a run, or begins a piece of the file.
    private func cross(_ hole: JoinedRows.Hole?, to n: Int64, bytes: BinaryWriter) throws {
        switch hole {
        case nil:
            if lastN == nil { layout.begin(n: n, missing: 0) }
        case .unsent(let range) where Int64(range.count) <= longestFill:
            // Nothing is lost; the grid goes on.
            for _ in range { try hold(to: bytes) }
        case .unsent(let range):
            begin(n: n, missing: Int64(range.count))
        case .missing(let count):
            guard fills, count <= longestFill, let lastN, n - lastN - 1 == count, !jumps(between: lastN, n) else {
                return begin(n: n, missing: count)
            }
            for channel in missingSince.indices { endMissing(channel) }
            let first = layout.rowCount
            for _ in 0..<count { try hold(to: bytes) }
            layout.hold(first..<layout.rowCount)
            filledCount += count
        }
    }

    private func begin(n: Int64, missing: Int64) {
        for channel in missingSince.indices { endMissing(channel) }
        layout.begin(n: n, missing: missing)
    }

    /// Whether the clock, not n, says how much time is between two samples.
    private func jumps(between n: Int64, _ next: Int64) -> Bool { jumps.contains { $0 > n && $0 <= next } }

    private func hold(to bytes: BinaryWriter) throws {
        for channel in last.indices { try write(last[channel], channel, to: bytes) }
        layout.add(1)
    }

    private func write(_ row: Int, to bytes: BinaryWriter) throws {
        let present = rows.present[row]
        for channel in last.indices {
            if present & (1 << UInt64(channel)) == 0 {
                if missingSince[channel] == nil { missingSince[channel] = layout.rowCount }
            } else {
                if missingSince[channel] != nil { endMissing(channel) }
                last[channel] = rows.values[row * last.count + channel]
            }
            try write(last[channel], channel, to: bytes)
        }
        layout.add(1)
    }

    private func endMissing(_ channel: Int) {
        guard let first = missingSince[channel] else { return }
        missingSince[channel] = nil
        layout.hold(first..<layout.rowCount, channel: channel)
    }

    @inline(__always)
    private func write(_ raw: Int32, _ channel: Int, to bytes: BinaryWriter) throws {
        let read = try format.write(raw, channel: channel, to: bytes)
        if read != raw { inexactCount += 1 }
        digest.add(UInt64(bitPattern: Int64(read)))
    }
}

/// Reads what ``MultiplexedWriter`` has written.
struct MultiplexedReader {
    let path: String
    let format: MultiplexedFormat

    /// The checksums of the counts and of the bytes.
    ///
    /// - Throws: `verificationFailed` where the file does not end with a whole row.
    func digest(progress: (Double) -> Void) throws -> (counts: SampleDigest, bytes: ByteDigest) {
        let bytes = try BinaryReader(path: path)
        var digest = SampleDigest()
        var row = 0
        while try !bytes.isAtEnd {
            for channel in format.channels.indices {
                digest.add(UInt64(bitPattern: Int64(try format.read(channel: channel, from: bytes))))
            }
            row += 1
            if row & 0xFFF == 0 { progress(bytes.fractionDone) }
        }
        return (digest, bytes.digest)
    }
}
