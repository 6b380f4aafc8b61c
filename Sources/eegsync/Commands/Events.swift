import ArgumentParser
import Foundation
import Storage

/// `eegsync events`: what has happened.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what has happened to connections, to eegsync and to this machine.",
        discussion: """
            Each line has the time of this machine's time zone and on the clock that counts from the machine's boot, which \
            nobody sets. What repeats without a return, such as the attempts to reach a headset that is away, is one line: \
            TIMES says how often, LAST when it happened last, to a minute.

            A time with ~ is by a wall clock that was not synchronised in that boot. Returns, and how long they took: \
            eegsync latency.

            EXAMPLES
              eegsync events
              eegsync events --headset left --since 2h
              eegsync events --since 2026-03-01T22:00:00Z --json
            """)

    @OptionGroup var choice: HistoryOptions

    @Option(help: ArgumentHelp("The latest so many.", valueName: "number"))
    var limit = 100

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1...1_000_000).contains(limit) { throw ValidationError("The limit must be 1 ... 1000000.") }
    }

    func run() throws {
        let store = try options.openReadOnly()
        if let headset = choice.headset { try store.requireHeadset(named: headset) }
        let events = try store.history(of: choice.headset, since: choice.sinceUnixNanoseconds, limit: limit)
        try EventsFacts(events: events.map(EventsFacts.Event.init)).print(asJSON: output.json, clock: times.clock)
    }
}

/// What has happened, oldest first.
struct EventsFacts: Facts {
    var events: [Event]

    /// One line.
    struct Event: Encodable {
        var event: HistoryEvent
        /// In words.
        var words: String

        init(_ event: HistoryEvent) {
            self.event = event
            words = event.words
        }

        private enum CodingKeys: String, CodingKey {
            case kind, name, headset, cause, detail, layer, address, attempt, count, words
            case hostBoot, boottimeNanoseconds, unixNanoseconds, lastBoottimeNanoseconds, lastUnixNanoseconds, isSynchronised
            case durationNanoseconds
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(event.kind.rawValue, forKey: .kind)
            try container.encode(event.name, forKey: .name)
            try container.encodeIfPresent(event.headset, forKey: .headset)
            try container.encodeIfPresent(event.cause, forKey: .cause)
            try container.encodeIfPresent(event.detail, forKey: .detail)
            try container.encodeIfPresent(event.layer, forKey: .layer)
            try container.encodeIfPresent(event.address, forKey: .address)
            try container.encodeIfPresent(event.attempt, forKey: .attempt)
            try container.encode(event.count, forKey: .count)
            try container.encode(words, forKey: .words)
            try container.encode(event.hostBoot, forKey: .hostBoot)
            try container.encode(event.boottimeNanoseconds, forKey: .boottimeNanoseconds)
            try container.encodeIfPresent(event.unixNanoseconds, forKey: .unixNanoseconds)
            try container.encodeIfPresent(event.lastBoottimeNanoseconds, forKey: .lastBoottimeNanoseconds)
            try container.encodeIfPresent(event.lastUnixNanoseconds, forKey: .lastUnixNanoseconds)
            try container.encode(event.isSynchronised, forKey: .isSynchronised)
            try container.encodeIfPresent(event.durationNanoseconds, forKey: .durationNanoseconds)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        if events.isEmpty { return ["Nothing has happened that is still known."] }
        let instants = events.flatMap { [$0.event.unixNanoseconds, $0.event.lastUnixNanoseconds] }
        let (time, last) = (style.clock.column("TIME", of: instants), style.clock.column("LAST", of: instants))
        var table = TextTable([
            .init(heading: time.heading), .init(heading: "SINCE BOOT (S)", alignment: .right, dispensability: 3),
            .init(heading: "HEADSET", shortens: true), .init(heading: "WHAT", wraps: true),
            .init(heading: "TIMES", alignment: .right, dispensability: 1), .init(heading: last.heading, dispensability: 2),
        ])
        for line in events {
            let event = line.event
            let mark = event.isSynchronised ? "" : "~"
            table.append([
                .init(event.unixNanoseconds.map { time.text($0) + mark } ?? "unknown"),
                .init(Quantity.seconds(event.boottimeNanoseconds)), .init(event.headset ?? ""),
                .init(line.words, event.style),
                .init(event.count > 1 ? Quantity.count(event.count) : ""),
                .init(event.lastUnixNanoseconds.map { last.text($0) + mark } ?? ""),
            ])
        }
        return table.rendered(style: style)
    }
}
