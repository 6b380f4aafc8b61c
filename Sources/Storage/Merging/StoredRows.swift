import GRDB

/// Rows of one stream as they are stored, in ascending order of n.
struct StoredRows {
    /// Rows that are read at a time: some hundred KiB.
    static let limit = 16_384

    let channelCount: Int
    private(set) var n: [Int64] = []
    /// Row after row; 0 where there is none.
    private(set) var values: [Int32] = []
    /// By row, the channels without a value; bit 0 is channel 1.
    private(set) var missing: [UInt8] = []

    /// Reads rows.
    ///
    /// - Parameters:
    ///   - range: which n are wanted, as ``n`` has them.
    ///   - limit: how many at most.
    ///   - shift: what is added to each n as it is stored.
    init(
        of stream: Int64, channelCount: Int, in range: ClosedRange<Int64>, limit: Int = StoredRows.limit, shift: Int64 = 0,
        from db: Database
    ) throws {
        self.channelCount = channelCount
        var reading = RowReading(
            stream: StreamID(rawValue: stream), channelCount: channelCount, rowsPerChunk: min(limit, StoredRows.limit))
        var nothingLate = LateSamples()
        let stored = range.lowerBound - shift...range.upperBound - shift
        _ = try reading.read(stored, limit: limit, without: &nothingLate, in: db) { append($0, shift: shift) }
        append(reading.chunk, shift: shift)
    }

    private mutating func append(_ chunk: SampleChunk, shift: Int64) {
        n += shift == 0 ? chunk.n : chunk.n.map { $0 + shift }
        values += chunk.values
        missing += chunk.missingChannels
    }

    /// The values of a row.
    func row(_ index: Int) -> ArraySlice<Int32> { values[index * channelCount..<(index + 1) * channelCount] }

    /// Consecutive rows of it, for another stream; `range` is of indexes.
    func rows(_ range: Range<Int>, as stream: StreamID) -> SampleRows {
        let missing = missing[range]
        return SampleRows(
            stream: stream, channelCount: channelCount, firstN: n[range.lowerBound],
            values: Array(values[range.lowerBound * channelCount..<range.upperBound * channelCount]),
            missingChannels: missing.allSatisfy { $0 == 0 } ? [] : Array(missing))
    }

    /// Runs of rows whose n follow each other, as ranges of indexes, among those that are wanted.
    ///
    /// - Parameter range: of indexes; all by default.
    func runs(in range: Range<Int>? = nil, where isWanted: (Int) -> Bool = { _ in true }) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in range ?? n.indices where isWanted(index) {
            if let last = runs.last, last.upperBound == index, n[index] == n[index - 1] + 1 {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }
}
