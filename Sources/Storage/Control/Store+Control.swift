public import Bluetooth
import GRDB
import Synchronization

/// A recording that the acquisition has to care for.
public struct OpenRecording: Hashable, Sendable {
    public var recording: RecordingID
    public var headset: HeadsetID
    public var headsetName: String
    public var model: String
    /// False where the operator has stopped it and the acquisition has not ended it yet
    /// (``RecordingChange/stopped(_:at:)``).
    public var isWanted: Bool
    /// When the operator stopped it; nil where it is wanted.
    public var stop: StopRequest?
}

/// When the operator stopped a recording.
public struct StopRequest: Hashable, Sendable {
    /// The instant on the clock of the boot in which it was asked for.
    public var at: MonotonicTime
    /// True where that is the store's present boot.
    public var isSameHostBoot: Bool
    /// The same in UTC, nanoseconds since 1970; nil where that boot has no clock offset.
    public var unixNanoseconds: Int64?

    /// Creates a request.
    public init(at: MonotonicTime, isSameHostBoot: Bool, unixNanoseconds: Int64?) {
        self.at = at
        self.isSameHostBoot = isSameHostBoot
        self.unixNanoseconds = unixNanoseconds
    }
}

/// The operator's wishes. They work whether or not a process acquires; that process follows ``dataVersion()``.
extension Store {
    /// Recordings that are wanted, and stopped ones that the acquisition has not ended yet, in order of their keys.
    public func openRecordings() throws(StorageError) -> [OpenRecording] {
        try connection.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT r.id, r.headset_id, h.name, h.model, r.desired_state = 'recording' AS wanted,
                        r.stop_requested_host_boot_id AS stop_boot, r.stop_requested_boottime_ns AS stop_ns,
                        k.offset_ns + r.stop_requested_boottime_ns AS stop_unix_ns
                    FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                    LEFT JOIN host_boot_clock AS k ON k.host_boot_id = r.stop_requested_host_boot_id
                    WHERE r.stopped_host_boot_id IS NULL ORDER BY r.id
                    """
            ).map { row in
                OpenRecording(
                    recording: RecordingID(rawValue: row["id"]), headset: HeadsetID(rawValue: row["headset_id"]),
                    headsetName: row["name"], model: row["model"], isWanted: row["wanted"],
                    stop: (row["stop_ns"] as Int64?).map {
                        StopRequest(
                            at: MonotonicTime(nanoseconds: $0), isSameHostBoot: row["stop_boot"] == hostBootID,
                            unixNanoseconds: row["stop_unix_ns"])
                    })
            }
        }
    }

    /// Wants a headset recorded, from now until it is stopped.
    ///
    /// - Parameters:
    ///   - headset: the headset's name in the configuration; created where it is new.
    ///   - model: the identifier of its profile.
    ///   - at: now.
    /// - Throws: ``StorageError/refused(reason:)`` where the headset is being recorded already, or has another model.
    @discardableResult
    public func startRecording(
        headset: String, model: String, label: String? = nil, subject: String? = nil, task: String? = nil, at: MonotonicTime
    ) throws(StorageError) -> RecordingID {
        let hostBoot = try requireHostBoot()
        let id = try connection.write { db in
            let headsetID = try Self.headset(named: headset, model: model, in: db)
            let open = try Int64.fetchOne(
                db, sql: "SELECT id FROM recording WHERE headset_id = ? AND desired_state = 'recording'",
                arguments: [headsetID])
            if let open {
                throw StorageError.refused(
                    reason: "headset \(headset) is being recorded already (recording \(open)); stop that recording first")
            }
            try db.execute(
                sql: """
                    INSERT INTO recording (headset_id, desired_state, label, subject, task, requested_host_boot_id,
                        requested_boottime_ns) VALUES (?, 'recording', ?, ?, ?, ?, ?)
                    """,
                arguments: [headsetID, label, subject, task, hostBoot, at.nanoseconds])
            return RecordingID(rawValue: db.lastInsertedRowID)
        }
        noteControlChange()
        return id
    }

    /// Wants the open recording of a headset ended. It stays ended: nothing resumes it.
    ///
    /// - Returns: the recording.
    /// - Throws: ``StorageError/notFound(what:)`` where the headset is not being recorded.
    @discardableResult
    public func stopRecording(headset: String, at: MonotonicTime) throws(StorageError) -> RecordingID {
        let id = try connection.read { db in
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
    public func stopRecording(_ recording: RecordingID, at: MonotonicTime) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        try connection.write { db in
            try db.execute(
                sql: """
                    UPDATE recording SET desired_state = 'stopped', stop_requested_host_boot_id = ?,
                        stop_requested_boottime_ns = ? WHERE id = ? AND desired_state = 'recording'
                    """,
                arguments: [hostBoot, at.nanoseconds, recording.rawValue])
            guard db.changesCount == 1 else {
                throw StorageError.notFound(what: "open recording \(recording.rawValue)")
            }
        }
        noteControlChange()
    }

    /// Marks an instant of a recording; the source is `operator`.
    ///
    /// - Parameters:
    ///   - recording: open or not.
    ///   - text: what to say about the instant.
    ///   - durationSeconds: 0 or more; nil for an instant without a duration.
    /// - Throws: ``StorageError/notFound(what:)``, or ``StorageError/refused(reason:)`` for a duration that is none.
    public func mark(
        _ recording: RecordingID, text: String, durationSeconds: Double? = nil, at: MonotonicTime
    ) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        if let durationSeconds, !(durationSeconds >= 0 && durationSeconds.isFinite) {
            throw StorageError.refused(reason: "a duration of \(durationSeconds) s")
        }
        try connection.write { db in
            try Self.requireRecording(recording, in: db)
            let annotation = AnnotationRecord(
                recording: recording, onset: at, durationSeconds: durationSeconds, description: text, source: "operator")
            try annotation.write(in: BatchTransaction(db: db, hostBoot: hostBoot))
        }
        noteControlChange()
    }

    /// Notes what UTC is, where the host boot has no (synchronised) clock offset yet, so that marks and requests made while
    /// nothing acquires have a time too.
    public func noteClockOffset(_ offset: ClockOffsetRecord) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        try connection.write { db in
            let known = try Bool.fetchOne(
                db, sql: "SELECT max(is_synchronised) FROM clock_offset WHERE host_boot_id = ?", arguments: [hostBoot])
            if known == true || (known == false && !offset.isSynchronised) { return }
            try offset.write(in: BatchTransaction(db: db, hostBoot: hostBoot))
        }
    }

    /// The row of a headset, created where it is new.
    private static func headset(named name: String, model: String, in db: Database) throws -> Int64 {
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

    static func requireRecording(_ recording: RecordingID, in db: Database) throws {
        let exists = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM recording WHERE id = ?)", arguments: [recording.rawValue])
        guard exists == true else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
    }

    func noteControlChange() {
        connection.controlChanges.withLock { $0 &+= 1 }
    }
}
