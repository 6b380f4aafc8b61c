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
        guard !recordings.isEmpty else { throw StorageError.notFound(what: "recording of a subject \(subject)") }
        try store.requireRoomToCompact()
        let numbers = recordings.map(String.init).joined(separator: ", ")
        try consent.obtain("Erase \(subject.printable) for good: recording \(numbers)?")
        var bar = ProgressBar(label: "erasing")
        defer { bar.finish() }
        let erasure = try store.forget(subject: subject, by: Requester.name(), at: HostClock.now) { done, total in
            bar.update(done: done, total: total)
        }
        try store.close()
        bar.finish()
        try ForgottenFacts(erasure).print(asJSON: output.json)
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

    init(_ erasure: SubjectErasure) {
        (recordings, removedFiles) = (erasure.recordings, erasure.removedFiles)
        (mentions, otherFiles) = (erasure.mentions, erasure.otherFiles)
    }

    func lines(style: TerminalStyle) -> [String] {
        let numbers = recordings.map(String.init).joined(separator: ", ")
        var lines = [style.apply(.good, to: "Erased: recording \(numbers). The file was written anew, and its log is empty.")]
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
