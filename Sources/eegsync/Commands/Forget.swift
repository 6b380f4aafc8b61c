import ArgumentParser
import Foundation
import Storage

/// `eegsync forget`: a participant is erased.
struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Erase a participant: every recording of a subject, beyond recovery from the file.",
        discussion: """
            All recordings whose subject (or subject_name) is SUBJECT go, with annotations, properties, what was said of \
            them before, captures of the headsets that recorded them, digests in the witness, and copies that eegsync \
            itself has made before changes of the schema. Then the database is written anew and its log is emptied, so \
            that no byte of it is left in either. A note stays that something was erased, when and by whom, without its \
            times and its headset.

            It needs the room to write the database anew (see `eegsync compact`), and nobody may record meanwhile. Where the \
            name still stands in other recordings, such as in an annotation, the columns are listed: correct them by hand. \
            Exports, backups and manifests elsewhere are yours to erase. A card keeps old blocks where no program reaches \
            them: encrypt it, or destroy it, if that matters.

            Where it is interrupted, or another program that reads the database hinders it (75), the same command goes on, \
            also when no recording of SUBJECT is left.

            EXAMPLES
              sudo systemctl stop eegsync
              sudo -u eegsync eegsync forget P07
            """)

    @Argument(help: ArgumentHelp("The subject, as the recordings name it.", valueName: "subject"))
    var subject: String

    @OptionGroup var consent: Consent
    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store = try options.openForMaintenance()
        try store.control.noteClockOffset(HostClock.offset())
        let recordings = try store.recordings(ofSubject: subject).map(\.rawValue)
        let isRepeated = try recordings.isEmpty && store.hasForgotten()
        guard isRepeated || !recordings.isEmpty else {
            throw StorageError.notFound(what: "recording of a subject \(subject)")
        }
        try store.requireRoomToCompact()
        let numbers = recordings.map(String.init).joined(separator: ", ")
        let name = subject.printable
        try consent.obtain(
            isRepeated
                ? "No recording of \(name) is left. Finish what an earlier erasure may have left, and write the file anew?"
                : "Erase \(name) for good: recording \(numbers)?")
        var bar = ProgressBar(label: "erasing")
        defer { bar.finish() }
        let erasure = try store.forget(subject: subject, by: Requester.name(), at: HostClock.now) { done, total in
            bar.update(done: done, total: total)
        }
        bar.finish()
        if let failure = Self.failure(erasure, subject: name) { throw failure }
        try store.close()
        try ForgottenFacts(erasure, subject: subject).print(asJSON: output.json)
    }

    /// What is done and what is left of an erasure that was hindered; nil where it is complete.
    static func failure(_ erasure: SubjectErasure, subject: String) -> Failure? {
        guard let hindrance = erasure.hindrance else { return nil }
        func named(_ recordings: [Int64]) -> String { recordings.map(String.init).joined(separator: ", ") }
        let cause = Failure(hindrance)
        var problem = cause.problem
        if case .busy = hindrance {
            problem = "another program holds the database, or reads an older state of it, which the log keeps for it."
        }
        let done = erasure.recordings.isEmpty ? "no recording is deleted" : "recording \(named(erasure.recordings)) is deleted"
        let left =
            erasure.remaining.isEmpty
            ? "the file is to be written anew and its log emptied: they still hold bytes of what was deleted"
            : "recording \(named(erasure.remaining)) is to be deleted, and then the file to be written anew"
        let mentions = erasure.mentions.isEmpty ? "" : "; the name still stands in \(erasure.mentions.joined(separator: ", "))"
        return Failure(
            problem: "the erasure of \(subject) did not come to its end: \(problem)",
            consequence: "\(done); \(left)\(mentions).",
            remedy: "end what hinders it, such as programs that have the database open, and run the same command again.",
            code: cause.code)
    }
}

/// What was erased.
struct ForgottenFacts: Facts {
    var recordings: [Int64]
    var removedFiles: [String]
    /// Columns of other recordings in which the name still stands.
    var mentions: [String]
    /// Files beside the database that may hold the participant.
    var otherFiles: [String]
    /// The participant, as named on the command line.
    private var subject: String

    private enum CodingKeys: String, CodingKey {
        case recordings, removedFiles, mentions, otherFiles
    }

    init(_ erasure: SubjectErasure, subject: String) {
        self.subject = subject
        (recordings, removedFiles) = (erasure.recordings, erasure.removedFiles)
        (mentions, otherFiles) = (erasure.mentions, erasure.otherFiles)
    }

    func lines(style: TerminalStyle) -> [String] {
        let numbers = recordings.map(String.init).joined(separator: ", ")
        let done =
            recordings.isEmpty
            ? "Nothing of \(subject.printable) is left; the file was rewritten, and its log is empty."
            : "Erased: recording \(numbers). The file was written anew, and its log is empty."
        var lines = [style.apply(.good, to: done)]
        lines += removedFiles.map { "Removed, as it held an older state: \($0)" }
        if !mentions.isEmpty {
            lines.append(style.apply(.caution, to: "The name still stands in other recordings; correct it by hand:"))
            lines += mentions.map { "  \($0)" }
        }
        lines += otherFiles.map { style.apply(.caution, to: "May hold the participant, and was left: \($0)") }
        lines.append("Exports, backups and manifests elsewhere are yours to erase.")
        return lines
    }
}
