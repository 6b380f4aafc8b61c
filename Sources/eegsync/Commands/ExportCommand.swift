import ArgumentParser
import Centre
package import Export
import Foundation
import Storage

extension ExportFormat: ExpressibleByArgument {}
extension GapTreatment: ExpressibleByArgument {}
extension TableValues: ExpressibleByArgument {}
extension TableDialect: ExpressibleByArgument {}

/// `eegsync export`: recordings as files.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write recordings, or parts of them, as files for your analysis.",
        discussion: """
            A file is written without a name, read back and compared, and only then gets its name; Ctrl-C leaves nothing \
            unfinished behind. An existing file is replaced only with --force. A recording that still runs is exported as \
            it is at this moment.

            --from and --to cut every stream at the same times: a sample at --from is in, one at --to is not, so that parts \
            which meet share no sample. n=... counts in the first of the chosen streams. What is missing, annotations and the \
            files beside the export are those of the part.

            Several recordings are written one after the other, each with its number in the name, as night_recording-12.edf; \
            or into a directory, as recording-12.edf.

            --from with an address, postgresql://ROLE@HOST/DATABASE, exports from a centre instead, byte for byte what the \
            machine's own database would give; a second --from is a time. Recordings are named by their UUIDs or their numbers \
            at the centre. Each is fetched beside the output for as long as it takes, and audited, as `eegsync fetch` does.

            \(ExportFormat.allCases.map(\.summary).joined(separator: " "))

            --format csv --dialect writes tables as other tools do: openbci (OpenBCI GUI; a Cyton, with or without a Daisy, or \
            a Ganglion), muselsl and mindmonitor (a Muse), brainflow (these, a Unicorn or an Explore). Missing rows are left \
            out, as the tools do; the JSON file beside the table lists them, and says what each column holds.

            EXAMPLES
              eegsync export 12 -o night.edf
              eegsync export left -o night.edf --from '2026-03-01 23:30' --to +4h
              eegsync export latest --from -5m --streams eeg --channels TP9,TP10 -o now.csv
              eegsync export --subject P07 --task rest --format edf -o study/
              eegsync export 12 --format bdf --gaps segments -o night.bdf
              eegsync export 12 --resample-to-clock --local-start -o night.bdf
              eegsync export 12 -o night.set
              eegsync export 12 --dialect brainflow -o night.csv
              eegsync export 12 -o night.sqlite
              eegsync export 12 --format bids -o study
              eegsync export --task rest --format parquet -o tables
              eegsync export 12 --from postgresql://ada@study.example.org/study -o night.edf
              eegsync export --subject P07 --from postgresql://ada@study.example.org/study --format edf -o study/
            """)

    @OptionGroup var recordings: ExportedRecordings

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where the file goes; several files add a suffix to the name. A directory ends with a slash.", valueName: "path"),
        completion: .file())
    var output: String

    @Option(help: "Without it: as the output's name ends.")
    var format: ExportFormat?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Only from then on: '2026-03-01 23:00', 2026-03-01T22:00:00Z, +10min after the beginning, -5m before the end, "
                + "n=12000. With an address, postgresql://ROLE@HOST/DATABASE: from that centre.", valueName: "time"))
    var from: [String] = []

    @Option(parsing: .unconditional, help: ArgumentHelp("Only up to then; written as --from.", valueName: "time"))
    var to: String?

    @Option(
        name: [.customLong("streams"), .customLong("stream")],
        help: ArgumentHelp("Only these streams, such as eeg,ppg; may be repeated.", valueName: "names"))
    var streams: [String] = []

    @Option(help: ArgumentHelp("Only these channels, such as TP9,TP10; may be repeated.", valueName: "names"))
    var channels: [String] = []

    @Option(help: "What is done with missing samples. Without it: fill in EDF+ and BDF+, else the first that the format has.")
    var gaps: GapTreatment?

    @Option(help: "What the cells of CSV and Parquet hold. Without it: physical.")
    var values: TableValues?

    @Option(help: "CSV as this tool records it, so that scripts for the tool read it: see below.")
    var dialect: TableDialect?

    @Flag(help: "EDF+ and BDF+: one file of all streams, instead of one for each kind: EEG, motion, PPG and so on.")
    var together = false

    @Flag(
        help: ArgumentHelp(
            "EDF+ and BDF+: compute samples that lie at the nominal rate in UTC, by the time map, instead of the headset's own."
        ))
    var resampleToClock = false

    @Flag(help: "EDF+ and BDF+: the header's start is in the time of this machine's zone, instead of UTC.")
    var localStart = false

    @Flag(help: "Replace existing files.")
    var force = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        try validateOrigin()
        if output.isEmpty { throw ValidationError("The output must be the path of a file, or of a directory.") }
        if output == "-" {
            throw ValidationError(
                "A file is read back and compared before it gets its name, which standard output does not allow: give a path.")
        }
        let format = try chosenFormat()
        if format.hasCompanions, !output.hasSuffix("/"), !output.lowercased().hasSuffix("." + format.ending) {
            throw ValidationError(
                "The files of the format \(format.rawValue) name each other: give a name that ends with .\(format.ending).")
        }
        if values != nil, format != .csv, format != .parquet {
            throw ValidationError(
                "--values is for CSV and Parquet; a file of the format \(format.rawValue) has the headset's own counts.")
        }
        if let dialect, format != .csv {
            throw ValidationError("--dialect \(dialect.rawValue) is for CSV, not for the format \(format.rawValue).")
        }
        if dialect != nil, values != nil {
            throw ValidationError("A dialect has the tool's own values; leave --values out.")
        }
        for (isGiven, name) in [
            (together, "--together"), (resampleToClock, "--resample-to-clock"), (localStart, "--local-start"),
        ] where isGiven && format != .edf && format != .bdf {
            throw ValidationError("\(name) is for EDF+ and BDF+, not for the format \(format.rawValue).")
        }
        if resampleToClock, let gaps, gaps != .fill {
            throw ValidationError("With --resample-to-clock, gaps are filled and marked; leave --gaps out.")
        }
        if let gaps, !format.gapTreatments.contains(gaps) {
            let choices = format.gapTreatments.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                choices.isEmpty
                    ? "In the format \(format.rawValue) missing samples are absent rows; leave --gaps out."
                    : "In the format \(format.rawValue), --gaps is one of: \(choices).")
        }
        let selection = try selection()
        if format.isWholeRecording, !selection.isWhole {
            throw ValidationError(
                "A file of the format \(format.rawValue) holds the whole recording; leave out --from, --to, --streams "
                    + "and --channels.")
        }
    }

    /// The centre that recordings come from; nil for a database of this machine.
    private var centre: String? { from.first { Self.isAddress($0) } }

    /// An address of a PostgreSQL server, which no time looks like (PostgreSQL 15, 34.1.1.2).
    private static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    private func validateOrigin() throws {
        let addresses = from.count { Self.isAddress($0) }
        if addresses > 1 || from.count - addresses > 1 {
            throw ValidationError("--from says twice the same: give one time, and beside it at most the address of one centre.")
        }
        if addresses > 0, options.database != nil || options.config != nil {
            throw ValidationError(
                "The recordings come from the centre of --from, or from a database of this machine: leave out --database "
                    + "and --config, or --from.")
        }
        if let database = options.database, Self.isAddress(database) {
            throw ValidationError("--database is a file. Recordings of a centre: --from postgresql://ROLE@HOST/DATABASE.")
        }
    }

    func run() throws {
        let now = Int64(Date().timeIntervalSince1970 * 1e9)
        if let centre {
            let connection = try CentreConnection(centre)
            try connection.endStatements(afterSeconds: RecordingFetch.statementSeconds)
            var export = CentreExports(connection: connection, names: try recordings.names(at: connection, now: now))
            let outcome = Result {
                try UnfinishedFiles.removedOnSignals { try export.run(beside: output) { try request(for: $0) } }
            }
            return try report(outcome, done: export.done, skipped: export.skipped)
        }
        let store = try options.openReadOnly()
        let numbers = try recordings.numbers(in: store, now: now)
        var export = RecordingExports(store: store, numbers: numbers, isSeveral: recordings.mayBeSeveral)
        let outcome = Result {
            try UnfinishedFiles.removedOnSignals { try export.run { try request(for: $0) } }
        }
        try report(outcome, done: export.done, skipped: export.skipped)
    }

    /// Prints what was done. What is finished stays, and is named, also where the next one fails.
    private func report(_ outcome: Result<Void, any Error>, done: [ExportFacts], skipped: [Int64]) throws {
        if case .success = outcome {} else if done.isEmpty { return try outcome.get() }
        if recordings.mayBeSeveral {
            try ExportsFacts(recordings: done, skipped: skipped).print(asJSON: outputOptions.json, clock: times.clock)
        } else if let facts = done.first {
            try facts.print(asJSON: outputOptions.json, clock: times.clock)
        }
        try outcome.get()
    }

    private func request(for recording: Int64) throws -> ExportRequest {
        ExportRequest(
            format: try chosenFormat(), path: try path(for: recording), selection: try selection(), gaps: gaps,
            values: values ?? .physical, dialect: dialect, isTogether: together, resamplesToClock: resampleToClock,
            startZone: localStart ? TimeZone.current.identifier : nil,
            python: ProcessInfo.processInfo.environment["EEGSYNC_PYTHON"] ?? "python3", replacesExisting: force)
    }

    /// Where a recording goes: into the directory, or beside the others under a number of its own.
    private func path(for recording: Int64) throws -> String {
        if try chosenFormat().isDirectory { return output }
        if output.hasSuffix("/") { return output + "recording-\(recording)." + (try chosenFormat().ending) }
        return recordings.mayBeSeveral ? ExportedFile.path(output, suffix: "_recording-\(recording)") : output
    }

    private func selection() throws -> ExportSelection {
        func edge(_ text: String?, _ option: String) throws -> ExportSelection.Edge? {
            guard let text else { return nil }
            if let edge = ExportSelection.Edge(argument: text) { return edge }
            throw ValidationError("'\(text)' of \(option) is no time. Write \(ExportSelection.Edge.words).")
        }
        return ExportSelection(
            from: try edge(from.first { !Self.isAddress($0) }, "--from"), to: try edge(to, "--to"),
            streams: Self.names(streams), channels: Self.names(channels))
    }

    /// The names of a list with commas.
    private static func names(_ texts: [String]) -> [String] {
        texts.flatMap { $0.split(separator: ",").map(String.init) }
    }

    private func chosenFormat() throws -> ExportFormat {
        if let format { return format }
        let ending = output.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if let format = ExportFormat(ending: ending) { return format }
        throw ValidationError("The name '\(output)' does not say the format; add --format.")
    }
}
