/// Consecutive new rows of one stream.
package struct SampleRows: Hashable, Sendable, Codable {
    package var stream: StreamID
    /// 1 ... 8.
    package var channelCount: Int
    /// The n of the first row; the others follow without a gap.
    package var firstN: Int64
    /// Raw values: row after row, `channelCount` values each.
    package var values: [Int32]
    /// Per row a bit set of the channels that are NULL (bit 0 = channel 1); empty where no channel of any row is missing.
    package var missingChannels: [UInt8]

    package init(stream: StreamID, channelCount: Int, firstN: Int64, values: [Int32], missingChannels: [UInt8] = []) {
        self.stream = stream
        self.channelCount = channelCount
        self.firstN = firstN
        self.values = values
        self.missingChannels = missingChannels
    }

    /// The number of rows.
    package var rowCount: Int { values.count / channelCount }
}

/// Values of one channel for rows that were stored without it.
package struct ChannelFill: Hashable, Sendable, Codable {
    package var stream: StreamID
    /// 1 ... 8.
    package var channel: Int
    package var firstN: Int64
    package var values: [Int32]

    package init(stream: StreamID, channel: Int, firstN: Int64, values: [Int32]) {
        self.stream = stream
        self.channel = channel
        self.firstN = firstN
        self.values = values
    }
}

extension ChannelFill: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    /// A row that is not there, or has the channel, is an error.
    func write(in transaction: BatchTransaction) throws {
        try SampleInsertion(db: transaction.db).fill(self)
        try transaction.blocks.append(self)
    }
}
