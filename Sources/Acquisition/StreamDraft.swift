import Bluetooth
import Storage

/// What one stream has to write since the last batch was taken.
struct StreamDraft: Sendable {
    private let stream: StreamID
    private let channelCount: Int
    /// Rows, as runs of consecutive n.
    private(set) var rows: [SampleRows] = []
    private(set) var rowCount = 0
    var fills: [ChannelFill] = []
    var ledger: LedgerDraft
    var epochs: [EpochRecord] = []
    var segments: [SegmentRecord] = []
    var arrivals: [ArrivalRecord] = []
    var lossDetections: [LossDetectionRecord] = []

    init(stream: StreamID, channelCount: Int) {
        self.stream = stream
        self.channelCount = channelCount
        ledger = LedgerDraft(stream: stream)
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

    /// Moves everything into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.epochs += epochs
        batch.samples += rows
        batch.fills += fills
        batch.ledger += ledger.take()
        batch.segments += segments
        batch.arrivals += arrivals
        batch.lossDetections += lossDetections
        epochs.removeAll()
        rows.removeAll()
        fills.removeAll()
        segments.removeAll()
        arrivals.removeAll()
        lossDetections.removeAll()
        rowCount = 0
    }
}
