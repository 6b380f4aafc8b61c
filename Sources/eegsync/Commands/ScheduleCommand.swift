import Acquisition
import ArgumentParser
import Foundation
import Storage

/// `eegsync schedule`: recordings that begin and end by themselves.
struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Record at a time of the day, again and again.",
        discussion: """
            `eegsync run` starts the recordings; each has a number of its own and ends after its length, as with \
            `eegsync record start --for`. What you start or stop by hand goes first: where the headset is being recorded at \
            the time, that recording goes on and the start is left out; what you stop stays stopped until the next start. \
            During `eegsync pause` a recording begins and stays empty until `eegsync resume`.

            The time is that of a time zone. A time that is left out when clocks are set forward means the moment at which \
            they are; one that comes twice means the first. A length is elapsed time: from 22:00, eight hours end at 5:00 or \
            7:00 in the night of a change.

            Where the machine was off, it begins late, and ends when it would have ended; where all of it has passed, `list` \
            says missed. A clock that is not synchronised is waited for until 10 min after the machine's boot.

            EXAMPLES
              eegsync schedule add left --at 22:00 --for 8h --days mon-fri
              eegsync schedule list
              eegsync schedule remove 1
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    /// `eegsync schedule add`.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Record a headset at a time of the day.",
            discussion: """
                EXAMPLES
                  eegsync schedule add left --at 22:00 --for 8h
                  eegsync schedule add left --at 9:30 --for 45min --days mon,wed,fri --time-zone Europe/Berlin
                """)

        @Argument(help: "The headset's name in the configuration.")
        var headset: String

        @Option(help: ArgumentHelp("When it begins, such as 22:00.", valueName: "hh:mm"))
        var at: TimeOfDay

        @Option(name: .customLong("for"), help: ArgumentHelp("How long it lasts: 90s, 30min, 8h, 3d.", valueName: "time"))
        var length: RecordingLength

        @Option(help: ArgumentHelp("On which days: daily, mon-fri, sat,sun.", valueName: "days"))
        var days = DaysOfWeek.daily

        @Option(help: "The time zone of the time, such as Europe/Berlin, or UTC. Without it: that of this machine.")
        var timeZone: String?

        @Option(help: "What the recordings are called.")
        var label: String?

        @Option(help: "The headset's model, where no configuration says it; `eegsync headsets list` shows all of them.")
        var model: String?

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws { try ZoneDatabase.check(timeZone) }

        func run() throws {
            let path = try options.databasePath()
            let model = try options.model(
                of: headset, stated: model, database: path, consequence: "nothing was scheduled.")
            let store = try options.openForControl(creates: true)
            let time = DailyTime(
                minuteOfDay: at.minute, days: days.bits, timeZone: timeZone ?? TimeZone.current.identifier)
            let now = Int64(Date().timeIntervalSince1970)
            let id = try store.addSchedule(
                headset: headset, model: model, at: time, durationSeconds: length.duration.components.seconds, label: label,
                now: now)
            let schedules = try store.schedules().filter { $0.id == id }
            try ScheduleFacts(schedules, now: now, daemonPid: DaemonPresence.pid(database: path)).print(
                asJSON: output.json, clock: times.clock)
        }
    }

    /// `eegsync schedule list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List what is scheduled, when it begins next, and what became of the latest start.",
            discussion: """
                EXAMPLE
                  eegsync schedule list
                """)

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let path = try options.databasePath()
            let schedules = try options.openReadOnly().schedules()
            try ScheduleFacts(
                schedules, now: Int64(Date().timeIntervalSince1970), daemonPid: DaemonPresence.pid(database: path)
            ).print(asJSON: output.json, clock: times.clock)
        }
    }

    /// `eegsync schedule remove`.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Schedule it no more; a recording that it has begun goes on to its end.",
            discussion: """
                EXAMPLE
                  eegsync schedule remove 1
                """)

        @Argument(help: "Its number, as `eegsync schedule list` shows it.")
        var number: Int64

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            try options.openForControl().removeSchedule(ScheduleID(rawValue: number))
            try RemovedScheduleFacts(removed: number).print(asJSON: output.json)
        }
    }
}

/// A time of the day: `22:00`, `9:30`.
struct TimeOfDay: ExpressibleByArgument, Hashable {
    /// 0 ... 1439.
    let minute: Int

    init?(argument: String) {
        guard let found = argument.wholeMatch(of: /([0-9]{1,2}):([0-9]{2})/), let hour = Int(found.1),
            let minute = Int(found.2), hour < 24, minute < 60
        else { return nil }
        self.minute = hour * 60 + minute
    }
}

/// Days of the week: `daily`, `mon-fri`, `sat,sun`.
struct DaysOfWeek: ExpressibleByArgument, Hashable {
    static let daily = DaysOfWeek(bits: DailyTime.everyDay)
    static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Bit 0 is Monday, bit 6 is Sunday.
    let bits: Int

    init(bits: Int) { self.bits = bits }

    init?(argument: String) {
        if argument == "daily" {
            self = .daily
            return
        }
        var bits = 0
        for part in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map {
                Self.names.firstIndex(of: String($0))
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            // Saturday to Tuesday goes over the end of the week.
            for day in first...(last < first ? last + 7 : last) { bits |= 1 << (day % 7) }
        }
        self.bits = bits
    }

    /// `daily`, `mon-fri`, `sat,sun`.
    var words: String {
        if bits == DailyTime.everyDay { return "daily" }
        let days = Self.names.indices.filter { bits >> $0 & 1 == 1 }
        if let first = days.first, let last = days.last, days.count > 2, last - first == days.count - 1 {
            return "\(Self.names[first])-\(Self.names[last])"
        }
        return days.map { Self.names[$0] }.joined(separator: ",")
    }

    var defaultValueDescription: String { words }
}
