import GRDB

/// A stream that both databases have. What only the other one has comes in where it lies in a gap, or beyond what is here; what
/// both have must agree.
struct StreamUnion {
    let source: Database
    let db: Database
    let origin: MergeOrigin
    let keys: MergedKeys
    /// Its keys there and here.
    let there: Int64
    let here: StreamID
    let channelCount: Int
    /// The last n that is proven to be the same sample in both.
    let lastN: Int64

    /// - Parameter row: of the table `stream` there.
    static func run(
        _ row: Row, as here: Int64, from source: Database, to db: Database, origin: MergeOrigin, keys: MergedKeys
    ) throws -> MergedStream {
        let there: Int64 = row["id"]
        try requireSameChannels(there, in: source, here, in: db)
        var report = MergedStream(row)
        report.unprovenFrom = try SharedNumbers(source: source, db: db).end(of: there, as: here)
        let union = StreamUnion(
            source: source, db: db, origin: origin, keys: keys, there: there, here: StreamID(rawValue: here),
            channelCount: row["channel_count"], lastN: report.unprovenFrom.map { $0 - 1 } ?? .max)
        report.unproven =
            try Int64.fetchOne(
                source, sql: "SELECT count(*) FROM sample WHERE stream_id = ? AND n > ?", arguments: [there, union.lastN]) ?? 0
        let ledger = try UnitedLedger(union)
        let changes = try union.uniteRows(into: &report)
        try ledger.follow(changes, into: &report)
        try UnitedTimes(union: union, covered: ledger.covered).run(into: &report)
        return report
    }

    /// The same stream has the same channels, whatever people have corrected since.
    private static func requireSameChannels(_ there: Int64, in source: Database, _ here: Int64, in db: Database) throws {
        func described(_ stream: Int64, _ db: Database) throws -> [Row] {
            try Row.fetchAll(
                db,
                sql: """
                    SELECT st.name, st.bank, st.sampling_frequency, st.samples_per_count, st.counter_modulus, st.channel_count,
                        d.number, d.name, d.unit, d.scale, d."offset"
                    FROM stream AS st JOIN channel_declaration AS d ON d.stream_id = st.id WHERE st.id = ? ORDER BY d.number
                    """, arguments: [stream])
        }
        let (one, other) = (try described(there, source), try described(here, db))
        guard one == other else {
            throw StorageError.refused(
                reason: "a stream of the same UUID (\(one.first?[0] as String? ?? "?")) has other channels there")
        }
    }

    /// What was done to rows, of which the ledger hears.
    struct Changes {
        /// Channels that rows which came in lack: channel, first n and how many.
        var lacking: [(channel: Int, firstN: Int64, count: Int64)] = []
        /// Channels of which rows were given values.
        var filledChannels: Set<Int> = []
        var taken: Int64 = 0
    }

    /// Compares all rows of the other database with those that are here.
    private func uniteRows(into report: inout MergedStream) throws -> Changes {
        var changes = Changes()
        let blocks = BlockInsertion(db: db)
        let aside = KeptAside(db: db, stream: here.rawValue, channelCount: channelCount, origin: origin)
        var next: Int64? = .min
        while let first = next, first <= lastN {
            let others = try StoredRows(of: there, channelCount: channelCount, in: first...lastN, from: source)
            guard let begin = others.n.first, let end = others.n.last else { break }
            let own = try StoredRows(
                of: here.rawValue, channelCount: channelCount, in: begin...end, limit: Int.max, from: db)
            var comparison = RowComparison(channelCount: channelCount)
            comparison.compare(others, with: own)
            try take(comparison.new, of: others, blocks, &changes)
            try fill(comparison.fills, blocks, &changes)
            report.keptAside += try aside.keep(comparison.differing, of: others)
            report.equal += comparison.equal
            report.filled += comparison.fills.reduce(0) { $0 + Int64($1.values.count) }
            report.differing += Int64(comparison.differing.count)
            report.firstDiffering = report.firstDiffering ?? comparison.differing.first.map { others.n[$0] }
            report.lastDiffering = comparison.differing.last.map { others.n[$0] } ?? report.lastDiffering
            next = end == .max ? nil : end + 1
        }
        try blocks.save()
        report.taken = changes.taken
        return changes
    }

    private func take(
        _ runs: [Range<Int>], of others: StoredRows, _ blocks: BlockInsertion, _ changes: inout Changes
    ) throws {
        let samples = SampleInsertion(db: db)
        for run in runs {
            let rows = others.rows(run, as: here)
            try samples.insert(rows)
            try blocks.append(rows)
            changes.taken += Int64(run.count)
            for channel in 1...channelCount where !rows.missingChannels.isEmpty {
                for piece in others.runs(where: { run.contains($0) && others.missing[$0] & (1 << UInt8(channel - 1)) != 0 }) {
                    changes.lacking.append((channel, others.n[piece.lowerBound], Int64(piece.count)))
                }
            }
        }
    }

    private func fill(
        _ fills: [RowComparison.Fill], _ blocks: BlockInsertion, _ changes: inout Changes
    ) throws {
        let samples = SampleInsertion(db: db)
        for fill in fills {
            let values = ChannelFill(stream: here, channel: fill.channel, firstN: fill.firstN, values: fill.values)
            try samples.fill(values)
            try blocks.append(values)
            changes.filledChannels.insert(fill.channel)
        }
    }
}
