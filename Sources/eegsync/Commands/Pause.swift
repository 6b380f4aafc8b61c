import ArgumentParser
import Storage

/// `eegsync pause`: a person's wish that nothing be recorded for a while.
struct Pause: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record nothing, of no headset, until `eegsync resume`.",
        discussion: """
            Headsets are commanded to stop, where they can be, and let go. Recordings stay open, with a gap; the wish is \
            written into the database and outlives every process and the machine. A headset with a memory that is out of \
            reach when the pause begins goes on sampling by itself.

            EXAMPLES
              eegsync pause
              eegsync resume
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = try options.databasePath()
        let store = try options.openForControl(creates: !options.statesDatabase())
        let isNew = try store.pause(at: HostClock.now)
        try PauseFacts(store: store, isNew: isNew, daemonPid: DaemonPresence.pid(database: path)).print(asJSON: output.json)
    }
}

/// `eegsync resume`: the end of a pause.
struct Resume: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Go on recording after `eegsync pause`.",
        discussion: """
            EXAMPLE
              eegsync resume
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = try options.databasePath()
        let store = try options.openForControl(creates: !options.statesDatabase())
        let isNew = try store.resume(at: HostClock.now)
        try PauseFacts(store: store, isNew: isNew, daemonPid: DaemonPresence.pid(database: path)).print(asJSON: output.json)
    }
}

/// Whether anything is recorded.
struct PauseFacts: Facts {
    /// `paused` or `recording`.
    var desiredState: String
    /// False where that was so before.
    var hasChanged: Bool
    /// Open recordings that a person wants.
    var recordings: Int
    /// The acquiring process; nil where none runs.
    var daemonPid: Int32?

    init(store: ControlStore, isNew: Bool, daemonPid: Int32?) throws {
        desiredState = try store.pause() == nil ? "recording" : "paused"
        hasChanged = isNew
        recordings = try store.openRecordings().count { $0.isWanted }
        self.daemonPid = daemonPid
    }

    func lines(style: TerminalStyle) -> [String] {
        let open = recordings == 1 ? "1 recording" : "\(recordings) recordings"
        if desiredState == "paused" {
            return [
                (hasChanged ? "Paused" : "It was paused before") + ": nothing is recorded until `eegsync resume`; \(open) "
                    + (recordings == 1 ? "stays" : "stay") + " open."
            ]
        }
        guard hasChanged else { return ["There was no pause; \(open) \(recordings == 1 ? "is" : "are") wanted."] }
        var lines = ["Resumed: \(open) \(recordings == 1 ? "is" : "are") wanted."]
        if daemonPid == nil {
            lines.append(
                style.apply(.caution, to: "Nothing is recorded yet: eegsync run does not run on this database.")
                    + " Start it: systemctl start eegsync.")
        }
        return lines
    }
}
