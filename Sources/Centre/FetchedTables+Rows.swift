import Storage

/// The tables of which a centre keeps the rows as they are.
extension FetchedTables {
    /// Rows that are read at a time.
    private static let rowLimit = 20_000

    /// Reads a table, a part after the other: weeks have millions of arrivals.
    ///
    /// - Parameter columns: those of the machine's database, with their types. Of what an older eegsync has sent, further ones
    ///   are NULL.
    func forEachPart(
        of table: CarriedTable, columns: [(name: String, type: String)], _ body: (FetchedTable) throws -> Void
    ) throws {
        let kept = columns.map { column($0.name, $0.type) }
        let asked = kept.map(\.sql).joined(separator: ", ")
        var last: [String?] = ["", "\(Int64.min)", "\(Int64.min)"]
        while true {
            let rows = try connection.execute(
                """
                SELECT t.owner, t.number, t.part, \(asked) FROM recording_row AS t
                WHERE t.recording_id = $1::bigint AND t.table_name = $2
                    AND (t.owner, t.number, t.part) > ($3, $4::bigint, $5::bigint)
                ORDER BY t.owner, t.number, t.part LIMIT \(Self.rowLimit)
                """, [recording.key, table.name] + last)
            var part = FetchedTable(name: table.name, columns: kept.map(\.name), rows: [])
            for row in rows {
                last = Array(row.prefix(3))
                part.rows.append(try values(row.dropFirst(3), of: kept))
            }
            if !part.rows.isEmpty { try body(part) }
            if rows.count < Self.rowLimit { return }
        }
    }

    private func values(_ row: ArraySlice<String?>, of columns: [FetchedColumn]) throws(CentreError) -> [FetchedValue] {
        var values: [FetchedValue] = []
        for (column, text) in zip(columns, row) { values.append(try value(of: column, text)) }
        return values
    }

    private func column(_ name: String, _ type: String) -> FetchedColumn {
        switch (name, type) {
        case ("recording_id", _): .constant(name, .integer(recording.machineNumber))
        case ("headset_id", _): .constant(name, .integer(1))
        case ("host_boot_id", _): .kept(name, .hostBoot)
        case ("stream_id", _): .kept(name, .stream)
        case ("link_id", _): .kept(name, .link)
        case ("offset", _): .kept("\"offset\"", .real)
        case (_, "REAL"): .kept(name, .real)
        case (_, "TEXT"): .kept(name, .text)
        case (_, "BLOB"): .kept(name, .bytes)
        default: .kept(name, .integer)
        }
    }
}
