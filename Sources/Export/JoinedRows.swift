import Headsets
import Storage

/// The rows of a joined stream in ascending order, in windows whose memory is reused.
final class JoinedRows {
    /// What is missing before a run of rows.
    enum Hole: Hashable {
        /// Samples that the headset never sends, which is no loss.
        case unsent(Range<Int64>)
        /// So many samples as n or, between two boots of the host, the clock says.
        case missing(count: Int64)
    }

    /// Rows without a break.
    struct Run {
        /// The n of the first of them.
        var n: Int64
        /// Where they are in ``JoinedRows/values``.
        var rows: Range<Int>
        /// What is missing before them; nil where they go on from the run before, or are the first.
        var hole: Hole?
    }

    let stream: JoinedStream
    let channelCount: Int
    /// Raw values of the window, row after row, one for each channel; 0 where it is missing.
    private(set) var values: [Int32] = []
    /// Per row of the window a bit for each channel that has a value.
    private(set) var present: [UInt64] = []
    private var hasRow: [Bool] = []

    private let reader: RecordingReader
    private let rowsPerWindow: Int
    /// The first n of the next window.
    private var next: Int64
    private var lastN: Int64?
    private let jumps: [Int64]

    /// A window of all streams lasts as long, so that what is written of them lies side by side.
    private static let windowSeconds = 60.0
    private static let windowMaximum = 16_384

    init(_ stream: JoinedStream, reader: RecordingReader) {
        self.stream = stream
        self.reader = reader
        channelCount = stream.channels.count
        rowsPerWindow = max(1, Int(min(Double(Self.windowMaximum), stream.samplingFrequency * Self.windowSeconds)))
        next = stream.range.lowerBound
        jumps = stream.jumps
    }

    /// The fraction of the stream that was read.
    var fractionDone: Double { Double(next - stream.range.lowerBound) / Double(stream.range.count) }

    /// Reads the next window.
    ///
    /// - Returns: its runs of rows; nil at the end of the stream.
    func readWindow() throws -> [Run]? {
        guard next <= stream.range.upperBound else { return nil }
        let last = min(stream.range.upperBound, next + Int64(rowsPerWindow) - 1)
        let count = Int(last - next + 1)
        values = [Int32](repeating: 0, count: count * channelCount)
        present = [UInt64](repeating: 0, count: count)
        hasRow = [Bool](repeating: false, count: count)
        var firstChannel = 0
        for bank in stream.banks {
            let width = bank.stream.description.channels.count
            if bank.range.overlaps(next...last) {
                let range = (next...last).clamped(to: bank.range)
                try reader.forEachChunk(of: bank.stream.id, in: range, rowsPerChunk: rowsPerWindow) { chunk in
                    copy(chunk, width: width, to: firstChannel)
                }
            }
            firstChannel += width
        }
        defer { next = last + 1 }
        return runs(from: next, count: count)
    }

    /// Behind the last row of a range that lacks no value, as do all before it.
    func endOfWholeRows(_ range: Range<Int>) -> Int {
        let all = Self.bits(channelCount)
        return present.withUnsafeBufferPointer { present in
            var row = range.lowerBound
            while row < range.upperBound, present[row] == all { row += 1 }
            return row
        }
    }

    /// A bit for each of so many channels.
    private static func bits(_ count: Int) -> UInt64 { count < UInt64.bitWidth ? 1 << UInt64(count) - 1 : .max }

    private func copy(_ chunk: borrowing SampleChunk, width: Int, to firstChannel: Int) {
        let all = Self.bits(width)
        let (channelCount, first) = (channelCount, next)
        chunk.values.withUnsafeBufferPointer { source in
            values.withUnsafeMutableBufferPointer { target in
                for (row, n) in chunk.n.enumerated() {
                    let (from, to) = (row * width, Int(n - first) * channelCount + firstChannel)
                    for channel in 0..<width { target[to + channel] = source[from + channel] }
                }
            }
        }
        for (row, n) in chunk.n.enumerated() {
            let index = Int(n - first)
            hasRow[index] = true
            let missing = row < chunk.missingChannels.count ? UInt64(chunk.missingChannels[row]) : 0
            present[index] |= (all & ~missing) << UInt64(firstChannel)
        }
    }

    private func runs(from first: Int64, count: Int) -> [Run] {
        var runs: [Run] = []
        var jump = jumps.firstIndex { $0 >= first } ?? jumps.count
        for row in 0..<count where hasRow[row] {
            let n = first + Int64(row)
            while jump < jumps.count && jumps[jump] <= (lastN ?? .min) { jump += 1 }
            let jumpsHere = jump < jumps.count && jumps[jump] <= n
            if lastN == n - 1, !jumpsHere, let open = runs.last, open.rows.upperBound == row {
                runs[runs.count - 1].rows = open.rows.lowerBound..<(row + 1)
            } else {
                runs.append(Run(n: n, rows: row..<(row + 1), hole: hole(before: n, jumps: jumpsHere)))
            }
            lastN = n
        }
        return runs
    }

    private func hole(before n: Int64, jumps: Bool) -> Hole? {
        guard let lastN else { return nil }
        if jumps { return .missing(count: stream.samplesBetween(lastN, n)) }
        guard n > lastN + 1 else { return nil }
        let range = (lastN + 1)..<n
        return stream.clock.isUnsent(range) ? .unsent(range) : .missing(count: Int64(range.count))
    }
}
