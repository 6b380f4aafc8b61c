import GRDB

/// Epochs, time map and its evidence of a stream after rows of another database came in. The time map that is here stays; where
/// it has no piece, the other one's holds.
struct UnitedTimes {
    let union: StreamUnion
    /// What rows and gaps covered here before.
    let covered: ClosedRange<Int64>?

    private var db: Database { union.db }
    private var here: Int64 { union.here.rawValue }

    private static let insertion = """
        INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns, period_ns,
            residual_ns, observation_count, uncertainty_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (stream_id, first_n) DO UPDATE SET last_n = excluded.last_n, reference_n = excluded.reference_n,
            reference_boottime_ns = excluded.reference_boottime_ns, period_ns = excluded.period_ns,
            residual_ns = excluded.residual_ns, observation_count = excluded.observation_count,
            uncertainty_ns = excluded.uncertainty_ns
        """

    func run(into report: inout MergedStream) throws {
        report.facts += try bringEpochs()
        let new = try bringSegments()
        report.facts += Int64(new.count)
        for range in new { report.facts += try bringArrivals(in: range) }
        report.facts += try bring(
            "loss_detection", "t.first_n > \(covered?.upperBound ?? .min) AND t.first_n <= \(union.lastN)", key: "first_n")
        report.facts += try bring("signal_check", "t.last_n <= \(union.lastN)", key: "channel, first_n")
    }

    private func bringEpochs() throws -> Int64 {
        try bring("epoch", "t.first_n <= \(union.lastN)", key: "number")
    }

    /// Inserts rows whose key is not there.
    private func bring(_ table: String, _ condition: String, key: String) throws -> Int64 {
        let identity = Set(key.split(separator: ", ").map(String.init))
        var keys = union.keys
        return try MergedTable(
            name: table, condition: "t.stream_id = ?1 AND \(condition)", here: "t.stream_id = ?1", identity: identity
        ).copy(of: union.there, from: union.source, to: db, as: here, keys: &keys)
    }

    /// Brings what the time map here does not cover.
    ///
    /// - Returns: for which n.
    private func bringSegments() throws -> [ClosedRange<Int64>] {
        let theirs = try Row.fetchAll(
            union.source, sql: "SELECT * FROM segment WHERE stream_id = ? AND first_n <= ? ORDER BY first_n",
            arguments: [union.there, union.lastN])
        var own = try Row.fetchAll(
            db, sql: "SELECT first_n, last_n, epoch, host_boot_id FROM segment WHERE stream_id = ? ORDER BY first_n",
            arguments: [here]
        ).map { OwnSegment(firstN: $0[0], lastN: $0[1], epoch: $0[2], hostBoot: $0[3]) }
        var new: [ClosedRange<Int64>] = []
        for segment in theirs {
            let (first, last): (Int64, Int64) = (segment["first_n"], min(segment["last_n"], union.lastN))
            let boot = try union.keys.value(segment["host_boot_id"], of: "host_boot_id")
            let same = own.firstIndex {
                $0.firstN == first && $0.epoch == segment["epoch"] && $0.hostBoot.databaseValue == boot && $0.lastN < last
            }
            if let same, same == own.count - 1 || own[same + 1].firstN > last {
                // It is the same piece, which was recorded further there.
                try insert(segment, boot, first...last)
                new.append(own[same].lastN + 1...last)
                own[same].lastN = last
                continue
            }
            for range in Self.uncovered(first...last, by: own.map { $0.firstN...$0.lastN }) {
                try insert(segment, boot, range)
                new.append(range)
            }
        }
        return new
    }

    private struct OwnSegment {
        var firstN: Int64
        var lastN: Int64
        var epoch: Int64
        var hostBoot: Int64
    }

    /// The parts of a range that lie in none of others, which ascend and do not overlap.
    static func uncovered(_ range: ClosedRange<Int64>, by others: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        var (parts, next): ([ClosedRange<Int64>], Int64) = ([], range.lowerBound)
        for other in others where other.overlaps(range) {
            if other.lowerBound > next { parts.append(next...other.lowerBound - 1) }
            guard other.upperBound < range.upperBound else { return parts }
            next = max(next, other.upperBound + 1)
        }
        return parts + [next...range.upperBound]
    }

    private func insert(_ segment: Row, _ boot: DatabaseValue, _ range: ClosedRange<Int64>) throws {
        try db.cachedStatement(sql: Self.insertion).execute(arguments: [
            here, range.lowerBound, range.upperBound, segment["epoch"] as Int64, boot, segment["reference_n"] as Int64,
            segment["reference_boottime_ns"] as Int64, segment["period_ns"] as Double, segment["residual_ns"] as Double?,
            segment["observation_count"] as Int64, segment["uncertainty_ns"] as Double?,
        ])
    }

    /// Arrivals are on the clock of the boot of their segment, so they come with it.
    private func bringArrivals(in range: ClosedRange<Int64>) throws -> Int64 {
        var keys = union.keys
        return try MergedTable(
            name: "arrival", condition: "t.stream_id = ?1 AND t.n BETWEEN \(range.lowerBound) AND \(range.upperBound)",
            here: "t.stream_id = ?1 AND t.n BETWEEN \(range.lowerBound) AND \(range.upperBound)", identity: ["n"]
        ).copy(of: union.there, from: union.source, to: db, as: here, keys: &keys)
    }
}
