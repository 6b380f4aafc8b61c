import ArgumentParser
import Storage

/// `eegsync mark`: an annotation at this instant.
struct Mark: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write an annotation into the running recordings, at this instant.",
        discussion: """
            Without --headset or --recording, every open recording gets it. The instant is the one at which the command ran, \
            whether or not the headset is connected or `eegsync run` runs.

            EXAMPLES
              eegsync mark "lights out"
              eegsync mark "eyes closed" --duration 60 --headset left
            """)

    @Argument(help: "What to say about the instant.")
    var text: String

    @Option(help: ArgumentHelp("How long it lasts.", valueName: "seconds"))
    var duration: Double?

    @Option(help: "Only the open recording of this headset.")
    var headset: String?

    @Option(help: ArgumentHelp("Only this recording, open or not.", valueName: "number"))
    var recording: Int64?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if text.isEmpty { throw ValidationError("The text of the annotation is empty.") }
        if let duration, !(duration >= 0 && duration <= 31_536_000) {
            throw ValidationError("The duration must be 0 ... 31536000 seconds.")
        }
        if headset != nil && recording != nil { throw ValidationError("Give either --headset or --recording.") }
    }

    func run() throws {
        let now = HostClock.now
        let store = try options.openForControl()
        let marked: [RecordingID]
        if let recording {
            marked = [RecordingID(rawValue: recording)]
        } else {
            marked = try store.openRecordings().filter { $0.isWanted && (headset == nil || $0.headsetName == headset) }.map(
                \.recording)
            if marked.isEmpty {
                throw StorageError.notFound(what: headset.map { "open recording of headset \($0)" } ?? "open recording")
            }
        }
        for recording in marked { try store.mark(recording, text: text, durationSeconds: duration, at: now) }
        try MarkFacts(recordings: marked.map(\.rawValue), description: text, durationSeconds: duration).print(
            asJSON: output.json)
    }
}

/// Where an annotation was written.
struct MarkFacts: Facts {
    var recordings: [Int64]
    var description: String
    var durationSeconds: Double?

    func lines(style: TerminalStyle) -> [String] {
        let numbers = recordings.map(String.init).joined(separator: ", ")
        return ["Marked \"\(description.printable)\" in recording\(recordings.count == 1 ? "" : "s") \(numbers)."]
    }
}
