/// Consecutive new rows of one stream.
public struct SampleRows: Hashable, Sendable {
    public var stream: StreamID
    /// 1 ... 8.
    public var channelCount: Int
    /// The n of the first row; the others follow without a gap.
    public var firstN: Int64
    /// Raw values: row after row, `channelCount` values each.
    public var values: [Int32]
    /// Per row a bit set of the channels that are NULL (bit 0 = channel 1); empty where no channel of any row is missing.
    public var missingChannels: [UInt8]

    public init(stream: StreamID, channelCount: Int, firstN: Int64, values: [Int32], missingChannels: [UInt8] = []) {
        self.stream = stream
        self.channelCount = channelCount
        self.firstN = firstN
        self.values = values
        self.missingChannels = missingChannels
    }

    /// The number of rows.
    public var rowCount: Int { values.count / channelCount }
}

/// Values of one channel for rows that were stored without it.
public struct ChannelFill: Hashable, Sendable {
    public var stream: StreamID
    /// 1 ... 8.
    public var channel: Int
    public var firstN: Int64
    public var values: [Int32]

    public init(stream: StreamID, channel: Int, firstN: Int64, values: [Int32]) {
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
    }
}
