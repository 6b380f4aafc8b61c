import ArgumentParser
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
    /// When it ends by itself, UTC; nil for never.
    var ends: String?
    var endsUnixNanoseconds: Int64?
    /// How long the first samples took; nil where nobody waited for them.
    var waitedSeconds: Double?

    func lines(style: TerminalStyle) -> [String] {
        if desiredState == "stopped" {
            return ["Recording \(recording) of \(headset.printable) is stopped and stays so."]
        }
        let end = endsUnixNanoseconds.map { ", until \(style.clock.minuteText($0))" } ?? ""
        let wish = "Recording \(recording) of \(headset.printable) is wanted\(end)."
        let doubt =
            isNamed == false
            ? [
                style.apply(.caution, to: "No configuration of this database was found here.")
                    + " eegsync run records \(headset.printable) only if its own names it."
            ] : []
        if let waitedSeconds {
            let stored = style.apply(.good, to: "Its first samples are stored")
            return [wish] + doubt + [stored + ", after \(Quantity.duration(seconds: waitedSeconds))."]
        }
        if daemonPid != nil { return [wish] + doubt + ["`eegsync status` shows how far it is."] }
        return [wish] + doubt + [
            style.apply(.caution, to: "Nothing is recorded yet: eegsync run does not run on this database.")
                + " Start it: systemctl start eegsync."
        ]
    }
}
