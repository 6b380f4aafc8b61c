import GRDB

/// A recording that this database does not have, taken over as it is stored.
struct RecordingTakeover {
    let source: Database
    let db: Database
    /// Its key there.
    let recording: Int64
    /// The name of the file, and now.
    let origin: MergeOrigin

    /// Tables of a recording, those that others refer to first, and what of theirs may be here already: the history of the
    /// headset overlaps that of its other recordings.
    static let tables: [(name: String, kind: MergedKeys.Kind?, here: String, identity: Set<String>?)] = [
        ("impedance", nil, ofRecording, nil),
        ("provenance", .provenance, "TRUE", nil),
        ("link", .link, ofHeadset, ["headset_id", "host_boot_id", "began_boottime_ns"]),
        ("headset_message", nil, "t.link_id IN (SELECT id FROM link WHERE recording_id = ?1)", ["link_id", "number"]),
        ("streaming_return", nil, ofRecording, nil),
        ("status_report", nil, ofHeadset, nil), ("connection_attempt", nil, ofHeadset, nil),
        ("connection_event", nil, ofHeadset, nil), ("link_quality", nil, ofHeadset, nil),
        ("clock_observation", nil, ofHeadset, nil),
    ]
    private static let ofRecording = "t.recording_id = ?1"
    private static let ofHeadset = "t.headset_id = (SELECT headset_id FROM recording WHERE id = ?1)"

    func run(_ headset: MergedHeadset, uuid: String, keys: inout MergedKeys) throws -> MergedRecording {
        let here = try insert(headset, keys: &keys)
        var report = MergedRecording(
            outcome: .taken, uuid: uuid, number: here, numberThere: recording, headset: headset.name,
            headsetThere: headset.formerName, isNewHeadset: headset.isNew)
        // A cause that this version does not know comes with its meaning.
        for cause in try Row.fetchAll(source, sql: "SELECT cause, meaning FROM gap_cause ORDER BY cause") {
            try db.execute(
                sql: "INSERT OR IGNORE INTO gap_cause (cause, meaning) VALUES (?, ?)",
                arguments: [cause[0] as String, cause[1] as String])
        }
        let streams = try Row.fetchAll(
            source, sql: "SELECT * FROM stream WHERE recording_id = ? ORDER BY id", arguments: [recording])
        for stream in streams {
            report.streams.append(
                try StreamTakeover(source: source, db: db).run(stream, of: RecordingID(rawValue: here), keys: &keys))
        }
        report.annotations = try copy("annotation", kind: .annotation, as: here, keys: &keys)
        for name in ["recording_detail", "recording_property", "recording_edit"] {
            report.facts += try copy(name, as: here, keys: &keys)
        }
        report.facts += try bringHistory(as: here, keys: &keys)
        let views = try String.fetchAll(
            db, sql: "SELECT DISTINCT view_name FROM stream WHERE recording_id = ? ORDER BY id", arguments: [here])
        for view in views { try StreamView.create(view, recording: RecordingID(rawValue: here), in: db) }
        try db.execute(
            sql: "INSERT INTO merged_recording (recording_id, source, host_boot_id, boottime_ns) VALUES (?, ?, ?, ?)",
            arguments: [here, origin.source, origin.hostBoot, origin.boottime])
        return report
    }

    /// What was reported while it was recorded, but for what is here.
    func bringHistory(as here: Int64, keys: inout MergedKeys) throws -> Int64 {
        try Self.tables.reduce(0) { count, table in
            try count + copy(table.name, kind: table.kind, here: table.here, identity: table.identity, as: here, keys: &keys)
        }
    }

    private func copy(
        _ name: String, kind: MergedKeys.Kind? = nil, here condition: String? = nil, identity: Set<String>? = nil,
        as target: Int64, keys: inout MergedKeys
    ) throws -> Int64 {
        try MergedTable(
            name: name, condition: RecordingExport.condition(of: name), kind: kind, here: condition, identity: identity
        ).copy(of: recording, from: source, to: db, as: target, keys: &keys)
    }

    private func insert(_ headset: MergedHeadset, keys: inout MergedKeys) throws -> Int64 {
        let key = try MergedKeys.free(recording, ("recording", "id"), ("deletion", "recording_id"), in: db)
        keys[.recording, recording] = key
        var values = try RecordingEnd(of: recording, in: source).values(keys: keys)
        values["id"] = key.databaseValue
        let columns = values.keys.sorted()
        try db.execute(
            sql: "INSERT INTO recording (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))",
            arguments: StatementArguments(columns.map { values[$0] ?? .null }))
        return key
    }
}

/// The row of a recording as another database has it, as one that is not recorded here: where it goes on there, it ends here
/// with what that database has.
struct RecordingEnd {
    private let row: Row

    static let columns = [
        "desired_state", "stop_requested_host_boot_id", "stop_requested_boottime_ns", "stopped_host_boot_id",
        "stopped_boottime_ns",
    ]
    private let last: Row?

    init(of recording: Int64, in source: Database) throws {
        guard let row = try Row.fetchOne(source, sql: "SELECT * FROM recording WHERE id = ?", arguments: [recording]) else {
            throw StorageError.notFound(what: "recording \(recording)")
        }
        self.row = row
        last = try Row.fetchOne(
            source,
            sql: """
                SELECT g.host_boot_id,
                    max(g.reference_boottime_ns + CAST(round((g.last_n - g.reference_n) * g.period_ns) AS INTEGER))
                FROM segment AS g JOIN stream AS st ON st.id = g.stream_id WHERE st.recording_id = ?
                GROUP BY g.host_boot_id ORDER BY g.host_boot_id DESC LIMIT 1
                """, arguments: [recording])
    }

    /// True where the acquisition has ended it there.
    var hasEnded: Bool { row["stopped_host_boot_id"] as Int64? != nil }

    /// Its values here, by column.
    func values(keys: MergedKeys) throws -> [String: DatabaseValue] {
        var values: [String: DatabaseValue] = [:]
        for (column, value) in row where column != "id" { values[column] = try keys.value(value, of: column) }
        values["desired_state"] = "stopped".databaseValue
        if !hasEnded {
            let (boot, time): (DatabaseValue, DatabaseValue) =
                last.map { ($0[0], $0[1]) } ?? (row["requested_host_boot_id"], row["requested_boottime_ns"])
            values["stopped_host_boot_id"] = try keys.value(boot, of: "host_boot_id")
            values["stopped_boottime_ns"] = time
        }
        return values
    }
}

/// Where rows come from, and when.
struct MergeOrigin {
    /// The name of the file.
    let source: String
    /// Now.
    let hostBoot: Int64
    let boottime: Int64
}
