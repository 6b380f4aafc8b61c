import GRDB

/// Up to where the numbers of two copies of one stream mean the same samples.
///
/// Both go back to one database. As long as both have the same epochs (number, boot of the headset, first n and first index
/// of its counter, and when it was noticed), n counts the same. Within one epoch, what two boots of hosts have recorded is
/// compared only where the headset says which boot of its own it is: a counter without it may have begun anew unseen.
struct SharedNumbers {
    let source: Database
    let db: Database

    /// The first n of which it is not proven; nil where it is of all.
    func end(of there: Int64, as here: Int64) throws -> Int64? {
        let (epochsThere, epochsHere) = (try Epoch.all(of: there, in: source), try Epoch.all(of: here, in: db))
        let other = epochsThere.compactMap { number, epoch in
            epochsHere[number].flatMap { $0 == epoch ? nil : min($0.firstN, epoch.firstN) }
        }.min()
        let piece = Self.firstContradiction(
            try Piece.all(of: there, in: source), try Piece.all(of: here, in: db))
        return [other, piece].compactMap(\.self).min()
    }

    /// The first n that lies in a piece of both which does not say the same of it.
    static func firstContradiction(_ some: [Piece], _ others: [Piece]) -> Int64? {
        var (first, second) = (0, 0)
        while first < some.count, second < others.count {
            let (one, other) = (some[first], others[second])
            let overlap = max(one.firstN, other.firstN)
            if overlap <= min(one.lastN, other.lastN), !one.agrees(with: other) { return overlap }
            if one.lastN <= other.lastN { first += 1 } else { second += 1 }
        }
        return nil
    }

    /// One run of the headset's counter.
    private struct Epoch: Equatable {
        var bootIdentifier: Int64?
        var firstN: Int64
        var firstIndex: Int64
        var hostBoot: String
        var boottime: Int64

        static func all(of stream: Int64, in db: Database) throws -> [Int64: Epoch] {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT e.*, b.uuid FROM epoch AS e JOIN host_boot AS b ON b.id = e.host_boot_id WHERE e.stream_id = ?
                    """, arguments: [stream])
            return Dictionary(
                rows.map { row in
                    let epoch = Epoch(
                        bootIdentifier: row["boot_identifier"], firstN: row["first_n"], firstIndex: row["first_index"],
                        hostBoot: row["uuid"], boottime: row["boottime_ns"])
                    return (row["number"] as Int64, epoch)
                }
            ) { first, _ in first }
        }
    }

    /// A piece of the time map: numbers of one epoch, recorded in one boot of a host.
    struct Piece: Hashable {
        var firstN: Int64
        var lastN: Int64
        var epoch: Int64
        var hostBoot: String
        /// True where the headset counts, says since which boot of its own, and has not counted round in the epoch.
        var isCounted: Bool

        func agrees(with other: Piece) -> Bool {
            epoch == other.epoch && (hostBoot == other.hostBoot || isCounted && other.isCounted)
        }

        static func all(of stream: Int64, in db: Database) throws -> [Piece] {
            try Row.fetchAll(
                db,
                sql: """
                    SELECT g.first_n, g.last_n, g.epoch, b.uuid, e.boot_identifier IS NOT NULL AND coalesce(
                        max(g.last_n) OVER (PARTITION BY g.epoch) - e.first_n < st.counter_modulus * st.samples_per_count, 0)
                    FROM segment AS g JOIN stream AS st ON st.id = g.stream_id
                    JOIN epoch AS e ON e.stream_id = g.stream_id AND e.number = g.epoch
                    JOIN host_boot AS b ON b.id = g.host_boot_id
                    WHERE g.stream_id = ? ORDER BY g.first_n
                    """, arguments: [stream]
            ).map { Piece(firstN: $0[0], lastN: $0[1], epoch: $0[2], hostBoot: $0[3], isCounted: $0[4]) }
        }
    }
}
