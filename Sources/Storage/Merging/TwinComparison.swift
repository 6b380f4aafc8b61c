import GRDB

/// What two recordings of one headset, made by two machines or by two databases, have of the same samples.
///
/// They are the same where the headset itself says so: its random boot identifier is the same in an epoch of both, and its
/// counter, which did not wrap in either, gives the same index. Both recordings stay as they are.
package struct TwinComparison: Hashable, Sendable {
    /// The numbers of the recordings here; the first one is of the other database.
    package var recording: Int64
    package var other: Int64
    package var headset: String
    package var stream: String
    package var bank: Int
    /// Samples that both have.
    package var shared: Int64
    /// Of these, samples of which a value that both have is another one, and the first and the last n of the first recording.
    package var differing: Int64
    package var firstDiffering: Int64?
    package var lastDiffering: Int64?

    /// Compares a recording with all others of its headset.
    ///
    /// - Parameter excluded: UUIDs of recordings with which it is not compared, as they come from the same database.
    static func all(of recording: Int64, except excluded: Set<String>, in db: Database) throws -> [TwinComparison] {
        let pairs = try Row.fetchAll(
            db,
            sql: """
                SELECT a.id AS a, b.id AS b, q.id AS recording, q.uuid AS uuid, h.name AS headset, a.name AS name,
                    a.bank AS bank, a.channel_count AS channel_count
                FROM recording AS r JOIN recording AS q ON q.headset_id = r.headset_id AND q.id <> r.id
                JOIN headset AS h ON h.id = r.headset_id
                JOIN stream AS a ON a.recording_id = r.id
                JOIN stream AS b ON b.recording_id = q.id AND b.name = a.name AND b.bank = a.bank
                    AND b.channel_count = a.channel_count AND b.samples_per_count = a.samples_per_count
                    AND b.counter_modulus = a.counter_modulus
                WHERE r.id = ? AND q.id NOT IN (SELECT recording_id FROM deletion) ORDER BY q.id, a.id
                """, arguments: [recording])
        return try pairs.compactMap { pair in
            if excluded.contains(pair["uuid"]) { return nil }
            var twin = TwinComparison(
                recording: recording, other: pair["recording"], headset: pair["headset"], stream: pair["name"],
                bank: pair["bank"], shared: 0, differing: 0)
            let (one, other) = (try CountedEpoch.all(of: pair["a"], in: db), try CountedEpoch.all(of: pair["b"], in: db))
            for epoch in one {
                for second in other where second.bootIdentifier == epoch.bootIdentifier {
                    try twin.add(epoch, second, pair["a"], pair["b"], channelCount: pair["channel_count"], in: db)
                }
            }
            return twin.shared > 0 ? twin : nil
        }
    }

    private mutating func add(
        _ epoch: CountedEpoch, _ second: CountedEpoch, _ stream: Int64, _ other: Int64, channelCount: Int, in db: Database
    ) throws {
        let differs = (1...channelCount).map { "coalesce(a.c\($0) <> b.c\($0), 0)" }.joined(separator: " OR ")
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), coalesce(sum(differs), 0), min(n) FILTER (WHERE differs), max(n) FILTER (WHERE differs)
                FROM (
                    SELECT a.n AS n, \(differs) AS differs FROM sample AS a
                    JOIN sample AS b ON b.stream_id = ?2 AND b.n = a.n + ?3 AND b.n BETWEEN ?6 AND ?7
                    WHERE a.stream_id = ?1 AND a.n BETWEEN ?4 AND ?5)
                """,
            arguments: [
                stream, other, epoch.shift - second.shift, epoch.firstN, epoch.lastN, second.firstN, second.lastN,
            ])
        guard let row else { return }
        shared += row[0] as Int64
        differing += row[1] as Int64
        firstDiffering = [firstDiffering, row[2]].compactMap(\.self).min()
        lastDiffering = [lastDiffering, row[3]].compactMap(\.self).max()
    }
}

/// An epoch whose samples the headset itself counts, since a boot that it names.
struct CountedEpoch {
    var bootIdentifier: Int64
    var firstN: Int64
    var lastN: Int64
    /// The headset's index minus n.
    var shift: Int64

    /// Those of a stream. One whose counter has wrapped is none: what it says holds up to whole wraps only.
    static func all(of stream: Int64, in db: Database) throws -> [CountedEpoch] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT boot_identifier, first_n, last_n, first_index - first_n FROM (
                    SELECT e.*, st.counter_modulus * st.samples_per_count AS indexes,
                        coalesce(lead(e.first_n) OVER (ORDER BY e.number) - 1,
                            (SELECT max(n) FROM sample WHERE stream_id = e.stream_id)) AS last_n
                    FROM epoch AS e JOIN stream AS st ON st.id = e.stream_id WHERE e.stream_id = ?)
                WHERE boot_identifier IS NOT NULL AND last_n >= first_n AND first_index >= 0
                    AND first_index + (last_n - first_n) < indexes
                """, arguments: [stream]
        ).map { CountedEpoch(bootIdentifier: $0[0], firstN: $0[1], lastN: $0[2], shift: $0[3]) }
    }
}
