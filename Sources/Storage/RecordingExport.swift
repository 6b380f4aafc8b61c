import Foundation
import GRDB

extension Store {
    /// Writes one recording as a database of its own: same tables and views, nothing of other recordings and headsets, no
    /// addresses of headsets, no preserved state. It is one file without a write-ahead log.
    ///
    /// - Parameter path: a file that does not exist yet; on an error it is removed again.
    /// - Throws: `notFound` for the recording, `refused` where the file exists, `directoryMissing`, `diskFull`, ...
    public func exportRecording(_ recording: RecordingID, to path: String) throws(StorageError) {
        try DatabaseOpening.checkDirectory(of: path)
        if FileManager.default.fileExists(atPath: path) {
            throw StorageError.refused(reason: "the file \(path) exists")
        }
        try connection.read { db in try Self.requireRecording(recording, in: db) }
        do {
            try RecordingExport(recording: recording, path: path).write(from: self)
        } catch {
            for file in [path, path + "-journal"] { try? FileManager.default.removeItem(atPath: file) }
            throw StorageError(error, path: path)
        }
    }
}

/// How a recording is copied: by `INSERT ... SELECT` between two attached databases, in constant memory.
struct RecordingExport {
    let recording: RecordingID
    let path: String

    func write(from store: Store) throws {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        var configuration = opening.configuration(isReadOnly: false)
        configuration.allowsUnsafeTransactions = true
        let target = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? target.close() }
        try DatabaseOpening.migrator.migrate(target)
        if let source = store.path {
            try target.inDatabase { db in
                // The source file is only read; one transaction sees one snapshot of it.
                try db.execute(sql: "ATTACH ? AS source", arguments: [source])
                try copy(in: db, from: "source", to: "main")
                try db.execute(sql: "DETACH source")
            }
        } else {
            try store.connection.writer.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH ? AS target", arguments: [path])
                defer { try? db.execute(sql: "DETACH target") }
                try copy(in: db, from: "main", to: "target")
            }
        }
        try target.write { db in
            let names = try String.fetchAll(db, sql: "SELECT DISTINCT view_name FROM stream ORDER BY id")
            for name in names { try StreamView.create(name, recording: recording, in: db) }
        }
    }

    private func copy(in db: Database, from source: String, to target: String) throws {
        try db.inTransaction(.immediate) {
            for (table, condition) in Self.tables {
                let condition = condition.replacingOccurrences(of: "@", with: "\(source).")
                try db.execute(
                    sql: "INSERT INTO \(target).\(table) SELECT * FROM \(source).\(table) AS t WHERE \(condition)",
                    arguments: condition.contains(":id") ? ["id": recording.rawValue] : StatementArguments())
            }
            // Nothing records into a copy.
            try db.execute(sql: "UPDATE \(target).recording SET desired_state = 'stopped'")
            return .commit
        }
    }

    private static let ofStream = "t.stream_id IN (SELECT id FROM @stream WHERE recording_id = :id)"
    /// Reports of the headset between the request and the end of the recording.
    private static func duringRecording(_ time: String) -> String {
        """
        EXISTS (SELECT 1 FROM @recording AS r WHERE r.id = :id AND r.headset_id = t.headset_id
            AND (t.host_boot_id, t.\(time)) >= (r.requested_host_boot_id, r.requested_boottime_ns)
            AND (r.stopped_host_boot_id IS NULL
                OR (t.host_boot_id, t.\(time)) <= (r.stopped_host_boot_id, r.stopped_boottime_ns)))
        """
    }

    /// Tables and which rows of them, those that others refer to first; `@` stands for the source.
    static let tables: [(name: String, condition: String)] = [
        ("host_boot", "TRUE"),
        ("clock_offset", "TRUE"),
        ("headset", "t.id = (SELECT headset_id FROM @recording WHERE id = :id)"),
        ("recording", "t.id = :id"),
        ("stream", "t.recording_id = :id"),
        ("channel", ofStream),
        ("epoch", ofStream),
        ("segment", ofStream),
        ("sample", ofStream + " ORDER BY t.stream_id, t.n"),
        ("gap", ofStream + " ORDER BY t.first_n, t.channel"),
        ("signal_check", ofStream),
        ("annotation", "t.recording_id = :id"),
        ("impedance", "t.recording_id = :id"),
        ("status_report", duringRecording("boottime_ns")),
        ("connection_attempt", duringRecording("began_boottime_ns")),
        ("connection_event", duringRecording("boottime_ns")),
        ("clock_observation", duringRecording("boottime_ns")),
    ]

    /// Tables that stay behind: addresses, keys and what the next process needs, letter boxes, and what each new database has.
    static let leftOut = [
        "headset_identifier", "handle_map", "long_term_key", "identity_resolving_key", "link_key", "preserved_state", "capture",
        "capture_chunk", "impedance_measurement", "gap_cause", "grdb_migrations",
    ]
}
