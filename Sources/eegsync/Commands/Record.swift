import ArgumentParser
import Foundation
import Storage

/// `eegsync record`: a person's wish that a headset be recorded, or no longer.
struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start or stop the recording of a headset.",
        discussion: """
            The wish is written into the database and outlives every process: a recording that was started goes on after a \
            crash or a reboot, one that was stopped stays stopped. Works whether or not `eegsync run` runs; while it does not, \
            nothing is recorded, and it begins as soon as somebody starts it.
            """,
        subcommands: [Start.self, Stop.self])

    /// `eegsync record start`.
    struct Start: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a recording.",
            discussion: """
                EXAMPLES
                  eegsync record start left
                  eegsync record start left --label "night 3" --subject P07 --task sleep
                  eegsync record start left --subject P07 --session 2 --run 1 --operator JB --set cap=M
                """)

        @Argument(help: "The headset's name in the configuration.")
        var headset: String

        @OptionGroup var details: RecordingDetailOptions

        @Option(help: "The headset's model, where no configuration says it; `eegsync headsets list` shows all of them.")
        var model: String?

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let path = try options.databasePath()
            let model = try headsetModel(database: path)
            let store = try options.openForControl()
            let recording = try store.startRecording(
                headset: headset, model: model, details: details.stated + zone, at: HostClock.now)
            try RecordFacts(
                recording: recording.rawValue, headset: headset, desiredState: "recording",
                daemonPid: DaemonPresence.pid(database: path), isNamed: configuration(of: path) != nil
            ).print(asJSON: output.json)
        }

        /// The machine's time zone, where a person names no other.
        private var zone: [(field: RecordingField, value: String?)] {
            details.timeZone == nil ? [(.timeZone, TimeZone.current.identifier)] : []
        }

        /// The configuration of a database; nil where this user finds none that can be read.
        private func configuration(of path: String) -> Configuration? {
            (try? options.configurationIfPresent()).flatMap { $0.names(path) ? $0 : nil }
        }

        private func headsetModel(database path: String) throws -> String {
            if let model {
                let known = HeadsetLibrary(configurationPath: options.configurationPath).models
                guard known.contains(model) else {
                    throw Failure(
                        problem: "the model '\(model)' is unknown; known models: \(known.joined(separator: ", ")).",
                        consequence: "no recording was started.", remedy: "check --model; `eegsync headsets list` shows all.",
                        code: .usage)
                }
                if let named = configuration(of: path),
                    !named.headsets.contains(where: { $0.name == headset && $0.model == model })
                {
                    throw Failure(
                        problem:
                            "the configuration \(options.configurationPath) names no headset \(headset) of the model \(model).",
                        consequence: "no recording was started: eegsync run records only what it names.",
                        remedy: "add the headset to the configuration, then: systemctl reload eegsync.", code: .noInput)
                }
                return model
            }
            guard let configuration = try options.configurationIfPresent() else {
                throw Failure(
                    problem: "the model of the headset \(headset) is not known: there is no \(options.configurationPath).",
                    consequence: "no recording was started.", remedy: "name it with --model, or write the configuration.",
                    code: .configuration)
            }
            if let found = configuration.headsets.first(where: { $0.name == headset }) { return found.model }
            throw Failure(
                problem: "the configuration \(options.configurationPath) names no headset \(headset), only "
                    + configuration.headsets.map(\.name).joined(separator: ", ") + ".",
                consequence: "no recording was started.",
                remedy: "check the spelling, or add the headset to the configuration.",
                code: .noInput)
        }
    }

    /// `eegsync record stop`.
    struct Stop: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the recording of a headset; it stays stopped.",
            discussion: """
                EXAMPLE
                  eegsync record stop left
                """)

        @Argument(help: "The headset's name.")
        var headset: String

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let path = try options.databasePath()
            let recording = try options.openForControl().stopRecording(headset: headset, at: HostClock.now)
            try RecordFacts(
                recording: recording.rawValue, headset: headset, desiredState: "stopped",
                daemonPid: DaemonPresence.pid(database: path)
            ).print(asJSON: output.json)
        }
    }
}

/// What a wish about a recording led to.
struct RecordFacts: Facts {
    var recording: Int64
    var headset: String
    /// `recording` or `stopped`.
    var desiredState: String
    /// The acquiring process; nil where none runs.
    var daemonPid: Int32?
    /// Whether a configuration of this database was found, which then names the headset; nil for what is stopped.
    var isNamed: Bool?

    func lines(style: TerminalStyle) -> [String] {
        if desiredState == "stopped" {
            return ["Recording \(recording) of \(headset.printable) is stopped and stays so."]
        }
        let wish = "Recording \(recording) of \(headset.printable) is wanted."
        let doubt =
            isNamed == false
            ? [
                style.apply(.caution, to: "No configuration of this database was found here.")
                    + " eegsync run records \(headset.printable) only if its own names it."
            ] : []
        if daemonPid != nil { return [wish] + doubt + ["`eegsync status` shows how far it is."] }
        return [wish] + doubt + [
            style.apply(.caution, to: "Nothing is recorded yet: eegsync run does not run on this database.")
                + " Start it: systemctl start eegsync."
        ]
    }
}
