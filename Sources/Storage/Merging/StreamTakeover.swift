import GRDB

/// A stream that this database does not have, taken over as it is stored: rows, ledger, times and evidence.
struct StreamTakeover {
    let source: Database
    let db: Database

    /// Tables of a stream, those that others refer to first.
    private static let tables = [
        "epoch", "segment", "arrival", "loss_detection", "gap", "signal_check", "block", "undigested_rows", "merge_conflict",
    ]

    /// - Parameters:
    ///   - row: of the table `stream` there.
    ///   - recording: its recording here.
    func run(_ row: Row, of recording: RecordingID, keys: inout MergedKeys) throws -> MergedStream {
        let (there, channelCount): (Int64, Int) = (row["id"], row["channel_count"])
        let here = try insert(row, of: recording, keys: &keys)
        let stream = StreamID(rawValue: here)
        try bringDescription(of: there, as: here, keys: &keys)
        for table in Self.tables {
            let condition = "t.stream_id = ?1" + (table == "gap" ? " ORDER BY t.first_n, t.channel" : "")
            _ = try MergedTable(name: table, condition: condition).copy(of: there, from: source, to: db, as: here, keys: &keys)
        }
        _ = try MergedTable(name: "refit", condition: "t.stream_id = ?1 ORDER BY t.id", kind: .refit)
            .copy(of: there, from: source, to: db, as: here, keys: &keys)
        _ = try MergedTable(
            name: "replaced_segment", condition: "t.refit_id IN (SELECT id FROM refit WHERE stream_id = ?1)"
        ).copy(of: there, from: source, to: db, as: here, keys: &keys)
        var report = MergedStream(row)
        let samples = SampleInsertion(db: db)
        var next: Int64? = .min
        while let first = next {
            let rows = try StoredRows(of: there, channelCount: channelCount, in: first...Int64.max, from: source)
            for run in rows.runs() { try samples.insert(rows.rows(run, as: stream)) }
            report.taken += Int64(rows.n.count)
            next = rows.n.last.flatMap { $0 == .max ? nil : $0 + 1 }
        }
        return report
    }

    /// The row of the stream, with a view of its name.
    private func insert(_ row: Row, of recording: RecordingID, keys: inout MergedKeys) throws -> Int64 {
        let uuid: String? = row["uuid"]
        let isHere = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM stream WHERE uuid = ?)", arguments: [uuid])
        if isHere == true { throw StorageError.refused(reason: "stream \(uuid ?? "?") belongs to another recording here") }
        let key = try MergedKeys.free(
            row["id"], ("stream", "id"), ("deleted_stream", "stream_id"), in: db)
        keys[.stream, row["id"]] = key
        let (name, position): (String, Int) = (row["name"], row["position"])
        let columns = try MergedTable.columns(of: "stream", in: db)
        let values: [DatabaseValue] = try columns.map { column in
            switch column {
            case "id": key.databaseValue
            case "view_name":
                try StreamView.name(for: name, recording: recording, position: position, in: db).databaseValue
            default: try keys.value(row[column], of: column)
            }
        }
        try db.execute(
            sql: "INSERT INTO stream (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))", arguments: StatementArguments(values))
        return key
    }

    /// Channels as they were declared, and as they were corrected.
    private func bringDescription(of there: Int64, as here: Int64, keys: inout MergedKeys) throws {
        _ = try MergedTable(name: "channel", condition: "t.stream_id = ?1")
            .copy(of: there, from: source, to: db, as: here, keys: &keys)
        // A trigger has declared them as they are corrected.
        try db.execute(sql: "DELETE FROM channel_declaration WHERE stream_id = ?", arguments: [here])
        for (name, order) in [("channel_declaration", ""), ("channel_correction", " ORDER BY t.id")] {
            _ = try MergedTable(name: name, condition: "t.stream_id = ?1" + order)
                .copy(of: there, from: source, to: db, as: here, keys: &keys)
        }
    }
}
