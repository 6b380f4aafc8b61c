import ArgumentParser
import Centre
import Foundation
import Storage

/// Which recordings are exported: those that are named, or all that fit what is said of them.
struct ExportedRecordings: ParsableArguments {
    @Argument(help: ArgumentHelp("Which recordings. \(RecordingName.words)", valueName: "recording"))
    var recordings: [RecordingName] = []

    @Option(help: "All recordings of this participant.")
    var subject: String?

    @Option(help: "All recordings of this task.")
    var task: String?

    @Option(help: "All recordings of this label.")
    var label: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "All recordings that began since then: the time of this machine such as '2026-03-01 23:00', UTC such as "
                + "2026-03-01T22:00:00Z, or how long ago, such as 2h, 3d.", valueName: "time"))
    var since: PastTime?

    /// Whether recordings are asked for by what is said of them.
    var isQuery: Bool { subject != nil || task != nil || label != nil || since != nil }

    /// Whether there may be several, so that each needs a name of its own.
    var mayBeSeveral: Bool { isQuery || recordings.count > 1 }

    func validate() throws {
        if recordings.isEmpty, !isQuery {
            throw ValidationError(
                "Say which recording: its number, 'latest', a headset, or --subject, --task, --label, --since.")
        }
        if !recordings.isEmpty, isQuery {
            throw ValidationError(
                "Name recordings, or say what fits them (--subject, --task, --label, --since); both at once say two things.")
        }
    }

    /// Their numbers, each once; ascending where they were asked for by what is said of them.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is none.
    func numbers(in store: some Store, now: Int64) throws -> [Int64] {
        if !isQuery {
            var numbers: [Int64] = []
            for number in try recordings.map({ try $0.number(in: store) }) where !numbers.contains(number) {
                numbers.append(number)
            }
            return numbers
        }
        let since = since?.unixNanoseconds(now: now) ?? .min
        let found = try store.recordings().filter { recording in
            (subject == nil || recording.subject == subject) && (task == nil || recording.task == task)
                && (label == nil || recording.label == label)
                && (self.since == nil || (recording.startUnixNanoseconds ?? .min) >= since)
        }.map(\.id)
        guard !found.isEmpty else { throw StorageError.notFound(what: "recording that fits what was asked for") }
        return found
    }

    /// Their names at a centre, UUIDs or numbers, each once.
    ///
    /// - Throws: ``CentreError``; `Failure` where a name is one that only a machine's own database knows.
    func names(at connection: CentreConnection, now: Int64) throws -> [String] {
        if isQuery {
            return try RecordingFetch(connection).numbers(
                subject: subject, task: task, label: label, since: since?.unixNanoseconds(now: now)
            ).map(String.init)
        }
        var names: [String] = []
        for name in try recordings.map({ try $0.nameAtCentre() }) where !names.contains(name) { names.append(name) }
        return names
    }
}
