import Acquisition
import Storage

/// What is scheduled.
struct ScheduleFacts: Facts {
    /// One of them.
    struct Schedule: Encodable {
        var schedule: Int64
        var headset: String
        /// `22:00`, by the clock of `timeZone`.
        var at: String
        var days: String
        var timeZone: String
        var durationSeconds: Int64
        var label: String?
        /// UTC; nil where the time zone is not known.
        var next: String?
        var nextUnixNanoseconds: Int64?
        /// The latest start of which it was decided.
        var latest: String?
        var latestUnixNanoseconds: Int64?
        /// `started`, `wasRecording`, `missed`.
        var decision: RecordingSchedule.Decision?
    }

    var schedules: [Schedule]
    /// The acquiring process; nil where none runs.
    var daemonPid: Int32?

    /// - Parameter now: UTC in seconds since 1970.
    init(_ schedules: [RecordingSchedule], now: Int64, daemonPid: Int32?) {
        self.daemonPid = daemonPid
        self.schedules = schedules.map { schedule in
            let next = schedule.time.next(after: max(now, schedule.createdUnix), utcOffset: ZoneDatabase.utcOffset)
            let nextTime = next.map { $0 * 1_000_000_000 }
            let latestTime = schedule.starts.first.map { $0.dueUnix * 1_000_000_000 }
            let minute = schedule.time.minuteOfDay
            return Schedule(
                schedule: schedule.id.rawValue, headset: schedule.headset,
                at: "\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)",
                days: DaysOfWeek(bits: schedule.time.days).words, timeZone: schedule.time.timeZone,
                durationSeconds: schedule.durationSeconds, label: schedule.label, next: nextTime.map(Quantity.utc),
                nextUnixNanoseconds: nextTime, latest: latestTime.map(Quantity.utc), latestUnixNanoseconds: latestTime,
                decision: schedule.starts.first?.decision)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        if schedules.isEmpty { return ["Nothing is scheduled. See: eegsync schedule add --help"] }
        let instants = schedules.flatMap { [$0.nextUnixNanoseconds, $0.latestUnixNanoseconds] }
        let (next, latest) = (style.clock.column("NEXT", of: instants), style.clock.column("LATEST", of: instants))
        var table = TextTable([
            .init(heading: "NUMBER", alignment: .right), .init(heading: "HEADSET", shortens: true), .init(heading: "AT"),
            .init(heading: "DAYS"), .init(heading: "ZONE", dispensability: 1), .init(heading: "FOR", alignment: .right),
            .init(heading: next.heading, wraps: true), .init(heading: latest.heading, wraps: true),
            .init(heading: "LABEL", wraps: true, dispensability: 2),
        ])
        for schedule in schedules {
            table.append([
                .init(String(schedule.schedule)), .init(schedule.headset), .init(schedule.at), .init(schedule.days),
                .init(schedule.timeZone), .init(Quantity.duration(.seconds(schedule.durationSeconds))),
                .init(schedule.nextUnixNanoseconds.map(next.minuteText) ?? "unknown"),
                Self.cell(schedule.decision, time: schedule.latestUnixNanoseconds.map(latest.minuteText)),
                .init(schedule.label ?? ""),
            ])
        }
        var lines = table.rendered(style: style)
        if daemonPid == nil {
            lines += [
                "",
                style.apply(.caution, to: "Nothing begins: eegsync run does not run on this database.")
                    + " Start it: systemctl start eegsync.",
            ]
        }
        return lines
    }

    private static func cell(_ decision: RecordingSchedule.Decision?, time: String?) -> TextTable.Cell {
        switch decision {
        case nil: ""
        case .started?: .init("\(time ?? ""), started", .good)
        case .wasRecording?: .init("\(time ?? ""), left out: was being recorded", .caution)
        case .missed?: .init("\(time ?? ""), missed: eegsync did not run", .bad)
        }
    }
}

/// What is scheduled no more.
struct RemovedScheduleFacts: Facts {
    var removed: Int64

    func lines(style: TerminalStyle) -> [String] {
        ["Schedule \(removed) is removed. A recording that it has begun goes on to its end: eegsync record stop HEADSET"]
    }
}
