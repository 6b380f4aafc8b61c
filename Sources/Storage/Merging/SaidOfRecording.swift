import GRDB

/// What people said of a recording that both databases have: label, subject, notes and the like, with what they said before.
///
/// What was said there counts where it goes on from what was said here. Of two words that contradict each other the one here
/// stays.
struct SaidOfRecording {
    let source: Database
    let db: Database
    /// Its keys there and here.
    let recording: Int64
    let here: Int64

    private struct Edit: Hashable {
        var field: String
        var before: String?
        var after: String?
        /// The host boot here.
        var hostBoot: Int64
        var boottime: Int64
    }

    /// - Returns: how many edits are new here.
    func unite(keys: MergedKeys) throws -> Int64 {
        let theirs = try edits(of: recording, in: source) { try keys.value($0, of: "host_boot_id") }
        let own = Set(try edits(of: here, in: db) { $0 })
        let onlyHere = Set(own.subtracting(theirs).map(\.field))
        let new = theirs.filter { !own.contains($0) && !onlyHere.contains($0.field) }
        for edit in new {
            try db.execute(
                sql: """
                    INSERT INTO recording_edit (recording_id, field, before, after, host_boot_id, boottime_ns)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """, arguments: [here, edit.field, edit.before, edit.after, edit.hostBoot, edit.boottime])
            try field(edit.field)?.set(edit.after, of: RecordingID(rawValue: here), in: db)
        }
        return Int64(new.count)
    }

    private func edits(of recording: Int64, in db: Database, boot: (DatabaseValue) throws -> DatabaseValue) throws -> [Edit] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT field, before, after, host_boot_id, boottime_ns FROM recording_edit WHERE recording_id = ? ORDER BY id
                """, arguments: [recording]
        ).map { row in
            Edit(
                field: row[0], before: row[1], after: row[2],
                hostBoot: Int64.fromDatabaseValue(try boot(row[3])) ?? 0, boottime: row[4])
        }
    }

    private func field(_ name: String) -> RecordingField? {
        if let column = RecordingField.columns.first(where: { $0.name == name }) { return column }
        let prefix = "property:"
        return name.hasPrefix(prefix) ? .property(key: String(name.dropFirst(prefix.count))) : nil
    }
}
