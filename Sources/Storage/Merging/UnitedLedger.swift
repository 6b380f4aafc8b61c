import GRDB

/// The ledger of a stream after rows of another database came in: every n between the first and the last is a row, or is said
/// to be missing.
struct UnitedLedger {
    private let union: StreamUnion
    /// What rows and gaps of a known length covered before; nil where there was nothing.
    let covered: ClosedRange<Int64>?
    /// Where the gap begins whose end was not known before.
    private let openFirstN: Int64?
    /// The last row that was here before; nil where there was none.
    private let lastN: Int64?
    /// True where the acquisition had ended the recording here.
    private let hasEnded: Bool

    private var db: Database { union.db }
    private var here: Int64 { union.here.rawValue }
    /// What rows that came in change of gaps.
    private var late: LateLedger {
        LateLedger(source: union.source, there: union.there, db: db, here: here, keys: union.keys)
    }

    /// Looks at the ledger before anything changes.
    init(_ union: StreamUnion) throws {
        self.union = union
        covered = try Self.extent(of: union.here.rawValue, through: .max, in: union.db)
        openFirstN = try Int64.fetchOne(
            union.db, sql: "SELECT first_n FROM gap WHERE stream_id = ? AND channel = 0 AND count IS NULL",
            arguments: [union.here.rawValue])
        lastN = try Self.lastRow(of: union.here.rawValue, in: union.db)
        // One that came from a file ends here with what the file had when it came.
        hasEnded =
            try Bool.fetchOne(
                union.db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM recording WHERE id = (SELECT recording_id FROM stream WHERE id = ?)
                        AND stopped_host_boot_id IS NOT NULL AND id NOT IN (SELECT recording_id FROM merged_recording))
                    """, arguments: [union.here.rawValue]) ?? false
    }

    private static func lastRow(of stream: Int64, in db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [stream])
    }

    /// What rows and gaps of a known length cover, up to some n.
    private static func extent(of stream: Int64, through lastN: Int64, in db: Database) throws -> ClosedRange<Int64>? {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT min(first), max(last) FROM (
                    SELECT min(n) AS first, max(n) AS last FROM sample WHERE stream_id = ?1 AND n <= ?2
                    UNION ALL SELECT min(first_n), max(first_n + count - 1) FROM gap
                        WHERE stream_id = ?1 AND channel = 0 AND count > 0 AND first_n <= ?2)
                """, arguments: [stream, lastN])
        guard let row, let first: Int64 = row[0], let last: Int64 = row[1] else { return nil }
        return first...max(first, min(last, lastN))
    }

    /// Brings the ledger up to date with what was done to rows.
    func follow(_ changes: RowChanges, into report: inout MergedStream) throws {
        // What is missing there behind the last sample was wanted there alone: the recording here had ended by then.
        let isOver = try hasEnded && lastN == Self.lastRow(of: here, in: db)
        if !isOver { try closeOpenGap(into: &report) }
        try bringGapsBeyond(isOver: isOver, into: &report)
        report.gapsClosed += try late.follow(changes)
    }

    /// A gap whose end was not known ends where the other database goes on: what is missing from there on it says.
    private func closeOpenGap(into report: inout MergedStream) throws {
        guard let openFirstN,
            let there = try Self.extent(of: union.there, through: union.lastN, in: union.source), there.upperBound >= openFirstN
        else { return }
        try db.execute(
            sql: "DELETE FROM gap WHERE stream_id = ? AND channel = 0 AND count IS NULL", arguments: [here])
        report.gapsClosed += 1
    }

    /// Gaps of the other database where here was nothing, cut at what was covered.
    ///
    /// - Parameter isOver: true where those behind the end here are left out.
    private func bringGapsBeyond(isOver: Bool, into report: inout MergedStream) throws {
        let gaps = try Row.fetchAll(
            union.source,
            sql: "SELECT * FROM gap WHERE stream_id = ? AND channel = 0 AND first_n <= ? ORDER BY first_n",
            arguments: [union.there, union.lastN])
        for gap in gaps {
            let (first, count): (Int64, Int64?) = (gap["first_n"], gap["count"])
            guard let count, count > 0 else {
                let isBeyond = covered.map { first > $0.upperBound } ?? true
                if isBeyond, !isOver { try insert(gap, firstN: first, count: count, &report) }
                continue
            }
            let last = min(first + count - 1, union.lastN)
            guard let covered else {
                if !isOver { try insert(gap, firstN: first, count: last - first + 1, &report) }
                continue
            }
            if first < covered.lowerBound {
                try insert(gap, firstN: first, count: min(last, covered.lowerBound - 1) - first + 1, &report)
            }
            if !isOver, last > covered.upperBound {
                let begin = max(first, covered.upperBound + 1)
                try insert(gap, firstN: begin, count: last - begin + 1, &report)
            }
        }
    }

    /// Inserts a gap of the other database, or a part of it, but for one that is there already.
    private func insert(_ gap: Row, firstN: Int64, count: Int64?, _ report: inout MergedStream) throws {
        try late.insert(gap, channel: 0, firstN: firstN, count: count)
        report.facts += Int64(db.changesCount)
    }
}
