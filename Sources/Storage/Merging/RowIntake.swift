import GRDB

/// What was done to rows of a stream, of which the ledger hears.
struct RowChanges {
    /// Channels that rows which came in lack: channel, first n and how many.
    var lacking: [(channel: Int, firstN: Int64, count: Int64)] = []
    /// Channels of which rows were given values.
    var filledChannels: Set<Int> = []
    /// Rows that came in.
    var taken: Int64 = 0
    /// Values of single channels that rows were given.
    var filled: Int64 = 0
}

/// Rows of another stream with the same samples come in to one that lacks them, and values of single channels to rows that lack
/// these. What comes behind later rows forms blocks of the late chain. A row that is here stays as it is.
struct RowIntake {
    /// The other stream.
    let source: Database
    let there: Int64
    /// What is added to an n of the other stream to get that of the same sample here.
    let shift: Int64
    let db: Database
    let here: StreamID
    let channelCount: Int
    private let blocks: BlockInsertion
    /// What was done so far.
    private(set) var changes = RowChanges()

    init(source: Database, there: Int64, shift: Int64 = 0, db: Database, here: StreamID, channelCount: Int) {
        (self.source, self.there, self.shift) = (source, there, shift)
        (self.db, self.here, self.channelCount) = (db, here, channelCount)
        blocks = BlockInsertion(db: db)
    }

    /// Compares all rows of the other stream with those that are here, and takes what is new.
    ///
    /// - Parameters:
    ///   - range: of n here.
    ///   - body: gets each comparison, and the rows that were compared, under their n here.
    mutating func take(
        in range: ClosedRange<Int64>, _ body: (RowComparison, StoredRows) throws -> Void = { _, _ in }
    ) throws {
        var next: Int64? = range.lowerBound
        while let first = next, first <= range.upperBound {
            let others = try StoredRows(
                of: there, channelCount: channelCount, in: first...range.upperBound, shift: shift, from: source)
            guard let begin = others.n.first, let end = others.n.last else { return }
            let own = try StoredRows(
                of: here.rawValue, channelCount: channelCount, in: begin...end, limit: Int.max, from: db)
            var comparison = RowComparison(channelCount: channelCount)
            comparison.compare(others, with: own)
            try take(comparison.new, of: others)
            try fill(comparison.fills)
            try body(comparison, others)
            next = end == .max ? nil : end + 1
        }
    }

    /// Writes the blocks that go on. Nothing is taken any more.
    func save() throws { try blocks.save() }

    private mutating func take(_ runs: [Range<Int>], of others: StoredRows) throws {
        let samples = SampleInsertion(db: db)
        for run in runs {
            let rows = others.rows(run, as: here)
            try samples.insert(rows)
            try blocks.append(rows)
            changes.taken += Int64(run.count)
            for channel in 1...channelCount where !rows.missingChannels.isEmpty {
                for piece in others.runs(in: run, where: { others.missing[$0] & (1 << UInt8(channel - 1)) != 0 }) {
                    changes.lacking.append((channel, others.n[piece.lowerBound], Int64(piece.count)))
                }
            }
        }
    }

    private mutating func fill(_ fills: [RowComparison.Fill]) throws {
        let samples = SampleInsertion(db: db)
        for fill in fills {
            let values = ChannelFill(stream: here, channel: fill.channel, firstN: fill.firstN, values: fill.values)
            try samples.fill(values)
            try blocks.append(values)
            changes.filledChannels.insert(fill.channel)
            changes.filled += Int64(fill.values.count)
        }
    }
}
