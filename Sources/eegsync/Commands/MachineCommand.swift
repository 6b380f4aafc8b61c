import ArgumentParser
import Foundation
import Storage

/// `eegsync machine`: on which machines a database has been, and how it came there.
struct MachineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machine",
        abstract: "Show on which machines the database has been; say that its card was moved, or copied.",
        discussion: """
            `eegsync run` notes on which machine it runs, by the serial number of the board, or else by /etc/machine-id. Where \
            that differs from the machine before, nobody but you knows whether the card was moved (a machine was replaced) or \
            copied (two machines go on, each with its own). It records as before; `status` and `doctor` ask until you say it.

            EXAMPLES
              eegsync machine
              eegsync machine moved
              eegsync machine copied
            """,
        subcommands: [List.self, Moved.self, Copied.self], defaultSubcommand: List.self)

    /// `eegsync machine list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the machines, in the order in which they came.")

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            try MachineFacts(options.openReadOnly()).print(asJSON: output.json, clock: times.clock)
        }
    }

    /// `eegsync machine moved`.
    struct Moved: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say that the database was moved here: it goes on, and nowhere else.")

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws { try decide(.moved, options, output) }
    }

    /// `eegsync machine copied`.
    struct Copied: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say that the database is a copy: the machine before goes on with its own.",
            discussion: "Recordings from before belong to the machine before: they stay here, and are not sent from here.")

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws { try decide(.copied, options, output) }
    }

    private static func decide(_ origin: Machine.Origin, _ options: DatabaseOptions, _ output: OutputOptions) throws {
        let store = try options.openForControl()
        guard try store.decideOrigin(origin) > 0 else {
            throw Failure(
                problem: "nothing is asked: the database has not come from another machine since it was said last.",
                consequence: "nothing was changed.", remedy: "see where it has been: eegsync machine", code: .usage)
        }
        try MachineFacts(store).print(asJSON: output.json)
    }
}

/// On which machines a database has been.
struct MachineFacts: Facts {
    /// One machine.
    struct Row: Encodable {
        var uuid: String
        /// `created`, `moved`, `copied`; nil while it is asked.
        var origin: String?
        /// UTC, in nanoseconds since 1970; nil where no clock was known.
        var firstSeenUnixNs: Int64?
        var recordings: Int
    }

    var machines: [Row]
    var question: MachineSituation?

    init(_ store: some Store) throws {
        let machines = try store.machines()
        self.machines = machines.map { machine in
            Row(
                uuid: machine.uuid, origin: machine.origin?.rawValue, firstSeenUnixNs: machine.firstSeen.unixNanoseconds,
                recordings: machine.recordings)
        }
        question = MachineSituation(machines)
    }

    func lines(style: TerminalStyle) -> [String] {
        if machines.isEmpty {
            return ["No machine is noted yet: `eegsync run` has not run on this database since it notes them."]
        }
        var table = TextTable([
            .init(heading: "MACHINE"), .init(heading: "CAME", dispensability: 1), .init(heading: "FIRST SEEN"),
            .init(heading: "RECORDINGS", alignment: .right),
        ])
        for machine in machines {
            table.append([
                .init(machine.uuid), .init(machine.origin ?? "?", machine.origin == nil ? .caution : nil),
                .init(machine.firstSeenUnixNs.map(style.clock.text) ?? "-"), .init("\(machine.recordings)"),
            ])
        }
        var lines = table.rendered(style: style)
        if let question {
            lines +=
                [""]
                + Paragraph.block(
                    question.sentence.prefix(1).uppercased() + question.sentence.dropFirst() + ".", head: "", indent: 0,
                    columns: style.columns)
            lines += Paragraph.block("you can: \(question.remedy)", head: "  ", indent: 2, columns: style.columns)
        }
        return lines
    }
}
