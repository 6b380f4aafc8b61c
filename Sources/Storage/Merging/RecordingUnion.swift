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
        let named = try String.fetchOne(source, sql: "SELECT uuid FROM recording WHERE id = ?", arguments: [recording])
        let annotations = AnnotationUnion(source: source, db: db, recording: recording, here: here, origin: origin)
        (report.annotations, report.contradictedAnnotations) = try annotations.run(
            without: left, areNamedAlike: named == uuid, keys: &keys)
        report.facts += try RecordingTakeover(source: source, db: db, recording: recording, origin: origin)
            .bringHistory(as: here, keys: &keys)
        report.facts += try SaidOfRecording(source: source, db: db, recording: recording, here: here).unite(keys: keys)
        report.facts += try endLinks(keys: keys)
        report.facts += try moveEnd(isProven: left.isEmpty, keys: keys)
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

    /// When it began, where nothing was recorded here; and when it ended, where it is recorded elsewhere, or where its end is
    /// known there and not here yet.
    ///
    /// - Parameter isProven: false where samples stay in the other database.
    private func moveEnd(isProven: Bool, keys: MergedKeys) throws -> Int64 {
        let end = try RecordingEnd(of: recording, in: source)
        let values = try end.values(keys: keys)
        let isMerged = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM merged_recording WHERE recording_id = ?)", arguments: [here])
        var changes = 0
        if isMerged == true {
            changes += try takeEnd(values, where: "(stopped_host_boot_id, stopped_boottime_ns) <= (?4, ?5)")
        } else if isProven, end.hasEnded, try !hasMoreHere(keys: keys) {
            // Otherwise whoever acquires next ends it at the stop here, and finds missing what nobody was to record.
            changes += try takeEnd(values, where: "stopped_host_boot_id IS NULL")
            if changes > 0 { try dropOpenGaps(keys: keys) }
        }
        try db.execute(
            sql: """
                UPDATE recording SET started_host_boot_id = ?1, started_boottime_ns = ?2
                WHERE id = ?3 AND started_host_boot_id IS NULL AND ?1 IS NOT NULL
                """,
            arguments: [values["started_host_boot_id"] ?? .null, values["started_boottime_ns"] ?? .null, here])
        return Int64(changes + db.changesCount)
    }

    /// - Returns: how many rows it has changed.
    private func takeEnd(_ values: [String: DatabaseValue], where condition: String) throws -> Int {
        let columns = RecordingEnd.columns
        let list = columns.joined(separator: ", ")
        try db.execute(
            sql: "UPDATE recording SET (\(list)) = (?1, ?2, ?3, ?4, ?5) WHERE id = ?6 "
                + "AND (\(list)) IS NOT (?1, ?2, ?3, ?4, ?5) AND \(condition)",
            arguments: StatementArguments(columns.map { values[$0] ?? .null } + [here.databaseValue]))
        return db.changesCount
    }

    /// True where it went on here after the other database was made: it has not ended here when it ended there.
    private func hasMoreHere(keys: MergedKeys) throws -> Bool {
        let lastRow = "SELECT id, (SELECT max(n) FROM sample WHERE stream_id = stream.id) FROM stream WHERE recording_id = ?"
        var there: [Int64: Int64] = [:]
        for row in try Row.fetchAll(source, sql: lastRow, arguments: [recording]) {
            if let stream = keys[.stream, row[0]] { there[stream] = row[1] as Int64? }
        }
        return try Row.fetchAll(db, sql: lastRow, arguments: [here]).contains { row in
            guard let last: Int64 = row[1] else { return false }
            return there[row[0]].map { $0 < last } ?? true
        }
    }

    /// A gap whose end is not known here, and of which the other database has nothing, begins where the recording ended.
    private func dropOpenGaps(keys: MergedKeys) throws {
        let open = """
            SELECT g.stream_id FROM gap AS g JOIN stream AS st ON st.id = g.stream_id
            WHERE st.recording_id = ? AND g.channel = 0 AND g.count IS NULL
            """
        let there = try Int64.fetchAll(source, sql: open, arguments: [recording]).map { keys[.stream, $0] }
        for stream in try Int64.fetchAll(db, sql: open, arguments: [here]) where !there.contains(stream) {
            try db.execute(
                sql: "DELETE FROM gap WHERE stream_id = ? AND channel = 0 AND count IS NULL", arguments: [stream])
        }
    }
}
