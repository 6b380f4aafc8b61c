import ArgumentParser
package import Export
import Foundation
import Storage

extension ExportFormat: ExpressibleByArgument {}
extension GapTreatment: ExpressibleByArgument {}
extension TableValues: ExpressibleByArgument {}

/// `eegsync export`: a recording as files.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a recording as files for your analysis.",
        discussion: """
            The file is written without a name, read back and compared, and only then gets its name; Ctrl-C leaves nothing \
            behind. An existing file is replaced only with --force. A recording that still runs is exported as it is \
            at this moment.

            \(ExportFormat.allCases.map(\.summary).joined(separator: " "))

            EXAMPLES
              eegsync export 12 -o night.edf
              eegsync export left -o night.edf
              eegsync export 12 --format csv --stream eeg -o night.csv
              eegsync export 12 --format bdf --gaps segments -o night.bdf
              eegsync export 12 -o night.sqlite
              eegsync export 12 --format bids -o study
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where the file goes; several files add a suffix to the name.", valueName: "path"),
        completion: .file())
    var output: String

    @Option(help: "Without it: as the output's name ends.")
    var format: ExportFormat?

    @Option(help: "What EDF+ and BDF+ do with missing samples. Without it: fill.")
    var gaps: GapTreatment?

    @Option(help: "What the cells of CSV hold. Without it: physical.")
    var values: TableValues?

    @Option(help: ArgumentHelp("Only this stream; may be repeated.", valueName: "name"))
    var stream: [String] = []

    @Flag(help: "Replace existing files.")
    var force = false

    @Option(help: .hidden)
    var from: String?

    @Option(help: .hidden)
    var to: String?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if from != nil || to != nil {
            throw ValidationError("An export holds the whole recording: there is no time range (--from, --to) yet.")
        }
        if output.isEmpty || output.hasSuffix("/") && format?.isDirectory != true {
            throw ValidationError("The output must be the path of a file.")
        }
        if output == "-" {
            throw ValidationError(
                "A file is read back and compared before it gets its name, which standard output does not allow: give a path.")
        }
        let format = try chosenFormat()
        if values != nil, format != .csv {
            throw ValidationError("--values is for CSV; a file of the format \(format.rawValue) has the headset's own counts.")
        }
        if gaps != nil, !["edf", "bdf"].contains(format.rawValue) {
            throw ValidationError(
                "--gaps is for EDF+ and BDF+; in the format \(format.rawValue) missing samples are absent rows.")
        }
        if format.isWholeRecording && !stream.isEmpty {
            throw ValidationError("A file of the format \(format.rawValue) holds all streams; leave --stream out.")
        }
    }

    func run() throws {
        let store = try options.openReadOnly()
        let recording = try recording.number(in: store)
        let exporter = try Exporter(store: store, recording: RecordingID(rawValue: recording))
        let request = ExportRequest(
            format: try chosenFormat(), path: output, streams: stream, gaps: gaps ?? .fill, values: values ?? .physical,
            replacesExisting: force)
        var bar = ProgressBar(label: "exporting")
        let report: ExportReport
        do {
            defer { bar.finish() }
            report = try UnfinishedFiles.removedOnSignals {
                try exporter.export(request) { bar.update(done: Int64($0 * 1000), total: 1000) }
            }
        }
        try ExportFacts(recording: recording, report: report).print(asJSON: outputOptions.json, clock: times.clock)
    }

    private func chosenFormat() throws -> ExportFormat {
        if let format { return format }
        let ending = output.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if let format = ExportFormat(rawValue: ending) { return format }
        throw ValidationError("The name '\(output)' does not say the format; add --format.")
    }
}

/// What an export wrote.
struct ExportFacts: Facts {
    /// One file.
    struct File: Encodable {
        var path: String
        var bytes: Int64
        var startUnixNanoseconds: Int64?
        var streams: [Stream]
    }

    /// One stream in a file.
    struct Stream: Encodable {
        var name: String
        var firstN: Int64
        var lastN: Int64
        var rows: Int64
        var filled: Int64
        /// Within what the times are right, but for the headset's constant delay; nil where that is not known.
        var timeUncertaintySeconds: Double?
    }

    var recording: Int64
    var files: [File]
    var notes: [String]

    init(recording: Int64, report: ExportReport) {
        self.recording = recording
        notes = report.notes
        files = report.files.map { file in
            File(
                path: file.path, bytes: file.byteCount, startUnixNanoseconds: file.startUnixNanoseconds,
                streams: file.streams.map {
                    Stream(
                        name: $0.name, firstN: $0.firstN, lastN: $0.lastN, rows: $0.rowCount, filled: $0.filledCount,
                        timeUncertaintySeconds: $0.timeUncertaintySeconds)
                })
        }
    }

    /// `0.7 ms`, `12 ms`, `1.3 s`.
    private static func words(ofUncertainty seconds: Double) -> String {
        seconds < 0.01 ? String(format: "%.1f ms", seconds * 1000) : Quantity.duration(seconds: seconds)
    }

    func lines(style: TerminalStyle) -> [String] {
        let from = style.clock.column("FROM", of: files.map(\.startUnixNanoseconds))
        var table = TextTable([
            .init(heading: "FILE"), .init(heading: "SIZE", alignment: .right), .init(heading: "STREAM"),
            .init(heading: "ROWS", alignment: .right), .init(heading: "FILLED", alignment: .right, dispensability: 2),
            .init(heading: "TIMES WITHIN", alignment: .right, dispensability: 1),
            .init(heading: from.heading, dispensability: 3),
        ])
        for file in files where file.streams.isEmpty { table.append([.init(file.path), .init(Quantity.bytes(file.bytes))]) }
        for file in files {
            for (index, stream) in file.streams.enumerated() {
                let isFirst = index == 0
                table.append([
                    .init(isFirst ? file.path : ""), .init(isFirst ? Quantity.bytes(file.bytes) : ""), .init(stream.name),
                    .init(Quantity.count(stream.rows)), .init(Quantity.count(stream.filled)),
                    .init(stream.timeUncertaintySeconds.map { Self.words(ofUncertainty: $0) } ?? "unknown"),
                    .init(isFirst ? file.startUnixNanoseconds.map(from.text) ?? "unknown" : ""),
                ])
            }
        }
        return table.rendered(style: style) + notes.map { style.apply(.caution, to: "Note: ") + $0.printable }
    }
}
