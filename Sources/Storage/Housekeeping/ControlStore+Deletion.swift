package import Bluetooth
import GRDB

/// Recordings go. A tombstone comes first, in a transaction of its own: from then on nobody sees the recording. Then its rows
/// go in transactions so small that a process which acquires waits for none of them, and at last what it was.
extension ControlStore {
    /// Rows of samples that one transaction removes: some ten milliseconds, and a megabyte of the write-ahead log.
    static let deletionLimit = 20_000
    /// Rows of other tables that one transaction removes; digests of most of them are taken off.
    static let factLimit = 2_000

    /// Deletes a recording, or goes on with its deletion.
    ///
    /// - Parameters:
    ///   - requester: the user who asks for it.
    ///   - onlyHeldElsewhere: true where it stays unless somebody else has all of it when its deletion begins.
    ///   - pause: called between two transactions; others may write meanwhile.
    ///   - progress: gets how many rows are gone, and how many there were.
    /// - Returns: false where it stays, and nothing was changed.
    /// - Throws: ``StorageError/notFound(what:)``; ``StorageError/refused(reason:)`` where it is being recorded, or has not
    ///   ended and this process does not acquire. Nothing was changed then.
    @discardableResult
    package func delete(
        _ recording: RecordingID, means: Deletion.Means, by requester: String, at now: MonotonicTime,
        onlyHeldElsewhere: Bool = false, pause: () -> Void = {},
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(StorageError) -> Bool {
        // Whole documents are read for it, behind which writers wait below: so nobody does for what stays.
        if onlyHeldElsewhere, try !database.read({ db in try Self.isHeldElsewhere(recording, in: db) }) { return false }
        let noted = try noteDeletion(of: recording, means, by: requester, at: now, onlyHeldElsewhere: onlyHeldElsewhere)
        guard let total = noted else { return false }
        // What is not on the disk yet when the power goes is removed again; only the end is waited for.
        try setSynchronous("NORMAL")
        defer { try? setSynchronous("FULL") }
        var done: Int64 = 0
        for stream in try streamKeys(of: recording) {
            while case let count = try removeSamples(of: stream), count > 0 {
                done += Int64(count)
                progress(done, total)
                pause()
            }
        }
        for rows in OwnedRows.all {
            while try write({ db in try rows.remove(of: recording, limit: Self.factLimit, in: db) }) > 0 { pause() }
        }
        try setSynchronous("FULL")
        try write { db in try Self.finishDeletion(of: recording, in: db) }
        return true
    }

    /// Deletions that a process did not come to the end of.
    package func unfinishedDeletions() throws(StorageError) -> [RecordingID] {
        try deletions().filter { !$0.isComplete }.map(\.recording)
    }

    private func setSynchronous(_ mode: String) throws(StorageError) {
        try database.perform { writer in
            try writer.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = \(mode)") }
        }
    }

    private func streamKeys(of recording: RecordingID) throws(StorageError) -> [Int64] {
        try database.read { db in
            try Int64.fetchAll(
                db, sql: "SELECT id FROM stream WHERE recording_id = ? ORDER BY id", arguments: [recording.rawValue])
        }
    }

    private func removeSamples(of stream: Int64) throws(StorageError) -> Int {
        try write { db in
            try db.execute(
                sql: """
                    DELETE FROM sample WHERE stream_id = ?1 AND n <= (
                        SELECT max(n) FROM (SELECT n FROM sample WHERE stream_id = ?1 ORDER BY n LIMIT ?2))
                    """, arguments: [stream, Self.deletionLimit])
            return db.changesCount
        }
    }

    /// Writes the tombstone, where there is none yet. Returns how many rows the recording had; nil where it stays.
    func noteDeletion(
        of recording: RecordingID, _ means: Deletion.Means, by requester: String, at now: MonotonicTime,
        onlyHeldElsewhere: Bool = false
    ) throws(StorageError) -> Int64? {
        try write { db -> Int64? in
            let key: StatementArguments = [recording.rawValue]
            let begun = try Row.fetchOne(
                db, sql: "SELECT * FROM deletion WHERE recording_id = ? AND NOT is_complete", arguments: key)
            if let begun { return (begun["row_count"] as Int64?) ?? 0 }
            try Self.requireRecording(recording, in: db)
            try requireEnd(of: recording, in: db)
            // In this transaction: what somebody says of it a moment before is not lost.
            if onlyHeldElsewhere, try !Self.isHeldElsewhere(recording, in: db) { return nil }
            let facts = try Row.fetchOne(
                db,
                sql: "SELECT headset_id, rows, start_unix_ns, end_unix_ns FROM recording_overview AS o JOIN recording AS r "
                    + "ON r.id = o.recording_id WHERE r.id = ?", arguments: key)
            let isSaid = means != .forget
            try db.execute(
                sql: """
                    INSERT INTO deletion (recording_id, means, requested_by, host_boot_id, boottime_ns, headset_id, row_count,
                        start_unix_ns, end_unix_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    recording.rawValue, means.rawValue, requester, hostBootID, now.nanoseconds,
                    isSaid ? facts?["headset_id"] as Int64? : nil, isSaid ? facts?.number("rows") : nil,
                    isSaid ? facts?.instant("start_unix_ns") : nil, isSaid ? facts?.instant("end_unix_ns") : nil,
                ])
            try db.execute(
                sql: """
                    INSERT INTO deleted_stream (stream_id, deletion_id, uuid)
                    SELECT id, ?, uuid FROM stream WHERE recording_id = ?
                    """, arguments: [db.lastInsertedRowID, recording.rawValue])
            return facts?.number("rows") ?? 0
        }
    }

    /// Throws where somebody records, or may still write what belongs to the recording.
    private func requireEnd(of recording: RecordingID, in db: Database) throws {
        let row = try Row.fetchOne(
            db, sql: "SELECT desired_state, stopped_host_boot_id FROM recording WHERE id = ?", arguments: [recording.rawValue])
        let number = recording.rawValue
        guard row?["desired_state"] == "stopped" else {
            throw StorageError.refused(
                reason: "recording \(number) is wanted: it is being recorded, or goes on with the next `eegsync run`; stop it "
                    + "first (eegsync record stop)")
        }
        if row?["stopped_host_boot_id"] as Int64? == nil, !database.isAcquiring {
            throw StorageError.refused(
                reason: "recording \(number) was stopped and has not ended yet; it ends while `eegsync run` runs, or delete it "
                    + "while none does")
        }
    }

    private static func finishDeletion(of recording: RecordingID, in db: Database) throws {
        let key: StatementArguments = [recording.rawValue]
        let views = try String.fetchAll(
            db, sql: "SELECT DISTINCT view_name FROM stream WHERE recording_id = ?", arguments: key)
        for view in views { try StreamView.drop(view, in: db) }
        for table in OwnedRows.released {
            try db.execute(sql: "UPDATE \(table) SET recording_id = NULL WHERE recording_id = ?", arguments: key)
        }
        let made = try Int64.fetchAll(
            db, sql: "SELECT DISTINCT provenance_id FROM link WHERE recording_id = ?", arguments: key)
        for (table, condition) in OwnedRows.last {
            try db.execute(sql: "DELETE FROM \(table) WHERE \(condition)", arguments: key)
        }
        // Links of other recordings may have been made with the same.
        for provenance in made {
            try db.execute(
                sql: "DELETE FROM provenance WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM link WHERE provenance_id = ?1)",
                arguments: [provenance])
        }
        // Sums of nothing.
        try db.execute(sql: "DELETE FROM digest_sum WHERE row_count = 0")
        try db.execute(sql: "UPDATE deletion SET is_complete = 1 WHERE recording_id = ?", arguments: key)
    }
}
