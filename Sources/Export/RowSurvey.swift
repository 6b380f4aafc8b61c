import Headsets
import Storage

/// What a pass over a stream's rows finds out before they are written. Only exports that must know more than the ledger says
/// pay for the pass: the ledger's partly recovered gaps do not tell which samples arrived.
struct RowSurvey: Sendable {
    /// Runs of rows, ascending, with at least one missing n between two that is not merely one that the headset never sends.
    var runs: [ClosedRange<Int64>] = []
    /// The lowest and highest raw value of each channel; nil where every one is NULL.
    var extremes: [ClosedRange<Int32>?]

    /// Rows per call of the reader: 0.5 MB of 8-channel values.
    private static let rowsPerChunk = 16_384

    init(of stream: StreamContents, in range: ClosedRange<Int64>, from reader: RecordingReader) throws {
        let channelCount = stream.description.channels.count
        var runs: [ClosedRange<Int64>] = []
        var lows = [Int32](repeating: .max, count: channelCount)
        var highs = [Int32](repeating: .min, count: channelCount)
        try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            for row in chunk.n.indices {
                let n = chunk.n[row]
                if let last = runs.last, last.upperBound + 1 == n || stream.isUnsent((last.upperBound + 1)..<n) {
                    runs[runs.count - 1] = last.lowerBound...n
                } else {
                    runs.append(n...n)
                }
                let missing = row < chunk.missingChannels.count ? chunk.missingChannels[row] : 0
                for channel in 0..<channelCount where missing & (1 << UInt8(channel)) == 0 {
                    let value = chunk.values[row * channelCount + channel]
                    lows[channel] = min(lows[channel], value)
                    highs[channel] = max(highs[channel], value)
                }
            }
        }
        self.runs = runs
        extremes = zip(lows, highs).map { $0 <= $1 ? $0...$1 : nil }
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
