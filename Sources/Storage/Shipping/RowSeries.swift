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

        package init(last: Int64, count: Int64, isComplete: Bool) {
            (self.last, self.count, self.isComplete) = (last, count, isComplete)
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
    func shipments(after states: [RowSeries: RowSeries.State]) throws -> [SeriesShipment] {
        let streams = try SQLRequest<Row>(
            sql: "SELECT id, uuid, channel_count FROM stream WHERE recording_id = ? ORDER BY id",
            arguments: [rows.recording.rawValue], cached: true
        ).fetchAll(db)
        var shipments: [SeriesShipment] = []
        for table in CarriedTable.growing {
            guard table.owner == .stream else {
                let series = RowSeries(table: table.name, owner: "", part: 0)
                shipments.append(try shipment(of: series, table, key: rows.recording.rawValue, after: states[series]))
                continue
            }
            for stream in streams {
                for part in table.part == nil ? 0...0 : 1...(stream["channel_count"] as Int64) {
                    let series = RowSeries(table: table.name, owner: stream["uuid"], part: part)
                    shipments.append(try shipment(of: series, table, key: stream["id"], after: states[series]))
                }
            }
        }
        return shipments
    }

    private func shipment(
        of series: RowSeries, _ table: CarriedTable, key: Int64, after before: RowSeries.State?
    ) throws -> SeriesShipment {
        var condition = table.growth ?? "FALSE"
        let part: [Int64] = table.part == nil ? [] : [series.part]
        if let part = table.part { condition += " AND t.\(part) = ?3" }
        var before = before
        if let there = before, !there.isCompared {
            let count = try Int64.fetchOne(
                db, sql: "SELECT count(*) FROM \(table.name) AS t WHERE \(condition) AND t.\(table.number) <= ?2",
                arguments: StatementArguments([key, there.last] + part))
            // Rows have come in between, or went: all are sent again.
            if count != there.count { before = nil }
        }
        // Asked each round of each table.
        let found = try SQLRequest<Row>(
            sql: """
                SELECT t.* FROM \(table.name) AS t WHERE \(condition) AND t.\(table.number) >= ?2
                ORDER BY t.\(table.number) LIMIT \(rowLimit)
                """, arguments: StatementArguments([key, before?.last ?? .min] + part), cached: true
        ).fetchAll(db)
        var after = before ?? RowSeries.State(last: Int64.min, count: 0, isComplete: true)
        let wasComplete = before?.isComplete ?? true
        after.isCompared = true
        var lines: [String] = []
        for row in found {
            let line = rows.line(row, of: table).json
            let number: Int64 = row[table.number]
            if number == after.last, after.count > 0, line.hashValue == after.lastHash { continue }
            if number > after.last || after.count == 0 { after.count += 1 }
            (after.last, after.lastHash) = (number, line.hashValue)
            lines.append(line)
        }
        after.isComplete = found.count < rowLimit
        let isNews = !lines.isEmpty || after.isComplete != wasComplete
        return SeriesShipment(series: series, after: after, rows: isNews ? "[\(lines.joined(separator: ","))]" : nil)
    }
}
