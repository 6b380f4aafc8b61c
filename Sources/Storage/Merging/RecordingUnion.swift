import GRDB

/// A recording that both databases have.
struct RecordingUnion {
    let source: Database
    let db: Database
    /// Its keys there and here.
    let recording: Int64
    let here: Int64
    let origin: MergeOrigin

    func run(_ headset: MergedHeadset, uuid: String, keys: inout MergedKeys) throws -> MergedRecording {
        keys[.recording, recording] = here
        var report = MergedRecording(
            outcome: .united, uuid: uuid, number: here, numberThere: recording, headset: headset.name,
            headsetThere: headset.formerName)
        let streams = try Row.fetchAll(
            source, sql: "SELECT * FROM stream WHERE recording_id = ? ORDER BY id", arguments: [recording])
        var left: [(stream: Int64, n: Int64)] = []
        for stream in streams {
            let united = try unite(stream, keys: &keys)
            if let n = united.unprovenFrom { left.append((stream["id"], n)) }
            report.streams.append(united)
        }
        report.annotations = try uniteAnnotations(without: left, keys: &keys)
        report.facts += try RecordingTakeover(source: source, db: db, recording: recording, origin: origin)
            .bringHistory(as: here, keys: &keys)
        report.facts += try SaidOfRecording(source: source, db: db, recording: recording, here: here).unite(keys: keys)
        report.facts += try endLinks(keys: keys)
        report.facts += try moveEnd(keys: keys)
        return report
    }

    private func unite(_ stream: Row, keys: inout MergedKeys) throws -> MergedStream {
        let (there, uuid): (Int64, String?) = (stream["id"], stream["uuid"])
        let known = try Row.fetchOne(db, sql: "SELECT id, recording_id FROM stream WHERE uuid = ?", arguments: [uuid])
        guard let known else {
            let taken = try StreamTakeover(source: source, db: db).run(stream, of: RecordingID(rawValue: here), keys: &keys)
            let view = try String.fetchOne(
                db, sql: "SELECT view_name FROM stream WHERE id = ?", arguments: [keys[.stream, there]])
            if let view { try StreamView.create(view, recording: RecordingID(rawValue: here), in: db) }
            return taken
        }
        guard known["recording_id"] == here else {
            throw StorageError.refused(reason: "stream \(uuid ?? "?") belongs to another recording here")
        }
        keys[.stream, there] = known["id"]
        var report = try StreamUnion.run(stream, as: known["id"], from: source, to: db, origin: origin, keys: keys)
        report.facts += try uniteCorrections(of: there, as: known["id"])
        return report
    }

    /// Corrections of channels come in where those that are here are a beginning of them: of two that contradict each other,
    /// what is said here holds.
    private func uniteCorrections(of there: Int64, as here: Int64) throws -> Int64 {
        let sql = """
            SELECT number, name, unit, scale, "offset", reason, corrected_unix_seconds FROM channel_correction
            WHERE stream_id = ? ORDER BY id
            """
        let theirs = try Row.fetchAll(source, sql: sql, arguments: [there])
        let own = try Row.fetchAll(db, sql: sql, arguments: [here])
        guard theirs.count > own.count, Array(theirs.prefix(own.count)) == own else { return 0 }
        for row in theirs.dropFirst(own.count) {
            try db.execute(
                sql: """
                    INSERT INTO channel_correction (stream_id, number, name, unit, scale, "offset", reason,
                        corrected_unix_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """, arguments: StatementArguments([here.databaseValue] + row.databaseValues))
        }
        return Int64(theirs.count - own.count)
    }

    /// Annotations are known by their UUIDs. One that was withdrawn in either is withdrawn.
    ///
    /// - Parameter left: from which n on samples of a stream stay where they are; what is said of them does, too.
    private func uniteAnnotations(without left: [(stream: Int64, n: Int64)], keys: inout MergedKeys) throws -> Int64 {
        let staying = left.map { "(a.stream_id = \($0.stream) AND a.n >= \($0.n))" }.joined(separator: " OR ")
        var condition = "t.recording_id = ?1"
        if !staying.isEmpty {
            condition += """
                 AND t.id NOT IN (WITH RECURSIVE staying (id) AS (
                    SELECT a.id FROM annotation AS a WHERE \(staying)
                    UNION SELECT a.id FROM annotation AS a JOIN staying AS s ON a.replaces = s.id) SELECT id FROM staying)
                """
        }
        let count = try MergedTable(
            name: "annotation", condition: condition + " ORDER BY t.id", kind: .annotation, here: "t.recording_id = ?1",
            identity: ["uuid"]
        ).copy(of: recording, from: source, to: db, as: here, keys: &keys)
        let withdrawn = try Row.fetchAll(
            source,
            sql: """
                SELECT id, withdrawn_host_boot_id, withdrawn_boottime_ns FROM annotation
                WHERE recording_id = ? AND withdrawn_boottime_ns IS NOT NULL
                """, arguments: [recording])
        var changed: Int64 = 0
        for row in withdrawn {
            guard let key = keys[.annotation, row[0]] else { continue }
            try db.execute(
                sql: """
                    UPDATE annotation SET withdrawn_host_boot_id = ?, withdrawn_boottime_ns = ?
                    WHERE id = ? AND withdrawn_boottime_ns IS NULL
                    """,
                arguments: [try keys.value(row[1], of: "withdrawn_host_boot_id"), row[2] as Int64, key])
            changed += Int64(db.changesCount)
        }
        return count + changed
    }

    /// Links that were there when this copy was made, and have ended since.
    private func endLinks(keys: MergedKeys) throws -> Int64 {
        let ended = try Row.fetchAll(
            source, sql: "SELECT id, ended_boottime_ns FROM link WHERE recording_id = ? AND ended_boottime_ns IS NOT NULL",
            arguments: [recording])
        return try ended.reduce(0) { count, row in
            guard let key = keys[.link, row[0]] else { return count }
            try db.execute(
                sql: "UPDATE link SET ended_boottime_ns = ? WHERE id = ? AND ended_boottime_ns IS NULL",
                arguments: [row[1] as Int64, key])
            return count + Int64(db.changesCount)
        }
    }

    /// When it began, where nothing was recorded here; and when it ended, where it is recorded elsewhere.
    private func moveEnd(keys: MergedKeys) throws -> Int64 {
        let values = try RecordingEnd(of: recording, in: source).values(keys: keys)
        let isMerged = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM merged_recording WHERE recording_id = ?)", arguments: [here])
        var changes = 0
        if isMerged == true {
            let columns = RecordingEnd.columns
            try db.execute(
                sql: "UPDATE recording SET (\(columns.joined(separator: ", "))) = (?1, ?2, ?3, ?4, ?5) WHERE id = ?6 "
                    + "AND (\(columns.joined(separator: ", "))) IS NOT (?1, ?2, ?3, ?4, ?5) "
                    + "AND (stopped_host_boot_id, stopped_boottime_ns) <= (?4, ?5)",
                arguments: StatementArguments(columns.map { values[$0] ?? .null } + [here.databaseValue]))
            changes += db.changesCount
        }
        try db.execute(
            sql: """
                UPDATE recording SET started_host_boot_id = ?1, started_boottime_ns = ?2
                WHERE id = ?3 AND started_host_boot_id IS NULL AND ?1 IS NOT NULL
                """,
            arguments: [values["started_host_boot_id"] ?? .null, values["started_boottime_ns"] ?? .null, here])
        return Int64(changes + db.changesCount)
    }
}
