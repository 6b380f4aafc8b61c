import Storage

/// How blocks of samples, and values that came late, come into a centre: by INSERT with parameters, or, where they are many, by
/// COPY. That writes into no table that rows are guarded in (PostgreSQL 15, COPY, Notes), but into views with triggers, which a
/// centre has since the step `p0019_quotas`; into an earlier one it goes through temporary tables. On a cluster of Citus, which
/// makes a COPY of an INSERT from another table, all goes through the views, since `p0022_spread_quotas`.
struct PieceTable {
    private static let channels = 8
    private static let blockColumns: [(name: String, type: String)] =
        [("stream", "uuid"), ("first_n", "bigint"), ("row_count", "integer")] + (1...channels).map { ("c\($0)", "integer[]") }
    private static let patchColumns: [(name: String, type: String)] = [
        ("stream", "uuid"), ("channel", "integer"), ("first_n", "bigint"), ("values", "integer[]"),
    ]
    /// A live recording brings few rows at a time, and they go by INSERT: a COPY is two exchanges with the server, and a
    /// transaction that has used a temporary table has its files emptied at its end.
    private static let directRows = 4
    /// Rows of a statement with parameters, which may have 65,535.
    private static let statementRows = 64

    private let connection: CentreConnection
    /// True where the tables are spread over a cluster of Citus.
    let isSpread: Bool
    /// Whether there are views that take rows.
    let hasViews: Bool

    init(_ connection: CentreConnection) throws(CentreError) {
        self.connection = connection
        // What spread_blocks() has made, and no view of streams of that name.
        isSpread =
            try connection.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('public.stream_right') AND relkind = 'r')"
            ).first?.first == "t"
        // Those of a cluster are for machines that may add to the tables no more.
        let mayAdd = isSpread ? "has_table_privilege('sample_block', 'INSERT')" : "false"
        let query = "SELECT to_regclass('incoming_block') IS NOT NULL AND NOT \(mayAdd)"
        hasViews = try connection.execute(query).first?.first == "t"
    }

    /// Sends the samples of a stream, within a transaction.
    func send(_ stream: StreamShipment) throws(CentreError) {
        var blocks = CopyStream()
        for piece in stream.pieces { Self.append(piece, of: stream.uuid, to: &blocks) }
        try insert(blocks, "sample_block", through: "incoming_block", Self.blockColumns)
        var patches = CopyStream()
        for patch in stream.patches {
            patches.beginRow(fieldCount: Self.patchColumns.count)
            patches.append(uuid: stream.uuid)
            patches.append(integer: Int32(patch.channel))
            patches.append(bigint: patch.firstN)
            patches.append(integers: patch.values)
        }
        try insert(patches, "sample_patch", through: "incoming_patch", Self.patchColumns)
    }

    private func insert(
        _ rows: CopyStream, _ table: String, through view: String, _ columns: [(name: String, type: String)]
    ) throws(CentreError) {
        if rows.rowCount == 0 { return }
        let names = columns.map(\.name).joined(separator: ", ")
        // Parameters are sent in one piece, whatever the rate.
        let isSmall = rows.rowCount <= Self.directRows && rows.byteCount <= connection.pacing.pieceSize
        guard hasViews || !isSpread, !isSmall else {
            let table = isSpread && hasViews ? view : table
            for part in parts(rows.rows) {
                let values = part.indices.map { row in
                    "(\(columns.indices.map { "$\(row * columns.count + $0 + 1)" }.joined(separator: ", ")))"
                }
                try connection.execute(
                    "INSERT INTO \(table) (\(names)) VALUES \(values.joined(separator: ", "))", binary: part.flatMap(\.self),
                    isRepeated: part.count == 1)
            }
            return
        }
        if hasViews { return try connection.copy("COPY \(view) (\(names)) FROM STDIN (FORMAT binary)", rows.bytes) }
        // Made when it is needed: with it the server holds 8 MB for as long as the session lasts.
        let types = columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        try connection.execute("CREATE TEMPORARY TABLE IF NOT EXISTS \(table)_copy (\(types)) ON COMMIT DELETE ROWS")
        try connection.copy("COPY \(table)_copy FROM STDIN (FORMAT binary)", rows.bytes)
        try connection.execute(
            "INSERT INTO \(table) (\(names)) SELECT \(names) FROM \(table)_copy; DELETE FROM \(table)_copy")
    }

    /// Rows in parts of some, and of not many more bytes than a piece of what is copied has.
    private func parts(_ rows: [[[UInt8]?]]) -> [[[[UInt8]?]]] {
        var parts: [[[[UInt8]?]]] = []
        var bytes = 0
        for row in rows {
            let size = row.reduce(0) { $0 + ($1?.count ?? 0) }
            let isFull = parts.last?.count == Self.statementRows || bytes + size > connection.pacing.pieceSize
            if parts.isEmpty || isFull {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(row)
            bytes += size
        }
        return parts
    }

    private static func append(_ piece: SamplePiece, of uuid: String, to copy: inout CopyStream) {
        copy.beginRow(fieldCount: blockColumns.count)
        copy.append(uuid: uuid)
        copy.append(bigint: piece.firstN)
        copy.append(integer: Int32(piece.rowCount))
        for channel in 0..<channels {
            if channel < piece.channels.count { copy.append(integers: piece.channels[channel]) } else { copy.appendNull() }
        }
    }
}
