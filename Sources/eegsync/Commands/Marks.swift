import ArgumentParser
import Storage

/// `eegsync marks`: the annotations of a recording.
struct Marks: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List annotations, correct one, delete some, or import a file.",
        discussion: """
            Annotations are what a person said with `eegsync mark`, what the headset sent (triggers, buttons), and what \
            eegsync notes. To correct or delete one loses nothing: what was said before stays in the database, and --all \
            shows it.

            EXAMPLES
              eegsync marks list left
              eegsync marks edit 31 --text "eyes closed" --duration 60
              eegsync marks delete 32 33
              eegsync marks import 12 events.tsv
            """,
        subcommands: [List.self, Edit.self, Delete.self, MarksImport.self], defaultSubcommand: List.self)

    /// `eegsync marks list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the annotations of a recording.",
            discussion: """
                POSITION counts from the recording's first sample. STREAM, N and CODE are of what was said of a sample, such \
                as a trigger.

                EXAMPLES
                  eegsync marks list 12
                  eegsync marks list 12 --all --json
                """)

        @Argument(help: RecordingName.help)
        var recording: RecordingName

        @Flag(help: "Also those that were corrected or deleted.")
        var all = false

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let store = try options.openReadOnly()
            let recording = try recording.number(in: store)
            let found = try store.annotations(of: RecordingID(rawValue: recording), includingWithdrawn: all)
            try MarksFacts(recording: recording, all: all, annotations: found.map(MarksFacts.Annotation.init)).print(
                asJSON: output.json, clock: times.clock)
        }
    }

    /// `eegsync marks edit`.
    struct Edit: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Correct an annotation; what it said before is kept.",
            discussion: """
                The corrected annotation has a number of its own. With --at, an annotation that was said of a sample is said \
                of that instant.

                EXAMPLES
                  eegsync marks edit 31 --text "eyes closed"
                  eegsync marks edit 31 --at 2026-03-01T22:00:05.250Z --duration none
                """)

        @Argument(help: "The number of the annotation.")
        var number: Int64

        @Option(help: "What to say instead.")
        var text: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("When it was, as in `eegsync mark`.", valueName: "time"))
        var at: PastTime?

        @Option(help: ArgumentHelp("How long it lasts, or 'none'.", valueName: "seconds"))
        var duration: String?

        @Option(parsing: .unconditional, help: ArgumentHelp("The number of a trigger.", valueName: "number"))
        var code: Int64?

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if text == nil && at == nil && duration == nil && code == nil {
                throw ValidationError("Say what to correct: --text, --at, --duration or --code.")
            }
            try AnnotationLimits.check(text: text)
            if let duration, duration != "none" {
                guard let seconds = Double(decimal: duration) else {
                    throw ValidationError("The duration must be a number of seconds, or 'none'.")
                }
                try AnnotationLimits.check(durationSeconds: seconds)
            }
        }

        func run() throws {
            let now = HostClock.now
            let store = try options.openForControl()
            let change = AnnotationChange(
                onset: at.map { StatedOnset($0, now: now) }, durationSeconds: duration.map { Double(decimal: $0) },
                description: text, code: code)
            let corrected = try store.correctAnnotation(number, change, at: now)
            let annotation = MarksFacts.Annotation(try store.annotation(corrected))
            try CorrectedFacts(annotation: annotation).print(asJSON: output.json, clock: times.clock)
        }
    }

    /// `eegsync marks delete`.
    struct Delete: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete annotations; `list --all` still shows them.",
            discussion: """
                Views and exports leave them out from now on. Either all are deleted or, where one is not there, none.

                EXAMPLE
                  eegsync marks delete 32 33
                """)

        @Argument(help: "The numbers of the annotations.")
        var numbers: [Int64]

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            try options.openForControl().withdrawAnnotations(numbers, at: HostClock.now)
            try DeletedFacts(deleted: numbers).print(asJSON: output.json)
        }
    }
}
