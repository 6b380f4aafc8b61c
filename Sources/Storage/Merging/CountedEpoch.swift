import GRDB

/// An epoch whose samples the headset itself counts, since a boot that it names.
struct CountedEpoch {
    var number: Int64
    var bootIdentifier: Int64
    var firstN: Int64
    var lastN: Int64
    /// The headset's index minus n.
    var shift: Int64
    /// True where no other epoch of the stream names the same boot.
    var isOnly: Bool

    /// Those of a stream. One whose counter has wrapped is none: what it says holds up to whole wraps only.
    static func all(of stream: Int64, in db: Database) throws -> [CountedEpoch] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT number, boot_identifier, first_n, last_n, first_index - first_n, namesakes = 1 FROM (
                    SELECT e.*, st.counter_modulus * st.samples_per_count AS indexes,
                        coalesce(lead(e.first_n) OVER (ORDER BY e.number) - 1,
                            (SELECT max(n) FROM sample WHERE stream_id = e.stream_id)) AS last_n,
                        count(*) OVER (PARTITION BY e.boot_identifier) AS namesakes
                    FROM epoch AS e JOIN stream AS st ON st.id = e.stream_id WHERE e.stream_id = ?)
                WHERE boot_identifier IS NOT NULL AND last_n >= first_n AND first_index >= 0
                    AND first_index + (last_n - first_n) < indexes
                ORDER BY number
                """, arguments: [stream]
        ).map {
            CountedEpoch(
                number: $0[0], bootIdentifier: $0[1], firstN: $0[2], lastN: $0[3], shift: $0[4], isOnly: $0[5])
        }
    }
}

/// One boot of the headset in an epoch of each of two streams.
struct EpochPair {
    var first: CountedEpoch
    var second: CountedEpoch

    /// What is added to an n of the first one to get that of the same sample in the second one.
    var shift: Int64 { first.shift - second.shift }

    /// Which n of the first one lie in the second one, too; nil where none does.
    var shared: ClosedRange<Int64>? {
        let (begin, end) = (max(first.firstN, second.firstN - shift), min(first.lastN, second.lastN - shift))
        return begin <= end ? begin...end : nil
    }

    /// The same, the other way round.
    var reversed: EpochPair { EpochPair(first: second, second: first) }
}
