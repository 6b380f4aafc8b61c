import ArgumentParser
import Storage

/// `eegsync recordings`: what there is, and what is said of it.
struct Recordings: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the recordings, and say what they are.",
        discussion: """
            EXAMPLES
              eegsync recordings
              eegsync recordings show 3
              eegsync recordings edit 3 --subject P07 --session 2
            """,
        subcommands: [ListRecordings.self, ShowRecording.self, EditRecording.self], defaultSubcommand: ListRecordings.self)
}

/// `eegsync recordings list`: what there is.
struct ListRecordings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the recordings.",
        discussion: """
            What a headset by its design never sends (`notSent`) counts neither as MISSING nor among the GAPS; in JSON it is \
            part of `missing` and `gaps`, and listed besides as `missing_by_design` and `gaps_by_design`.

            EXAMPLES
              eegsync recordings
              eegsync recordings --json
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        try RecordingsFacts(recordings: try options.openReadOnly().recordings()).print(asJSON: output.json, clock: times.clock)
    }
}

/// All recordings.
struct RecordingsFacts: Facts {
    var recordings: [RecordingSummary]

    func lines(style: TerminalStyle) -> [String] {
        if recordings.isEmpty { return ["There is no recording yet. Start one: eegsync record start HEADSET."] }
        let from = style.clock.column("FROM", of: recordings.map(\.startUnixNanoseconds))
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "HEADSET", shortens: true),
            .init(heading: "STATE"), .init(heading: from.heading), .init(heading: "LENGTH", alignment: .right),
            .init(heading: "ROWS", alignment: .right, dispensability: 2),
            .init(heading: "MISSING", alignment: .right), .init(heading: "GAPS", alignment: .right, dispensability: 1),
            .init(heading: "VIEWS", wraps: true, dispensability: 4),
            .init(heading: "LABEL", wraps: true, dispensability: 3),
        ])
        for recording in recordings {
            let labels = [recording.label, recording.subject, recording.task].compactMap { $0 }.joined(separator: ", ")
            let missing = recording.missing - recording.missingByDesign
            table.append([
                .init(String(recording.id)), .init(recording.headset), Self.cell(recording.state),
                .init(recording.startUnixNanoseconds.map(from.text) ?? ""),
                .init(recording.durationSeconds.map { Quantity.duration(seconds: $0) } ?? ""),
                .init(Quantity.count(recording.rows)),
                .init(Quantity.count(missing), missing > 0 ? .caution : nil),
                .init(Quantity.count(recording.gaps - recording.gapsByDesign)), .init(recording.views.joined(separator: " ")),
                .init(labels),
            ])
        }
        return table.rendered(style: style)
    }

    private static func cell(_ state: RecordingSummary.State) -> TextTable.Cell {
        switch state {
        case .recording: .init(state.rawValue, .good)
        case .waiting, .stopping: .init(state.rawValue, .caution)
        case .stopped: .init(state.rawValue)
        }
    }
}
