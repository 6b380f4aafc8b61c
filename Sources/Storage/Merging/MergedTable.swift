import Evidence
import GRDB

/// A small table whose rows of one recording are brought over, each once.
struct MergedTable {
    let name: String
    /// Which rows of the other database; `?1` is the recording there, and `t` the row.
    let condition: String
    /// What the column `id` of its rows is known by elsewhere; nil where nothing names them.
    var kind: MergedKeys.Kind?
    /// Which rows here may be the same ones; `?1` is the recording here. Nil where there can be none.
    var here: String?
    /// The columns that say whether two rows are the same one; nil for all but those of ``ownColumns``.
    var identity: Set<String>?

    /// What says nothing of a row but how it is called.
    private static let ownColumns: Set = ["id", "uuid"]

    /// Inserts the rows that are not here yet.
    ///
    /// - Returns: how many these are.
    func copy(
        of recording: Int64, from source: Database, to db: Database, as target: Int64, keys: inout MergedKeys
    ) throws -> Int64 {
        let all = try Self.columns(of: name, in: db)
        // Without a kind the number of a row is its table's own affair.
        let columns = all.filter { $0 != "id" }
        var known = try here.map { try self.known($0, columns, of: target, in: db) } ?? [:]
        let list = columns.map(StreamView.quoted).joined(separator: ", ")
        let insertion = try db.makeStatement(
            sql: "INSERT INTO \(name) (\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))")
        let named = columns.map { "t." + StreamView.quoted($0) }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            source,
            sql: "SELECT \(all.contains("id") ? "t.id" : "0"), \(named) FROM \(name) AS t "
                + "WHERE ?1 IS NOT NULL AND \(condition)", arguments: [recording])
        var count: Int64 = 0
        while let row = try rows.next() {
            let values = try zip(columns, row.databaseValues.dropFirst()).map { try keys.value($1, of: $0) }
            let said = here == nil ? nil : digest(zip(columns, values))
            if let said, let present = known[said] {
                if let kind { keys[kind, row[0]] = present }
                continue
            }
            try insertion.execute(arguments: StatementArguments(values))
            if let kind { keys[kind, row[0]] = db.lastInsertedRowID }
            if let said { known[said] = db.lastInsertedRowID }
            count += 1
        }
        return count
    }

    /// The columns of a table, in their order.
    static func columns(of table: String, in db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?) ORDER BY cid", arguments: [table])
    }

    private func known(_ condition: String, _ columns: [String], of recording: Int64, in db: Database) throws -> [Digest: Int64]
    {
        let hasID = try Self.columns(of: name, in: db).contains("id")
        let rows = try Row.fetchCursor(
            db,
            sql: "SELECT \(hasID ? "id" : "0"), \(columns.map(StreamView.quoted).joined(separator: ", ")) FROM \(name) AS t "
                + "WHERE ?1 IS NOT NULL AND \(condition)", arguments: [recording])
        var known: [Digest: Int64] = [:]
        while let row = try rows.next() {
            known[digest(zip(columns, row.databaseValues.dropFirst()))] = row[0]
        }
        return known
    }

    private func digest(_ values: some Sequence<(String, DatabaseValue)>) -> Digest {
        let said = values.filter { identity?.contains($0.0) ?? !Self.ownColumns.contains($0.0) }
        return RowDigestFunctions.digest(table: name, of: said.map(\.1))
    }
}
