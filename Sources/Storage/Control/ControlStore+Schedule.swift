package import Bluetooth
import GRDB

/// Recordings that begin or end by themselves.
extension ControlStore {
    /// A recording whose end is so near is ended for a scheduled one that begins: the two were meant to follow each other, and
    /// the clock that counts from the boot and the wall clock differ by less.
    static let nearEnd: Duration = .seconds(60)

    /// Wants an open recording to end at an instant of this boot, instead of when it was to end before.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where it is not open.
    package func setEnd(of recording: RecordingID, at end: MonotonicTime) throws(StorageError) {
        try write { db in
            let isOpen = try Bool.fetchOne(
                db, sql: "SELECT desired_state = 'recording' FROM recording WHERE id = ?", arguments: [recording.rawValue])
            guard isOpen == true else { throw StorageError.notFound(what: "open recording \(recording.rawValue)") }
            try setEnd(of: recording.rawValue, at: end, in: db)
        }
    }

    func setEnd(of recording: Int64, at end: MonotonicTime, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO recording_end (recording_id, host_boot_id, boottime_ns) VALUES (?, ?, ?)",
            arguments: [recording, hostBootID, end.nanoseconds])
    }

    /// Wants a headset recorded at a time of the day, from the first start after `now` on.
    ///
    /// - Parameters:
    ///   - now: UTC in seconds since 1970.
    ///   - durationSeconds: how long each recording lasts, 1 or more.
    /// - Throws: ``StorageError/refused(reason:)`` where the headset has another model, or the label is none of a recording.
    package func addSchedule(
        headset: String, model: String, at time: DailyTime, durationSeconds: Int64, label: String? = nil, now: Int64
    ) throws(StorageError) -> ScheduleID {
        try RecordingField.label.check(label)
        return try write { db in
            let headsetID = try Self.headset(named: headset, model: model, in: db)
            try db.execute(
                sql: """
                    INSERT INTO schedule (headset_id, minute_of_day, days, duration_seconds, time_zone, label, created_unix)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [headsetID, time.minuteOfDay, time.days, durationSeconds, time.timeZone, label, now])
            return ScheduleID(rawValue: db.lastInsertedRowID)
        }
    }

    /// Wants no more starts of a schedule. A recording that it has begun goes on to its end.
    ///
    /// - Throws: ``StorageError/notFound(what:)``.
    package func removeSchedule(_ schedule: ScheduleID) throws(StorageError) {
        try write { db in
            try db.execute(sql: "DELETE FROM schedule WHERE id = ?", arguments: [schedule.rawValue])
            guard db.changesCount == 1 else { throw StorageError.notFound(what: "schedule \(schedule.rawValue)") }
        }
    }

    /// Does what time has made due. To do it twice changes nothing: what a person has wanted meanwhile stays.
    package func follow(_ decision: TimedDecision, at now: MonotonicTime) throws(StorageError) {
        switch decision {
        case .end(let recording):
            do throws(StorageError) {
                try stopRecording(recording, at: now)
            } catch .notFound {
                // A person has stopped it.
            }
        case .start(let schedule, let due, let end):
            try write { db in
                guard let wanted = try Self.undecided(schedule, due: due, in: db) else { return }
                let begun = try begin(wanted, until: end, at: now, in: db)
                try Self.note(begun == nil ? .wasRecording : .started, of: schedule, due: due, recording: begun, in: db)
            }
        case .miss(let schedule, let due):
            try write { db in
                guard try Self.undecided(schedule, due: due, in: db) != nil else { return }
                try Self.note(.missed, of: schedule, due: due, recording: nil, in: db)
            }
        }
    }

    /// - Returns: the recording; nil where the headset is being recorded, as a person or another schedule wants it.
    private func begin(
        _ schedule: RecordingSchedule, until end: MonotonicTime, at now: MonotonicTime, in db: Database
    ) throws -> Int64? {
        let headset = try Self.headset(named: schedule.headset, model: schedule.model, in: db)
        let open = try Row.fetchOne(
            db,
            sql: """
                SELECT r.id, e.boottime_ns FROM recording AS r
                LEFT JOIN recording_end AS e ON e.recording_id = r.id AND e.host_boot_id = ?
                WHERE r.headset_id = ? AND r.desired_state = 'recording'
                """, arguments: [hostBootID, headset])
        if let open {
            guard let near = open["boottime_ns"] as Int64?, near <= (now + Self.nearEnd).nanoseconds else { return nil }
            try stop(open["id"], at: now, in: db)
        }
        try db.execute(
            sql: """
                INSERT INTO recording (id, headset_id, desired_state, label, requested_host_boot_id, requested_boottime_ns)
                VALUES (?, ?, 'recording', ?, ?, ?)
                """,
            arguments: [try Self.nextRecording(in: db), headset, schedule.label, hostBootID, now.nanoseconds])
        let recording = db.lastInsertedRowID
        try RecordingField.timeZone.set(schedule.time.timeZone, of: RecordingID(rawValue: recording), in: db)
        try setEnd(of: recording, at: end, in: db)
        return recording
    }

    /// A schedule of which this start was not decided yet; nil for another one, and for one that was removed.
    private static func undecided(_ schedule: ScheduleID, due: Int64, in db: Database) throws -> RecordingSchedule? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT s.*, h.name, h.model FROM schedule AS s JOIN headset AS h ON h.id = s.headset_id
                WHERE s.id = ?1
                    AND NOT EXISTS (SELECT 1 FROM schedule_start WHERE schedule_id = ?1 AND due_unix = ?2)
                """, arguments: [schedule.rawValue, due]
        ).map { try RecordingSchedule($0, in: db) }
    }

    private static func note(
        _ decision: RecordingSchedule.Decision, of schedule: ScheduleID, due: Int64, recording: Int64?, in db: Database
    ) throws {
        try db.execute(
            sql: "INSERT INTO schedule_start (schedule_id, due_unix, decision, recording_id) VALUES (?, ?, ?, ?)",
            arguments: [schedule.rawValue, due, decision.rawValue, recording])
    }
}
