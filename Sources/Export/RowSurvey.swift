import Headsets
import Storage

/// What a pass over a stream's rows finds out before they are written. Only exports that must know more than the ledger says
/// pay for the pass: the ledger's partly recovered gaps do not say which samples arrived.
struct RowSurvey {
    /// Runs of rows, ascending, with at least one missing n between two that is not merely one that the headset never sends.
    private(set) var runs: [ClosedRange<Int64>] = []
    /// The rows, so that nobody steps through them again; nil where there was no room for them.
    var spool: RowSpool?
    private var lows: [Int32]
    private var highs: [Int32]

    /// Rows per call of the reader: 0.5 MB of 8-channel values.
    private static let rowsPerChunk = 16_384

    /// - Parameters:
    ///   - path: The export, beside which the rows are kept meanwhile.
    ///   - progress: Called now and then with the fraction done, 0 ... 1.
    init(
        of stream: StreamContents, in range: ClosedRange<Int64>, from reader: RecordingReader, beside path: String,
        progress: (Double) -> Void
    ) throws {
        let channelCount = stream.description.channels.count
        lows = [Int32](repeating: .max, count: channelCount)
        highs = [Int32](repeating: .min, count: channelCount)
        spool = RowSpool(beside: path, channelCount: channelCount, rowsPerBlock: Self.rowsPerChunk)
        try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            addRuns(chunk.n, of: stream)
            addValues(chunk, channelCount: channelCount)
            if spool?.append(chunk) == false { spool = nil }
            if let last = chunk.n.last { progress(Double(last - range.lowerBound + 1) / Double(range.count)) }
        }
    }

    /// The lowest and highest raw value of each channel; nil where every one is NULL.
    var extremes: [ClosedRange<Int32>?] { zip(lows, highs).map { $0 <= $1 ? $0...$1 : nil } }

    private mutating func addRuns(_ ns: [Int64], of stream: StreamContents) {
        guard let first = ns.first, let last = ns.last else { return }
        // n ascends, so the last one decides for the whole chunk.
        if last - first == Int64(ns.count - 1) { return addRun(first...last, of: stream) }
        for n in ns { addRun(n...n, of: stream) }
    }

    private mutating func addRun(_ run: ClosedRange<Int64>, of stream: StreamContents) {
        if let last = runs.last,
            last.upperBound + 1 == run.lowerBound || stream.isUnsent((last.upperBound + 1)..<run.lowerBound)
        {
            runs[runs.count - 1] = last.lowerBound...run.upperBound
        } else {
            runs.append(run)
        }
    }

    private mutating func addValues(_ chunk: borrowing SampleChunk, channelCount: Int) {
        let anyMissing = chunk.missingChannels.reduce(0, |)
        for channel in 0..<channelCount {
            let bit = UInt8(1) << UInt8(channel)
            var (low, high) = (lows[channel], highs[channel])
            var index = channel
            for row in chunk.n.indices {
                if anyMissing & bit == 0 || chunk.missingChannels[row] & bit == 0 {
                    low = min(low, chunk.values[index])
                    high = max(high, chunk.values[index])
                }
                index += channelCount
            }
            (lows[channel], highs[channel]) = (low, high)
        }
    }
}

/// Where a writer takes a stream's rows from.
indirect enum RowSource {
    case database(RecordingReader)
    case spool(RowSpool)
    case resampled(ClockResampler)

    /// Calls `body` with the rows of a range, in ascending order of n.
    func forEachChunk(
        of stream: StreamID, in range: ClosedRange<Int64>, _ body: (borrowing SampleChunk) throws -> Void
    ) throws {
        switch self {
        case .database(let reader): try reader.forEachChunk(of: stream, in: range, rowsPerChunk: range.count, body)
        case .spool(let spool): try spool.forEachChunk(in: range, body)
        case .resampled(let resampler): try resampler.forEachChunk(in: range, body)
        }
    }

    /// The first value of each channel of a stream's range; nil where there is none among the first rows.
    func firstValues(
        of stream: StreamContents, in range: ClosedRange<Int64>, from reader: RecordingReader
    ) throws -> [Int32?] {
        switch self {
        case .database, .spool: try FirstValues.find(of: stream, in: range, from: reader)
        case .resampled(let resampler): try resampler.firstValues(from: reader)
        }
    }
}

/// The first value of each channel, which stands for the missing ones before it.
struct FirstValues {
    /// How many rows are looked at; a channel that is NULL in all of them counts as one without values.
    static let rowLimit = 10_000

    /// Thrown to end the reader's loop.
    private struct Found: Error {}

    /// - Returns: One raw value for each channel; nil where there is none.
    static func find(of stream: StreamContents, in range: ClosedRange<Int64>, from reader: RecordingReader) throws -> [Int32?] {
        let channelCount = stream.description.channels.count
        var first = [Int32?](repeating: nil, count: channelCount)
        var rowCount = 0
        do {
            try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: 256) { chunk in
                for row in chunk.n.indices {
                    let missing = row < chunk.missingChannels.count ? chunk.missingChannels[row] : 0
                    for channel in 0..<channelCount where missing & (1 << UInt8(channel)) == 0 {
                        first[channel] = first[channel] ?? chunk.values[row * channelCount + channel]
                    }
                }
                rowCount += chunk.n.count
                if rowCount >= rowLimit || first.allSatisfy({ $0 != nil }) { throw Found() }
            }
        } catch is Found {}
        return first
    }
}
