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
                try write(run.rows, to: bytes)
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

    /// Writes rows that follow each other; at once those that lack no value, which are nearly all.
    private func write(_ range: Range<Int>, to bytes: BinaryWriter) throws {
        var row = range.lowerBound
        while row < range.upperBound {
            let end = missingSince.contains { $0 != nil } ? row : rows.endOfWholeRows(row..<range.upperBound)
            if end > row {
                try writeWhole(row..<end, to: bytes)
                row = end
            } else {
                try write(row, to: bytes)
                row += 1
            }
        }
    }

    private func writeWhole(_ range: Range<Int>, to bytes: BinaryWriter) throws {
        let (isInteger, valueByteCount) = (format.isInteger, format.valueByteCount)
        var digest = digest
        var inexactCount: Int64 = 0
        try format.channels.withUnsafeBufferPointer { channels in
            try rows.values.withUnsafeBufferPointer { values in
                try bytes.append(rows: range.count, of: format.rowByteCount) { memory, some in
                    guard var next = memory.baseAddress else { return }
                    var index = (range.lowerBound + some.lowerBound) * channels.count
                    for _ in some {
                        for channel in channels {
                            let raw = values[index]
                            let read = MultiplexedFormat.store(raw, of: channel, isInteger: isInteger, at: next)
                            inexactCount += read == raw ? 0 : 1
                            digest.add(UInt64(bitPattern: Int64(read)))
                            next += valueByteCount
                            index += 1
                        }
                    }
                }
            }
        }
        self.digest = digest
        self.inexactCount += inexactCount
        for channel in last.indices { last[channel] = rows.values[(range.upperBound - 1) * last.count + channel] }
        layout.add(Int64(range.count))
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

    private func write(_ raw: Int32, _ channel: Int, to bytes: BinaryWriter) throws {
        try bytes.append(rows: 1, of: format.valueByteCount) { memory, _ in
            guard let base = memory.baseAddress else { return }
            let read = MultiplexedFormat.store(raw, of: format.channels[channel], isInteger: format.isInteger, at: base)
            if read != raw { inexactCount += 1 }
            digest.add(UInt64(bitPattern: Int64(read)))
        }
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
        let (isInteger, valueByteCount) = (format.isInteger, format.valueByteCount)
        var digest = SampleDigest()
        try format.channels.withUnsafeBufferPointer { channels in
            while try !bytes.isAtEnd {
                let rows = try bytes.rows(of: format.rowByteCount, atMost: .max)
                guard var next = rows.baseAddress else { return }
                let end = next + rows.count
                while next < end {
                    for channel in channels {
                        let raw = MultiplexedFormat.raw(at: next, of: channel, isInteger: isInteger)
                        digest.add(UInt64(bitPattern: Int64(raw)))
                        next += valueByteCount
                    }
                }
                progress(bytes.fractionDone)
            }
        }
        return (digest, bytes.digest)
    }
}
