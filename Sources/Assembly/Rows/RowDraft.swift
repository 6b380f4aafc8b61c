package import Storage

/// The rows that one stream has to write since the last batch was taken.
package struct RowDraft: Sendable {
    private let stream: StreamID
    private let channelCount: Int
    /// Runs of consecutive n.
    private var rows: [SampleRows] = []
    private var fills: [ChannelFill] = []
    /// What whoever follows has of it: whole runs, rows of the run behind them, and fills.
    private var followed = (runs: 0, rows: 0, fills: 0)
    /// Behind the last row that was taken, by a batch or by whoever follows.
    private var takenEnd = Int64.min
    /// How many there are.
    package private(set) var rowCount = 0

    init(stream: StreamID, channelCount: Int) {
        self.stream = stream
        self.channelCount = channelCount
    }

    /// Appends rows with consecutive n; continues the last run where it fits.
    ///
    /// - Parameter missingChannels: the channels that every one of the rows lacks.
    mutating func append(_ values: ArraySlice<Int32>, firstN: Int64, missingChannels: UInt8 = 0) {
        let count = values.count / channelCount
        rowCount += count
        if let last = rows.indices.last, rows[last].firstN + Int64(rows[last].rowCount) == firstN,
            rows[last].missingChannels.isEmpty == (missingChannels == 0)
        {
            rows[last].values.append(contentsOf: values)
            if missingChannels != 0 {
                rows[last].missingChannels.append(contentsOf: repeatElement(missingChannels, count: count))
            }
            return
        }
        rows.append(
            SampleRows(
                stream: stream, channelCount: channelCount, firstN: firstN, values: Array(values),
                missingChannels: missingChannels == 0 ? [] : Array(repeating: missingChannels, count: count)))
    }

    /// Completes rows that lack a channel, 0 ... 7.
    mutating func fill(channel: Int, firstN: Int64, values: [Int32]) {
        fills.append(ChannelFill(stream: stream, channel: channel + 1, firstN: firstN, values: values))
    }

    /// What has come since the last time, or since the last batch was taken; it stays here for the batch.
    ///
    /// - Parameter rowMaximum: so many rows at most are in one of the runs.
    mutating func takeFollowed(rowMaximum: Int) -> (rows: [FollowedRows], fills: [ChannelFill]) {
        var taken: [FollowedRows] = []
        while followed.runs < rows.count {
            let run = rows[followed.runs]
            let count = min(run.rowCount - followed.rows, rowMaximum)
            if count > 0 {
                taken.append(followedRows(of: run, followed.rows..<followed.rows + count))
                followed.rows += count
            }
            // The last run may grow.
            guard followed.rows == run.rowCount, followed.runs < rows.count - 1 else {
                if followed.rows < run.rowCount { continue }
                break
            }
            (followed.runs, followed.rows) = (followed.runs + 1, 0)
        }
        defer { followed.fills = fills.count }
        return (taken, Array(fills[followed.fills...]))
    }

    private mutating func followedRows(of run: SampleRows, _ range: Range<Int>) -> FollowedRows {
        let firstN = run.firstN + Int64(range.lowerBound)
        defer { takenEnd = max(takenEnd, firstN + Int64(range.count)) }
        let values = run.values[range.lowerBound * channelCount..<range.upperBound * channelCount]
        return FollowedRows(
            rows: SampleRows(
                stream: stream, channelCount: channelCount, firstN: firstN, values: Array(values),
                missingChannels: run.missingChannels.isEmpty ? [] : Array(run.missingChannels[range])),
            isLate: firstN < takenEnd)
    }

    /// Moves everything into a batch.
    mutating func move(into batch: inout WriteBatch) {
        followed = (0, 0, 0)
        for run in rows { takenEnd = max(takenEnd, run.firstN + Int64(run.rowCount)) }
        batch.samples += rows
        batch.changes += fills.map(Change.fill)
        rows.removeAll()
        fills.removeAll()
        rowCount = 0
    }
}

/// Rows as whoever follows gets them.
package struct FollowedRows: Sendable {
    package var rows: SampleRows
    /// True for rows below ones that came before.
    package var isLate: Bool
}
