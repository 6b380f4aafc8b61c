import ArgumentParser
import Storage

/// `eegsync recordings edit`: says something else of a recording.
struct EditRecording: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Say something else of a recording; what was said before is kept.",
        discussion: """
            Works while it is being recorded and after. No sample is touched. Exports made from then on carry it; what was \
            said before stays in the table `recording_edit`.

            EXAMPLES
              eegsync recordings edit 3 --subject P07 --session 2 --run 1 --operator JB
              eegsync recordings edit left --set cap=M --notes "subject was tired" --unset label
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @OptionGroup var details: RecordingDetailOptions

    @Option(
        help: ArgumentHelp(
            "A field, such as notes or time_zone, or a key of one's own, of which nothing is said any more; may be repeated.",
            valueName: "field"))
    var unset: [String] = []

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if details.stated.isEmpty && unset.isEmpty {
            throw ValidationError("Nothing is to be changed: give at least one option, such as --notes.")
        }
    }

    func run() throws {
        let store = try options.openForControl()
        let removed = unset.map { name -> (field: RecordingField, value: String?) in
            let written = name.replacing("-", with: "_")
            return (RecordingField.columns.first { $0.name == written } ?? .property(key: name), nil)
        }
        let recording = try recording.number(in: store)
        let changed = try store.edit(RecordingID(rawValue: recording), details.stated + removed, at: HostClock.now)
        try EditFacts(recording: recording, changed: changed.map(\.name)).print(asJSON: output.json)
    }
}

/// What an edit led to.
struct EditFacts: Facts {
    var recording: Int64
    /// The fields that had said something else.
    var changed: [String]

    func lines(style: TerminalStyle) -> [String] {
        if changed.isEmpty { return ["Recording \(recording) says so already; nothing was changed."] }
        return ["Changed of recording \(recording): \(changed.joined(separator: ", ")). What was said before is kept."]
    }
}
