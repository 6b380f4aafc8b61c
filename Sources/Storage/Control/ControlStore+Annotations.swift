package import Bluetooth
import GRDB

/// Annotations that a person makes, corrects and withdraws. None is ever overwritten: what was said before stays, with when it
/// ceased to hold.
extension ControlStore {
    /// Says something of this instant of a recording; the source is `operator`.
    ///
    /// - Parameters:
    ///   - recording: open or not.
    ///   - text: what to say about the instant.
    ///   - durationSeconds: 0 or more; nil for an instant without a duration.
    /// - Returns: the key of the annotation.
    /// - Throws: ``StorageError/notFound(what:)``, or ``StorageError/refused(reason:)`` for a duration that is none.
    @discardableResult
    package func mark(
        _ recording: RecordingID, text: String, durationSeconds: Double? = nil, at: MonotonicTime
    ) throws(StorageError) -> Int64 {
        try Self.requireDuration(durationSeconds)
        return try write { db in
            try Self.requireRecording(recording, in: db)
            let annotation = AnnotationRecord(
                recording: recording, onset: at, durationSeconds: durationSeconds, description: text, source: "operator")
            try annotation.write(in: BatchTransaction(db: db, hostBoot: hostBootID))
            return db.lastInsertedRowID
        }
    }

    /// Says something of an instant or a sample that lies in a recording.
    ///
    /// - Parameter once: true where it may have been said already, of that instant in these words: then it is not said again.
    /// - Returns: the key of the annotation.
    /// - Throws: ``StorageError/notFound(what:)``, ``StorageError/refused(reason:)`` where the onset is not in the recording.
    @discardableResult
    package func annotate(
        _ recording: RecordingID, with annotation: StatedAnnotation, once: Bool = false, at now: MonotonicTime
    ) throws(StorageError) -> Int64 {
        try Self.requireDuration(annotation.durationSeconds)
        return try write { db in
            let recorded = try AnnotatedRecording(recording, presentBoot: hostBootID, now: now, in: db)
            let onset = try Self.accepted { () throws(AnnotationRefusal) in try recorded.stored(annotation.onset) }
            if once, let there = try Self.find(annotation, at: onset, in: recording, db) { return there }
            return try insert(annotation, at: onset, into: recording, in: db)
        }
    }

    /// The recordings, open or ended, that ran at an instant.
    ///
    /// - Parameter headset: only of this headset; nil for all.
    package func recordings(
        at onset: StatedOnset, of headset: String?, now: MonotonicTime
    ) throws(StorageError) -> [RecordingID] {
        try database.read { db in
            try AnnotatedRecording.candidates(for: onset, of: headset, presentBoot: hostBootID, in: db).filter {
                try AnnotatedRecording($0, presentBoot: hostBootID, now: now, in: db).holds(onset)
            }
        }
    }

    /// Corrects an annotation: another one takes its part, and it is withdrawn.
    ///
    /// - Parameter change: what is to be said instead.
    /// - Returns: the key of the annotation that holds now.
    /// - Throws: ``StorageError/notFound(what:)``; ``StorageError/refused(reason:)`` where it does not hold any more, or the
    ///   onset is not in its recording.
    @discardableResult
    package func correctAnnotation(
        _ annotation: Int64, _ change: AnnotationChange, at now: MonotonicTime
    ) throws(StorageError) -> Int64 {
        if case .some(.some(let duration)) = change.durationSeconds { try Self.requireDuration(duration) }
        return try write { db in
            let row = try Self.holding(annotation, in: db)
            let recording = RecordingID(rawValue: row["recording_id"])
            var onset: StoredOnset?
            if let stated = change.onset {
                let recorded = try AnnotatedRecording(recording, presentBoot: hostBootID, now: now, in: db)
                onset = try Self.accepted { () throws(AnnotationRefusal) in try recorded.stored(stated) }
            }
            let (hasDuration, duration) = change.durationSeconds.map { (true, $0) } ?? (false, nil)
            try db.execute(
                sql: """
                    INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, duration_seconds, description, source,
                        stream_id, n, device_ticks, code, replaces)
                    SELECT recording_id, coalesce(:boot, host_boot_id), coalesce(:time, boottime_ns),
                        iif(:hasDuration, :duration, duration_seconds), coalesce(:description, description), 'operator',
                        iif(:moved, :stream, stream_id), iif(:moved, :n, n), iif(:moved, NULL, device_ticks),
                        coalesce(:code, code), id
                    FROM annotation WHERE id = :id
                    """,
                arguments: [
                    "boot": onset?.hostBoot, "time": onset?.boottime, "hasDuration": hasDuration, "duration": duration,
                    "description": change.description, "moved": onset != nil, "stream": onset?.sample?.stream.rawValue,
                    "n": onset?.sample?.n, "code": change.code, "id": annotation,
                ])
            let corrected = db.lastInsertedRowID
            try withdraw(annotation, at: now, in: db)
            return corrected
        }
    }

    /// Has annotations hold no more. They stay in the table.
    ///
    /// - Throws: ``StorageError/notFound(what:)``, ``StorageError/refused(reason:)`` where one does not hold any more; then all
    ///   stay as they are.
    package func withdrawAnnotations(_ annotations: [Int64], at now: MonotonicTime) throws(StorageError) {
        try write { db in
            for annotation in annotations {
                _ = try Self.holding(annotation, in: db)
                try withdraw(annotation, at: now, in: db)
            }
        }
    }

    // MARK: Parts

    /// Stores an annotation of a person.
    func insert(
        _ annotation: StatedAnnotation, at onset: StoredOnset, into recording: RecordingID, in db: Database
    ) throws -> Int64 {
        let record = AnnotationRecord(
            recording: recording, onset: MonotonicTime(nanoseconds: onset.boottime),
            durationSeconds: annotation.durationSeconds, description: annotation.description, source: "operator",
            sample: onset.sample, code: annotation.code)
        try record.write(in: BatchTransaction(db: db, hostBoot: onset.hostBoot))
        return db.lastInsertedRowID
    }

    private static func find(
        _ annotation: StatedAnnotation, at onset: StoredOnset, in recording: RecordingID, _ db: Database
    ) throws -> Int64? {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT id FROM annotation
                WHERE recording_id = ? AND host_boot_id = ? AND boottime_ns = ? AND description = ?
                """, arguments: [recording.rawValue, onset.hostBoot, onset.boottime, annotation.description])
    }

    private func withdraw(_ annotation: Int64, at now: MonotonicTime, in db: Database) throws {
        try db.execute(
            sql: "UPDATE annotation SET withdrawn_host_boot_id = ?, withdrawn_boottime_ns = ? WHERE id = ?",
            arguments: [hostBootID, now.nanoseconds, annotation])
    }

    /// An annotation that holds.
    private static func holding(_ annotation: Int64, in db: Database) throws -> Row {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM annotation WHERE id = ?", arguments: [annotation]) else {
            throw StorageError.notFound(what: "annotation \(annotation)")
        }
        guard row["withdrawn_boottime_ns"] as Int64? != nil else { return row }
        let next = try Int64.fetchOne(db, sql: "SELECT max(id) FROM annotation WHERE replaces = ?", arguments: [annotation])
        throw StorageError.refused(
            reason: "annotation \(annotation) was "
                + (next.map { "corrected already: now it is annotation \($0)" } ?? "deleted already"))
    }

    private static func accepted<Result>(_ body: () throws(AnnotationRefusal) -> Result) throws(StorageError) -> Result {
        do { return try body() } catch { throw StorageError.refused(reason: error.reason) }
    }

    private static func requireDuration(_ seconds: Double?) throws(StorageError) {
        if let seconds, !(seconds >= 0 && seconds.isFinite) {
            throw StorageError.refused(reason: "a duration of \(seconds) s")
        }
    }
}

/// What is to be said instead of what an annotation says; nil leaves it as it is.
package struct AnnotationChange: Hashable, Sendable {
    package var onset: StatedOnset?
    /// The inner nil takes the duration away.
    package var durationSeconds: Double??
    package var description: String?
    package var code: Int64?

    package init(
        onset: StatedOnset? = nil, durationSeconds: Double?? = nil, description: String? = nil, code: Int64? = nil
    ) {
        self.onset = onset
        self.durationSeconds = durationSeconds
        self.description = description
        self.code = code
    }
}
