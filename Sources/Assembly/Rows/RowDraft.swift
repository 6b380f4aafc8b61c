import Storage

/// The rows that one stream has to write since the last batch was taken.
package struct RowDraft: Sendable {
    private let stream: StreamID
    private let channelCount: Int
    /// Runs of consecutive n.
    private var rows: [SampleRows] = []
    private var fills: [ChannelFill] = []
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

    /// Moves everything into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.samples += rows
        batch.changes += fills.map(Change.fill)
        rows.removeAll()
        fills.removeAll()
        rowCount = 0
    }
}
