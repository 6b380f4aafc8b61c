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

    /// What the headset declared of a stream and its channels, whatever people have corrected since.
    static func declaration(of stream: Int64, in db: Database) throws -> [Row] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT st.name, st.bank, st.sampling_frequency, st.samples_per_count, st.counter_modulus, st.channel_count,
                    d.number, d.name, d.unit, d.scale, d."offset"
                FROM stream AS st JOIN channel_declaration AS d ON d.stream_id = st.id WHERE st.id = ? ORDER BY d.number
                """, arguments: [stream])
    }

    /// The same stream has the same channels.
    private static func requireSameChannels(_ there: Int64, in source: Database, _ here: Int64, in db: Database) throws {
        let (one, other) = (try declaration(of: there, in: source), try declaration(of: here, in: db))
        guard one == other else {
            throw StorageError.refused(
                reason: "a stream of the same UUID (\(one.first?[0] as String? ?? "?")) has other channels there")
        }
    }

    /// Compares all rows of the other database with those that are here.
    private func uniteRows(into report: inout MergedStream) throws -> RowChanges {
        var intake = RowIntake(source: source, there: there, db: db, here: here, channelCount: channelCount)
        let aside = KeptAside(db: db, stream: here.rawValue, channelCount: channelCount, origin: origin)
        try intake.take(in: Int64.min...lastN) { comparison, others in
            report.keptAside += try aside.keep(comparison.differing, of: others)
            report.equal += comparison.equal
            report.differing += Int64(comparison.differing.count)
            report.firstDiffering = report.firstDiffering ?? comparison.differing.first.map { others.n[$0] }
            report.lastDiffering = comparison.differing.last.map { others.n[$0] } ?? report.lastDiffering
        }
        try intake.save()
        report.taken = intake.changes.taken
        report.filled = intake.changes.filled
        return intake.changes
    }
}
