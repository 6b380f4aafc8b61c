import ArgumentParser
import Centre
import Export
import Synchronization

/// `eegsync fetch`: a recording from a centre, as a database of its own.
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Bring one recording back from a centre, as a SQLite database whose audit holds.",
        discussion: """
            The file has the tables and views that the machine's own database has, with this recording: every other command, \
            and whatever reads such a database, works on it. Before it gets its name it is audited: rows are compared with the \
            digests that the machine has computed when it recorded them. What was changed at the centre since is found, and no \
            file is left then (65). A recording that goes on is fetched as far as it is; one that is not all there yet is \
            not (75).

            It holds what `eegsync export 12 -o night.sqlite` writes on the machine: the evidence of times, the history, and \
            what people said before they corrected it, too. Of a machine with an older eegsync, or a centre that was not \
            brought up to date since (eegsync centre init), these are missing.

            EXAMPLES
              eegsync fetch 12 -o night.sqlite --from postgresql://ada@study.example.org/study
              eegsync fetch 0b5fd3a2-7c1e-4b8e-9a43-5f2f6f0d9b11 -o night.sqlite
              eegsync audit --database night.sqlite
            """)

    @Argument(
        help: ArgumentHelp(
            "Its UUID, or its number at the centre; see recording_overview there.", valueName: "recording"))
    var recording: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"),
        completion: .file(extensions: ["sqlite"]))
    var output: String

    @Option(
        help: ArgumentHelp("The centre: postgresql://ROLE@HOST/DATABASE. Without it: $EEGSYNC_CENTRE.", valueName: "address"))
    var from: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if output.isEmpty || output.hasSuffix("/") || output == "-" { throw ValidationError("Name the file to write.") }
    }

    func run() throws {
        let connection = try CentreConnection(CentreAddress.stated(from))
        try connection.endStatements(afterSeconds: RecordingFetch.statementSeconds)
        let bar = Mutex(ProgressBar(label: "fetching", unit: "rows"))
        defer { bar.withLock { $0.finish() } }
        let (fetched, bytes) = try UnfinishedFiles.removedOnSignals {
            try FetchedFile(path: output, replacesExisting: force).write { path in
                try RecordingFetch(connection).writeAudited(recording, to: path) { done, total in
                    bar.withLock { $0.update(done: done, total: total) }
                }
            }
        }
        bar.withLock { $0.finish() }
        try FetchFacts(fetched, file: output, centre: connection.destination, bytes: bytes).print(
            asJSON: outputOptions.json)
    }
}

/// What was fetched.
struct FetchFacts: Facts {
    var file: String
    var centre: String
    /// The recording's UUID.
    var uuid: String
    /// Its number at the centre, and on the machine, which the file has.
    var centreRecording: Int64
    var recording: Int64
    var headset: String
    /// False while it goes on.
    var isStopped: Bool
    var streams: Int
    var rows: Int64
    var bytes: Int64

    init(_ fetched: CentreRecording, file: String, centre: String, bytes: Int64) {
        (self.file, self.centre, self.bytes) = (file, centre, bytes)
        (uuid, centreRecording, recording) = (fetched.uuid, fetched.centreNumber, fetched.machineNumber)
        (headset, isStopped) = (fetched.headset, fetched.isStopped)
        (streams, rows) = (fetched.streams.count, fetched.rows)
    }

    func lines(style: TerminalStyle) -> [String] {
        let sum = "\(Quantity.count(rows, "row")) of \(Quantity.count(Int64(streams), "stream")), \(Quantity.bytes(bytes))"
        let first = "\(file.printable) is recording \(recording) of \(headset.printable): \(sum). Its audit holds."
        return [style.apply(.good, to: first)] + (isStopped ? [] : ["It goes on; the file ends with what the centre had."])
    }
}
