package import Bluetooth
import GRDB

/// The key of a row of table `schedule`.
package struct ScheduleID: RawRepresentable, Hashable, Sendable, Codable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// A person's wish that a headset be recorded at a time of the day.
package struct RecordingSchedule: Hashable, Sendable {
    /// What was decided of a start.
    package enum Decision: String, Hashable, Sendable, Codable {
        /// A recording began, in time or late.
        case started
        /// The headset was being recorded already, which was left as it was.
        case wasRecording
        /// No process ran in all of its time.
        case missed
    }

    package var id: ScheduleID
    package var headset: String
    package var model: String
    package var time: DailyTime
    /// How long each recording lasts, in seconds; 1 or more.
    package var durationSeconds: Int64
    /// What the recordings are called.
    package var label: String?
    /// Starts up to then are none of it; UTC in seconds since 1970.
    package var createdUnix: Int64
    /// The starts of which it was decided last, the latest first; at most ``startLimit``.
    package var starts: [Start]

    /// A start of which it was decided.
    package struct Start: Hashable, Sendable {
        /// UTC in seconds since 1970.
        package var dueUnix: Int64
        package var decision: Decision
    }

    /// So many starts are read; a clock that is set back by weeks is seldom enough.
    package static let startLimit = 64
}

/// A time of the day, on some days of the week, by the wall clock of a time zone.
package struct DailyTime: Hashable, Sendable {
    /// 0 ... 1439.
    package var minuteOfDay: Int
    /// Bit 0 is Monday, bit 6 is Sunday; 1 ... 127.
    package var days: Int
    /// Such as `Europe/Berlin`.
    package var timeZone: String

    package static let everyDay = 0b111_1111

    package init(minuteOfDay: Int, days: Int = everyDay, timeZone: String) {
        (self.minuteOfDay, self.days, self.timeZone) = (minuteOfDay, days, timeZone)
    }
}

/// What time has made due.
package enum TimedDecision: Hashable, Sendable {
    /// A recording is to end.
    case end(RecordingID)
    /// A recording is to begin.
    ///
    /// - Parameters:
    ///   - due: the start, UTC in seconds since 1970.
    ///   - until: when it ends.
    case start(ScheduleID, due: Int64, until: MonotonicTime)
    /// A start has passed with all of its recording.
    case miss(ScheduleID, due: Int64)
}

extension Store {
    /// All schedules, in order of their keys.
    package func schedules() throws(StorageError) -> [RecordingSchedule] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT s.*, h.name, h.model FROM schedule AS s JOIN headset AS h ON h.id = s.headset_id ORDER BY s.id
                    """
            ).map { try RecordingSchedule($0, in: db) }
        }
    }
}

extension RecordingSchedule {
    init(_ row: Row, in db: Database) throws {
        let starts = try Row.fetchAll(
            db, sql: "SELECT due_unix, decision FROM schedule_start WHERE schedule_id = ? ORDER BY id DESC LIMIT ?",
            arguments: [row["id"] as Int64, Self.startLimit])
        self.init(
            id: ScheduleID(rawValue: row["id"]), headset: row["name"], model: row["model"],
            time: DailyTime(minuteOfDay: row["minute_of_day"], days: row["days"], timeZone: row["time_zone"]),
            durationSeconds: row["duration_seconds"], label: row["label"], createdUnix: row["created_unix"],
            starts: starts.compactMap { start in
                Decision(rawValue: start["decision"]).map { Start(dueUnix: start["due_unix"], decision: $0) }
            })
    }
}
