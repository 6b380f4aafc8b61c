import Acquisition
import ArgumentParser
import Foundation
import Storage
import Tap

/// `eegsync tap`: what the daemon says while it records.
struct TapCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap",
        abstract: "Print what the daemon assembles, notices and commits, as it happens.",
        discussion: """
            Samples, gaps, marks, states and checks of signals, each with its number n and its time, before they are stored, \
            and what is stored as soon as it is. Looking disturbs nothing: a reader that does not keep up is dropped. Values \
            are raw counts; each stream is said first, with the scale of its channels.

            With --json each message is one line. Ends with 75 where the daemon ends, with 69 where none runs.

            EXAMPLES
              eegsync tap
              eegsync tap left
              eegsync tap --json | jq 'select(.kind == "gap")'
            """)

    @Argument(help: "Only what concerns this headset, and what is committed.")
    var headset: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's socket. Without it: $\(TapLocation.variable), the one beside the database, or that of the unit.",
            valueName: "path"))
    var socket: String?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = socket ?? TapLocation.readerPath(of: try? options.databasePath())
        if let headset, socket == nil { try requireKnown(headset) }
        do {
            try follow(TapConnection(path: path))
        } catch let error as TapConnectionError {
            throw Failure(tap: error)
        }
        throw Failure.tapEnded(path: path)
    }

    /// One that nobody knows would be waited for without an end. Who may not read the database may follow all the same.
    private func requireKnown(_ headset: String) throws {
        guard let store = try? options.openReadOnly(), try store.headset(named: headset) == nil else { return }
        let configured = (try? options.configurationIfPresent())?.headsets.map(\.name) ?? []
        if !configured.contains(headset) { throw StorageError.notFound(what: "headset \(headset)") }
    }

    private func follow(_ connection: TapConnection) throws {
        var (decoder, names) = (TapDecoder(), TapNames())
        while let message = try connection.next(&decoder) {
            names.take(message.content)
            if let headset, let recording = names.recording(of: message.content),
                names.headsets[recording]?.name != headset
            {
                continue
            }
            let line = TapLine(message, names)
            print(output.json ? (try? line.json()) ?? "" : line.text(clock: times.clock))
            try StandardOutput.flush()
        }
    }
}
