import ArgumentParser
import Bluetooth
import Storage

/// `eegsync mark`: an annotation at this instant, or at one that has passed.
struct Mark: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write an annotation into the running recordings, at this instant or at --at.",
        discussion: """
            Without --headset or --recording, every open recording gets it. The instant is the one at which the command ran, \
            whether or not the headset is connected or `eegsync run` runs.

            With --at it is an instant that has passed, and the recordings, running or ended, are those that ran then. \
            `eegsync marks` lists, corrects, deletes and imports annotations.

            With --lines, programs write many, one a line on standard input: the text, or a JSON object with text and, where \
            wanted, headset, duration_seconds, seconds_ago and boottime. Each line is answered with one.

            EXAMPLES
              eegsync mark "lights out"
              eegsync mark "eyes closed" --duration 60 --headset left
              eegsync mark "spoke" --at -5m
              eegsync mark "woke up" --at 2026-03-02T07:14:30+01:00 --recording 12
              my-experiment | eegsync mark --lines
            """)

    @Argument(help: "What to say about the instant.")
    var text: String?

    @Flag(help: "Take marks from standard input, one a line.")
    var lines = false

    @Option(help: ArgumentHelp("How long it lasts.", valueName: "seconds"))
    var duration: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "When it was: the time of this machine such as '2026-03-01 23:00:05.250', UTC with a Z at its end, or with "
                + "another zone such as 2026-03-01T23:00:05+01:00; or how long ago, such as -90s, -5m, -2h.", valueName: "time")
    )
    var at: PastTime?

    @Option(
        help: ArgumentHelp(
            "Instead of --at: when it was on the clock that counts from the boot of this machine, as eegsync tap says it.",
            valueName: "nanoseconds"))
    var boottime: Int64?

    @Option(help: "Only the open recording of this headset; with --at, the one that ran then.")
    var headset: String?

    @Option(help: ArgumentHelp("Only this recording, open or not. \(RecordingName.words)", valueName: "recording"))
    var recording: RecordingName?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if lines {
            guard text == nil, duration == nil, at == nil, boottime == nil, headset == nil, recording == nil else {
                throw ValidationError("With --lines, each line says what the mark is.")
            }
        } else if text == nil {
            throw ValidationError("Say what the mark is.")
        }
        try AnnotationLimits.check(text: text)
        try AnnotationLimits.check(durationSeconds: duration)
        if at != nil && boottime != nil { throw ValidationError("Give either --at or --boottime.") }
        if let boottime, boottime < 0 { throw ValidationError("The boottime must be 0 or more.") }
        if headset != nil && recording != nil { throw ValidationError("Give either --headset or --recording.") }
    }

    func run() throws {
        let now = HostClock.now
        let store = try options.openForControl()
        guard let text else { return MarkLines(store: store).run() }
        let onset = at.map { StatedOnset($0, now: now) } ?? boottime.map { .boottime(MonotonicTime(nanoseconds: $0)) }
        let recordings = try recordings(at: onset, in: store, now: now)
        var annotations: [Int64] = []
        for recording in recordings {
            guard let onset else {
                annotations.append(try store.mark(recording, text: text, durationSeconds: duration, at: now))
                continue
            }
            let stated = StatedAnnotation(onset: onset, durationSeconds: duration, description: text)
            annotations.append(try store.annotate(recording, with: stated, at: now))
        }
        let time = onset == nil ? nil : try annotations.first.flatMap { try store.annotation($0).onsetUnixNanoseconds }
        try MarkFacts(
            recordings: recordings.map(\.rawValue), annotations: annotations, description: text, durationSeconds: duration,
            onset: time.map(Quantity.utc), onsetUnixNanoseconds: time
        ).print(asJSON: output.json, clock: times.clock)
    }

    private func recordings(at onset: StatedOnset?, in store: ControlStore, now: MonotonicTime) throws -> [RecordingID] {
        if let recording { return [RecordingID(rawValue: try recording.number(in: store))] }
        let owner = headset.map { " of headset \($0)" } ?? ""
        let found: [RecordingID]
        if let onset {
            found = try store.recordings(at: onset, of: headset, now: now)
            if found.isEmpty { throw StorageError.notFound(what: "recording\(owner) that ran then") }
        } else {
            found = try store.openRecordings().filter { $0.isWanted && (headset == nil || $0.headsetName == headset) }
                .map(\.recording)
            if found.isEmpty { throw StorageError.notFound(what: "open recording\(owner)") }
        }
        return found
    }
}

/// What an annotation may be.
enum AnnotationLimits {
    /// A year: no annotation lasts longer.
    static let durationSecondsMaximum = AnnotationContents.durationSecondsMaximum

    /// The most bytes of a text that comes by itself or in a table.
    static let textByteMaximum = 10_000

    static func check(text: String?) throws {
        if let text, text.utf8.count > textByteMaximum {
            throw ValidationError("The text of the annotation has more than \(textByteMaximum) bytes.")
        }
        if text?.allSatisfy(\.isWhitespace) == true { throw ValidationError("The text of the annotation is empty.") }
    }

    static func check(durationSeconds: Double?) throws {
        if let durationSeconds, !(0...durationSecondsMaximum).contains(durationSeconds) {
            throw ValidationError("The duration must be 0 ... 31536000 seconds.")
        }
    }
}

extension StatedOnset {
    /// A time as a person writes it.
    init(_ time: PastTime, now: MonotonicTime) {
        switch time {
        case .at(let nanoseconds): self = .unix(nanoseconds: nanoseconds)
        case .ago(let span): self = .boottime(now - span)
        }
    }
}

/// Where an annotation was written.
struct MarkFacts: Facts {
    var recordings: [Int64]
    /// The keys of the annotations, one for each recording.
    var annotations: [Int64]
    var description: String
    var durationSeconds: Double?
    /// UTC; nil for now.
    var onset: String?
    var onsetUnixNanoseconds: Int64?

    func lines(style: TerminalStyle) -> [String] {
        let numbers = recordings.map(String.init).joined(separator: ", ")
        let time = onsetUnixNanoseconds.map { ", at \(style.clock.text($0))" } ?? ""
        return ["Marked \"\(description.printable)\" in recording\(recordings.count == 1 ? "" : "s") \(numbers)\(time)."]
    }
}
