import GRDB

/// Rows of a table that grows, of one owner: what of them is at a centre is a number and a count.
package struct RowSeries: Hashable, Sendable {
    package var table: String
    /// See the table `recording_row` of the centre.
    package var owner: String
    package var part: Int64

    package init(table: String, owner: String, part: Int64) { (self.table, self.owner, self.part) = (table, owner, part) }

    /// What is there.
    package struct State: Hashable, Sendable {
        /// The highest number of a row.
        package var last: Int64
        package var count: Int64
        /// False where more rows wait.
        package var isComplete: Bool
        /// Of the last row, good for this process; nil where another one has sent it.
        var lastHash: Int?
        /// Whether this process has compared the count.
        var isCompared = false
        /// Of rows that count repetitions, how many there were when they were sent, by number. Good for this process.
        var repetitions: [Int64: Int64] = [:]
        /// When these rows were looked through last. Good for this process.
        var look = Look.never

        package init(last: Int64, count: Int64, isComplete: Bool) {
            (self.last, self.count, self.isComplete) = (last, count, isComplete)
        }

        /// The same, of which the count is to be compared once more: rows may have come in between.
        package func comparedAgain() -> Self {
            var state = self
            (state.isCompared, state.look) = (false, .never)
            return state
        }

        /// The same, whose rows that count repetitions are to be looked through once more; of a recording that has ended they
        /// count no further.
        package func countedAgain() -> Self {
            var state = self
            if look == .whileOpen { state.look = .never }
            return state
        }

        /// When rows that count repetitions were looked through: all that the recording's headset has, and so not each round.
        enum Look: Hashable {
            /// Not since it was asked for.
            case never
            /// While the recording goes on.
            case whileOpen
            /// Since it has ended.
            case sinceEnd
        }
    }
}

/// What one transaction sends of a series.
package struct SeriesShipment: Hashable, Sendable {
    package var series: RowSeries
    package var after: RowSeries.State
    /// A JSON array; nil where there is nothing to say.
    package var rows: String?
}

/// Reads what is to be sent of the growing tables of a recording, within one snapshot of the database.
struct SeriesReader {
    /// Rows of a series that one transaction sends: an hour and more of arrivals.
    static let rowLimit = 5000

    let db: Database
    private let rowLimit: Int
    private let rows: CarriedRows

    /// - Parameter rows: of the recording.
    init(_ rows: CarriedRows, rowLimit: Int = Self.rowLimit, in db: Database) {
        (self.rows, self.rowLimit, self.db) = (rows, rowLimit, db)
    }

    /// What is to be sent where so much is there.
    ///
    /// - Parameter isEnded: true where nobody records into the recording any more.
    func shipments(after states: [RowSeries: RowSeries.State], isEnded: Bool) throws -> [SeriesShipment] {
        try seriesRows(of: CarriedTable.growing).map {
            try shipment(of: $0, after: states[$0.series], isEnded ? .sinceEnd : .whileOpen)
        }
    }

    /// Up to which row the series of some tables go here, and how many rows they have; none for those without rows.
    func present(of tables: [CarriedTable]) throws -> [RowSeries: RowSeries.State] {
        var states: [RowSeries: RowSeries.State] = [:]
        for rows in try seriesRows(of: tables) {
            let found = try Row.fetchOne(
                db,
                sql: """
                    SELECT max(t.\(rows.table.number)), count(*) FROM \(rows.table.name) AS t
                    WHERE \(rows.table.ofSeries) AND t.\(rows.table.number) >= ?2
                    """, arguments: rows.arguments(.min))
            guard let found, let last = found[0] as Int64? else { continue }
            states[rows.series] = RowSeries.State(last: last, count: found[1], isComplete: true)
        }
        return states
    }

    /// The rows of a series in the database.
    private struct SeriesRows {
        var series: RowSeries
        var table: CarriedTable
        /// `?1`: of the recording, or of the stream.
        var key: Int64

        func arguments(_ number: Int64) -> StatementArguments {
            StatementArguments([key, number] + (table.part == nil ? [] : [series.part]))
        }
    }

    private func seriesRows(of tables: [CarriedTable]) throws -> [SeriesRows] {
        let streams = try SQLRequest<Row>(
            sql: "SELECT id, uuid, channel_count FROM stream WHERE recording_id = ? ORDER BY id",
            arguments: [rows.recording.rawValue], cached: true
        ).fetchAll(db)
        var found: [SeriesRows] = []
        for table in tables {
            guard table.owner == .stream else {
                let series = RowSeries(table: table.name, owner: "", part: 0)
                found.append(SeriesRows(series: series, table: table, key: rows.recording.rawValue))
                continue
            }
            for stream in streams {
                for part in table.part == nil ? 0...0 : 1...(stream["channel_count"] as Int64) {
                    let series = RowSeries(table: table.name, owner: stream["uuid"], part: part)
                    found.append(SeriesRows(series: series, table: table, key: stream["id"]))
                }
            }
        }
        return found
    }

    private func shipment(
        of rows: SeriesRows, after before: RowSeries.State?, _ look: RowSeries.State.Look
    ) throws -> SeriesShipment {
        let (table, condition) = (rows.table, rows.table.ofSeries)
        var before = before
        if let there = before, !there.isCompared {
            let count = try Int64.fetchOne(
                db, sql: "SELECT count(*) FROM \(table.name) AS t WHERE \(condition) AND t.\(table.number) <= ?2",
                arguments: rows.arguments(there.last))
            // Rows have come in between, or went: all are sent again.
            if count != there.count { before = nil }
        }
        var repeated: [Row] = []
        if let before, before.look != look { repeated = try self.repeated(rows, since: before) }
        // Asked each round of each table.
        let found = try SQLRequest<Row>(
            sql: """
                SELECT t.* FROM \(table.name) AS t WHERE \(condition) AND t.\(table.number) >= ?2
                ORDER BY t.\(table.number) LIMIT \(rowLimit)
                """, arguments: rows.arguments(before?.last ?? .min), cached: true
        ).fetchAll(db)
        var after = before ?? RowSeries.State(last: Int64.min, count: 0, isComplete: true)
        let wasComplete = before?.isComplete ?? true
        after.isCompared = true
        after.look = repeated.count < rowLimit ? look : .never
        var lines: [String] = []
        for row in repeated + found {
            let line = self.rows.line(row, of: table).json
            let number: Int64 = row[table.number]
            if table.isRepeated, let count = row["count"] as Int64?, count > 1 { after.repetitions[number] = count }
            if number < after.last {
                lines.append(line)
                continue
            }
            if number == after.last, after.count > 0, line.hashValue == after.lastHash { continue }
            if number > after.last || after.count == 0 { after.count += 1 }
            (after.last, after.lastHash) = (number, line.hashValue)
            lines.append(line)
        }
        after.isComplete = found.count < rowLimit && repeated.count < rowLimit
        let isNews = !lines.isEmpty || after.isComplete != wasComplete
        return SeriesShipment(series: rows.series, after: after, rows: isNews ? "[\(lines.joined(separator: ","))]" : nil)
    }

    /// Rows before the last one that is there which have counted further since they were sent; at the first look of a process
    /// all that have counted.
    private func repeated(_ rows: SeriesRows, since state: RowSeries.State) throws -> [Row] {
        let table = rows.table
        guard table.isRepeated else { return [] }
        let counted = try SQLRequest<Row>(
            sql: table.repetitions, arguments: rows.arguments(state.last), cached: true
        ).fetchAll(db)
        return try counted.filter { state.repetitions[$0[0]] != $0[1] as Int64 }.prefix(rowLimit).compactMap { row in
            try SQLRequest<Row>(
                sql: "SELECT * FROM \(table.name) WHERE \(table.number) = ?", arguments: [row[0] as Int64], cached: true
            ).fetchOne(db)
        }
    }
}
