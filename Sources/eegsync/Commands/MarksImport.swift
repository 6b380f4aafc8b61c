import ArgumentParser
import Foundation
import Storage

/// `eegsync marks import`: annotations from a file.
struct MarksImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import annotations from a table: all of it, or nothing.",
        discussion: """
            The file is CSV (.csv) or tab-separated (.tsv, such as events.tsv of BIDS), in UTF-8, quoted as in RFC 4180, with \
            the names of the columns in its first line:

              onset        seconds since the recording's first sample; or
              time         UTC, or with a zone (2026-03-01T23:00:05.250+01:00); or
              sample or n  the number of a sample, as `n` in the view of --stream
              duration     seconds; may be n/a or missing
              description, trial_type or label: what happened
              code or value: a whole number, such as that of a trigger

            Where a line is wrong or lies outside the recording, nothing is imported, and the line's number is named. What the \
            recording has already (the same to 1 ms) is not stored twice. At most \(EventTable.eventCountMaximum) events and \
            64 MiB.

            EXAMPLES
              eegsync marks import 12 events.tsv
              eegsync marks import 12 scored.csv --stream eeg
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @Argument(help: "The file.", completion: .file(extensions: ["csv", "tsv"]))
    var file: String

    @Option(help: "The stream, or its view, whose samples a column sample or n counts. Without it: the first stream.")
    var stream: String?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if separator == nil { throw ValidationError("The file must be called .csv or .tsv.") }
    }

    private var separator: UInt8? {
        switch (file as NSString).pathExtension.lowercased() {
        case "csv": UInt8(ascii: ",")
        case "tsv": UInt8(ascii: "\t")
        default: nil
        }
    }

    func run() throws {
        let now = HostClock.now
        let bytes = try contents()
        let store = try options.openForControl()
        let recording = try recording.number(in: store)
        let id = RecordingID(rawValue: recording)
        let table = EventTable(bytes, separator: separator ?? 0, stream: try streamID(in: store, id))
        guard table.problems.isEmpty else { throw refusal(table.problems) }
        let result = try store.importAnnotations(table.events.map(\.annotation), into: id, at: now)
        guard result.refused.isEmpty else {
            throw refusal(result.refused.map { EventTable.Problem(line: table.events[$0.index].line, reason: $0.reason) })
        }
        try ImportFacts(
            recording: recording, file: file, imported: result.stored, present: result.present, withdrawn: result.withdrawn,
            ignoredColumns: table.ignoredColumns
        ).print(asJSON: output.json)
    }

    private func streamID(in store: ControlStore, _ recording: RecordingID) throws -> StreamID? {
        do { return try store.stream(named: stream, of: recording) } catch {
            // Seconds and times need no stream.
            if stream == nil, try store.recordings().contains(where: { $0.id == recording.rawValue }) { return nil }
            throw error
        }
    }

    private func contents() throws -> [UInt8] {
        do {
            let handle =
                try PassedFile.descriptor.map { FileHandle(fileDescriptor: $0) }
                ?? FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            defer { try? handle.close() }
            let data = try handle.read(upToCount: EventTable.byteCountMaximum + 1) ?? Data()
            guard data.count <= EventTable.byteCountMaximum else { throw FileReason("it is larger than 64 MiB") }
            return Array(data)
        } catch {
            throw Failure(
                problem: "the file \(file) cannot be read: \(FileReason(error).words).", consequence: "nothing was imported.",
                remedy: "check the path and who may read it.", code: .noInput)
        }
    }

    /// The most lines that are named.
    private static let namedMaximum = 20

    private func refusal(_ problems: [EventTable.Problem]) -> Failure {
        let named = problems.prefix(Self.namedMaximum).map { "    line \($0.line): \($0.reason)" }
        let more = problems.count > named.count ? ["    and \(problems.count - named.count) more"] : []
        return Failure(
            problem: "\(file) cannot be imported:\n" + (named + more).joined(separator: "\n"),
            consequence: "nothing was imported.",
            remedy: "correct the lines and import the file again; eegsync marks import --help says what columns mean.",
            code: .dataError)
    }
}

/// What was imported.
struct ImportFacts: Facts {
    var recording: Int64
    var file: String
    var imported: Int
    /// Not stored again.
    var present: Int
    /// Not stored again although they do not hold any more.
    var withdrawn: Int
    var ignoredColumns: [String]

    func lines(style: TerminalStyle) -> [String] {
        var lines = ["\(Quantity.count(Int64(imported), "annotation")) imported into recording \(recording)."]
        if present > 0 {
            lines.append("\(Quantity.count(Int64(present))) were there already, and were not stored again.")
        }
        if withdrawn > 0 {
            lines.append(
                style.apply(
                    .caution,
                    to: "\(Quantity.count(Int64(withdrawn))) were corrected or deleted since they were stored, and stay so."))
        }
        if !ignoredColumns.isEmpty {
            lines.append(
                style.apply(.faint, to: "Columns that were not used: \(ignoredColumns.joined(separator: ", ").printable)"))
        }
        return lines
    }
}
