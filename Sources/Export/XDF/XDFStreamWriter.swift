import Headsets
import Storage

/// Writes the samples of one stream: its header when the first one comes, each row with its time, its footer at the end.
final class XDFStreamWriter {
    /// A stream of the file, for the reader that checks it.
    struct Layout: Hashable {
        var id: UInt32
        /// Which of the recording's streams it is; nil for that of the marks.
        var source: Int?
        var sampleCount: Int64 = 0
    }

    let rows: JoinedRows
    let format: XDFSampleFormat
    private let source: Int
    private let description: XDFDescription
    private let isSplit: Bool
    private var clock: SampleClock
    /// The streams that were begun, the last one open until ``finish(to:)``.
    private(set) var layouts: [Layout] = []
    private(set) var rowCount: Int64 = 0
    /// Values that a reader does not get back as they were.
    private(set) var inexactCount: Int64 = 0
    private var firstStamp = 0.0
    private var lastStamp = 0.0

    /// Rows of a chunk.
    private static let chunkRowMaximum = 2048

    /// - Parameter isSplit: true to begin a stream of the file after each gap.
    init(_ stream: JoinedStream, source: Int, of description: XDFDescription, isSplit: Bool, reader: RecordingReader) {
        rows = JoinedRows(stream, reader: reader)
        format = XDFSampleFormat(channels: stream.channels)
        self.source = source
        self.description = description
        self.isSplit = isSplit
        clock = SampleClock(stream.clock)
    }

    /// Writes the rows of the next window.
    ///
    /// - Parameter newStream: gives the number of a stream of the file.
    /// - Returns: false at the end of the stream.
    func writeWindow(to file: XDFFile, newStream: () -> UInt32) throws -> Bool {
        guard let runs = try rows.readWindow() else { return false }
        for run in runs {
            if case .missing = run.hole, isSplit { try finish(to: file) }
            if layouts.isEmpty || !isOpen { try begin(newStream(), at: run.n, to: file) }
            var row = run.rows.lowerBound
            while row < run.rows.upperBound {
                let count = min(Self.chunkRowMaximum, run.rows.upperBound - row)
                try write(row..<(row + count), from: run.n + Int64(row - run.rows.lowerBound), to: file)
                row += count
            }
        }
        return true
    }

    private var isOpen = false

    private func begin(_ id: UInt32, at n: Int64, to file: XDFFile) throws {
        layouts.append(Layout(id: id, source: source))
        isOpen = true
        var clock = clock
        firstStamp = XDFFile.stamp(clock.unixNanoseconds(ofSample: n))
        let header = description.header(
            of: rows.stream, format: format, part: isSplit ? layouts.count : nil, stamp: firstStamp)
        try file.write(.streamHeader, header.document, of: id)
        try file.writeClockOffset(at: firstStamp, of: id)
    }

    private func write(_ range: Range<Int>, from n: Int64, to file: XDFFile) throws {
        let id = layouts[layouts.count - 1].id
        let (isDouble, valueByteCount) = (format.isDouble, format.valueByteCount)
        try file.beginSamples(range.count, byteCount: range.count * format.rowByteCount, of: id)
        var (inexactCount, clock, stamp): (Int64, SampleClock, Double) = (0, clock, lastStamp)
        let present = rows.present
        try format.values.withUnsafeBufferPointer { channels in
            try rows.values.withUnsafeBufferPointer { values in
                try file.append(rows: range.count, of: format.rowByteCount) { memory, some, digest in
                    guard var next = memory.baseAddress else { return }
                    for offset in some {
                        stamp = XDFFile.stamp(clock.unixNanoseconds(ofSample: n + Int64(offset)))
                        XDFFile.store(stamp, at: &next, digest: &digest)
                        let row = range.lowerBound + offset
                        for channel in channels.indices {
                            let isThere = present[row] & (1 << UInt64(channel)) != 0
                            let raw = isThere ? values[row * channels.count + channel] : nil
                            let read = XDFSampleFormat.store(raw, of: channels[channel], isDouble: isDouble, at: next)
                            inexactCount += read == raw ? 0 : 1
                            digest.add(XDFFile.word(read))
                            next += valueByteCount
                        }
                    }
                }
            }
        }
        (self.clock, lastStamp) = (clock, stamp)
        self.inexactCount += inexactCount
        layouts[layouts.count - 1].sampleCount += Int64(range.count)
        rowCount += Int64(range.count)
    }

    /// Ends the stream of the file that is open.
    func finish(to file: XDFFile) throws {
        guard isOpen, let layout = layouts.last else { return }
        isOpen = false
        try file.finish(layout, first: firstStamp, last: lastStamp)
    }
}
