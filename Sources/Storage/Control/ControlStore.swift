package import Bluetooth
import GRDB

/// The database of a command that writes what the operator wants. It works whether or not a process acquires; that process
/// follows ``AcquisitionStore/wishes(unlessVersion:)``.
package struct ControlStore: Store {
    package let hostBoot: HostBoot
    /// The row of ``hostBoot``.
    let hostBootID: Int64
    package var presentBoot: Int64? { hostBootID }
    package let database: OpenDatabase

    init(database: OpenDatabase, hostBoot: HostBoot, hostBootID: Int64) {
        self.database = database
        self.hostBoot = hostBoot
        self.hostBootID = hostBootID
    }

    /// Opens a database file. Creates it where there is none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: the file; its directory must exist.
    ///   - hostBoot: the boot that instants given to this store belong to.
    ///   - options: limits; a wish is always fully synchronous.
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `readOnly`, `diskFull`, `busy`. A file that is
    ///   refused was not changed.
    package init(path: String, hostBoot: HostBoot, options: StoreOptions = StoreOptions()) throws(StorageError) {
        database = try DatabaseOpening(path: path, options: options).openForWriting(isAcquiring: false)
        self.hostBoot = hostBoot
        hostBootID = try database.insertedRow(of: hostBoot)
    }

    /// Writes a wish, and notes it for an acquisition in this process.
    func write<Result>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
        let result = try database.write(body)
        database.noteControlChange()
        return result
    }
}

/// Recordings.
extension ControlStore {
    /// Wants a headset recorded, from now until it is stopped.
    ///
    /// - Parameters:
    ///   - headset: the headset's name in the configuration; created where it is new.
    ///   - model: the identifier of its profile.
    ///   - details: what else is said of it.
    ///   - end: when it ends by itself; nil for never.
    ///   - at: now.
    /// - Throws: ``StorageError/alreadyRecording(headset:recording:)``; ``StorageError/refused(reason:)`` where the headset has
    ///   another model, or where a field cannot say what is said.
    @discardableResult
    package func startRecording(
        headset: String, model: String, label: String? = nil, subject: String? = nil, task: String? = nil,
        details: [(field: RecordingField, value: String?)] = [], until end: MonotonicTime? = nil, at: MonotonicTime
    ) throws(StorageError) -> RecordingID {
        for (field, value) in details { try field.check(value) }
        return try write { db in
            let headsetID = try Self.headset(named: headset, model: model, in: db)
            let open = try Int64.fetchOne(
                db, sql: "SELECT id FROM recording WHERE headset_id = ? AND desired_state = 'recording'",
                arguments: [headsetID])
            if let open {
                throw StorageError.alreadyRecording(headset: headset, recording: open)
            }
            try db.execute(
                sql: """
                    INSERT INTO recording (id, headset_id, desired_state, label, subject, task, requested_host_boot_id,
                        requested_boottime_ns)
                    VALUES (?, ?, 'recording', ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    try Self.nextRecording(in: db), headsetID, label, subject, task, hostBootID, at.nanoseconds,
                ])
            let recording = RecordingID(rawValue: db.lastInsertedRowID)
            for (field, value) in details { try field.set(value, of: recording, in: db) }
            if let end { try setEnd(of: recording.rawValue, at: end, in: db) }
            return recording
        }
    }

    /// The number of the next recording: that of a deleted one is not used again.
    static func nextRecording(in db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT coalesce(max(id), 0) + 1
                FROM (SELECT max(id) AS id FROM recording UNION ALL SELECT max(recording_id) FROM deletion)
                """) ?? 1
    }

    /// Wants the open recording of a headset ended. It stays ended: nothing resumes it.
    ///
    /// - Returns: the recording.
    /// - Throws: ``StorageError/notFound(what:)`` where the headset is not being recorded.
    @discardableResult
    package func stopRecording(headset: String, at: MonotonicTime) throws(StorageError) -> RecordingID {
        let id = try database.read { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT r.id FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                    WHERE h.name = ? AND r.desired_state = 'recording'
                    """, arguments: [headset])
        }
        guard let id else { throw StorageError.notFound(what: "open recording of headset \(headset)") }
        try stopRecording(RecordingID(rawValue: id), at: at)
        return RecordingID(rawValue: id)
    }

    /// Wants a recording ended.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where it is not open.
    package func stopRecording(_ recording: RecordingID, at: MonotonicTime) throws(StorageError) {
        try write { db in try stop(recording.rawValue, at: at, in: db) }
    }

    func stop(_ recording: Int64, at: MonotonicTime, in db: Database) throws {
        try db.execute(
            sql: """
                UPDATE recording SET desired_state = 'stopped', stop_requested_host_boot_id = ?,
                    stop_requested_boottime_ns = ? WHERE id = ? AND desired_state = 'recording'
                """,
            arguments: [hostBootID, at.nanoseconds, recording])
        guard db.changesCount == 1 else { throw StorageError.notFound(what: "open recording \(recording)") }
    }

    /// Notes what UTC is, where the host boot has no (synchronised) clock offset yet, so that marks and requests made while
    /// nothing acquires have a time too.
    package func noteClockOffset(_ offset: ClockOffsetRecord) throws(StorageError) {
        try database.write { db in
            let known = try Bool.fetchOne(
                db, sql: "SELECT max(is_synchronised) FROM clock_offset WHERE host_boot_id = ?", arguments: [hostBootID])
            if known == true || (known == false && !offset.isSynchronised) { return }
            try offset.write(in: BatchTransaction(db: db, hostBoot: hostBootID))
        }
    }

    /// True where a headset of the name is stored.
    package func hasHeadset(named name: String) throws(StorageError) -> Bool {
        try database.read { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM headset WHERE name = ?)", arguments: [name]) ?? false
        }
    }

    /// The row of a headset, created where it is new.
    static func headset(named name: String, model: String, in db: Database) throws -> Int64 {
        if let row = try Row.fetchOne(db, sql: "SELECT id, model FROM headset WHERE name = ?", arguments: [name]) {
            let known: String = row["model"]
            guard known == model else {
                throw StorageError.refused(
                    reason: "headset \(name) is a \(known) in the database and not a \(model); give the new one another name")
            }
            return row["id"]
        }
        guard !name.isEmpty, !model.isEmpty else { throw StorageError.refused(reason: "a headset without a name or model") }
        try db.execute(sql: "INSERT INTO headset (name, model) VALUES (?, ?)", arguments: [name, model])
        return db.lastInsertedRowID
    }
}

/// A person wants nothing recorded for a while, of whatever headset.
extension ControlStore {
    /// Wants nothing recorded until ``resume(at:)``. Recordings stay open.
    ///
    /// - Returns: false where a pause lasts already.
    @discardableResult
    package func pause(at now: MonotonicTime) throws(StorageError) -> Bool {
        try write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO pause (began_host_boot_id, began_boottime_ns) VALUES (?, ?)",
                arguments: [hostBootID, now.nanoseconds])
            return db.changesCount == 1
        }
    }

    /// Wants recorded again what was wanted before.
    ///
    /// - Returns: false where there was no pause.
    @discardableResult
    package func resume(at now: MonotonicTime) throws(StorageError) -> Bool {
        try write { db in
            try db.execute(
                sql: "UPDATE pause SET ended_host_boot_id = ?, ended_boottime_ns = ? WHERE ended_host_boot_id IS NULL",
                arguments: [hostBootID, now.nanoseconds])
            return db.changesCount == 1
        }
    }
}
