import GRDB

/// A stream of a recording that has come in, and that of its twin: which epochs of theirs are of one boot of the headset, and
/// what both have of it.
struct TwinStreams {
    /// Their keys.
    let first: Int64
    let second: Int64
    let channelCount: Int
    /// Epochs of both in which no sample differs.
    private(set) var agreeing: [EpochPair] = []
    /// Boots in which one does.
    private(set) var disputed: Set<Int64> = []
    var comparison: TwinComparison

    /// The streams of two recordings that have the same name, bank, channels and counter, compared.
    static func all(of recording: Int64, and other: Int64, in db: Database) throws -> [TwinStreams] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT a.id AS a, b.id AS b, a.name AS name, a.bank AS bank, a.channel_count AS channel_count,
                    (SELECT h.name FROM headset AS h JOIN recording AS r ON r.headset_id = h.id WHERE r.id = ?1) AS headset
                FROM stream AS a JOIN stream AS b ON b.recording_id = ?2 AND b.name = a.name AND b.bank = a.bank
                    AND b.channel_count = a.channel_count AND b.samples_per_count = a.samples_per_count
                    AND b.counter_modulus = a.counter_modulus
                WHERE a.recording_id = ?1 ORDER BY a.id
                """, arguments: [recording, other]
        ).map { row in
            try TwinStreams(
                row,
                TwinComparison(
                    recording: recording, other: other, headset: row["headset"], stream: row["name"], bank: row["bank"]),
                in: db)
        }
    }

    private init(_ row: Row, _ comparison: TwinComparison, in db: Database) throws {
        (first, second, channelCount) = (row["a"], row["b"], row["channel_count"])
        self.comparison = comparison
        let others = try CountedEpoch.all(of: second, in: db)
        for epoch in try CountedEpoch.all(of: first, in: db) {
            for other in others where other.bootIdentifier == epoch.bootIdentifier {
                try compare(EpochPair(first: epoch, second: other), in: db)
            }
        }
    }

    private mutating func compare(_ pair: EpochPair, in db: Database) throws {
        guard let range = pair.shared else { return }
        let differs = (1...channelCount).map { "coalesce(a.c\($0) <> b.c\($0), 0)" }.joined(separator: " OR ")
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), coalesce(sum(differs), 0), min(n) FILTER (WHERE differs), max(n) FILTER (WHERE differs)
                FROM (
                    SELECT a.n AS n, \(differs) AS differs FROM sample AS a
                    JOIN sample AS b ON b.stream_id = ?2 AND b.n = a.n + ?3
                    WHERE a.stream_id = ?1 AND a.n BETWEEN ?4 AND ?5)
                """, arguments: [first, second, pair.shift, range.lowerBound, range.upperBound])
        guard let row else { return }
        let count: Int64 = row[1]
        comparison.shared += row[0] as Int64
        comparison.differing += count
        comparison.firstDiffering = [comparison.firstDiffering, row[2]].compactMap(\.self).min()
        comparison.lastDiffering = [comparison.lastDiffering, row[3]].compactMap(\.self).max()
        if count > 0 {
            disputed.insert(pair.first.bootIdentifier)
        } else if pair.first.isOnly, pair.second.isOnly {
            agreeing.append(pair)
        }
    }
}
