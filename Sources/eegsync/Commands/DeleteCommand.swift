import ArgumentParser
import Foundation
import Storage

/// `eegsync delete`: a recording goes.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a recording for good.",
        discussion: """
            Samples, gaps, times, annotations and everything else of the recording go; a note of who deleted it, and when, \
            stays (table `deletion`), so that an audit takes it for deleted and not for lost. Its number is not used again. A \
            recording that is wanted is refused: stop it first. Others may be recorded meanwhile: it goes in small \
            transactions. One that was interrupted goes on with the same command, or with `eegsync prune`.

            The room inside the file is used by what is recorded next; `eegsync compact` gives it back to the disk. To erase \
            a participant beyond recovery, use `eegsync forget`.

            EXAMPLES
              eegsync delete 12
              eegsync delete 12 --yes
            """)

    // By its number alone: 'latest' would be another one a moment later.
    @Argument(help: ArgumentHelp("The number of the recording.", valueName: "recording"))
    var recording: Int64

    @OptionGroup var consent: Consent
    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let id = RecordingID(rawValue: recording)
        let housekeeping = Housekeeping(path: try options.databasePath())
        let store = try options.openReadOnly()
        let isUnfinished = try store.deletions().contains { $0.recording == id && !$0.isComplete }
        let found = try store.recordings().first { $0.id == recording }
        if !isUnfinished {
            guard let found else { throw StorageError.notFound(what: "recording \(recording)") }
            let words = Housekeeping.words(for: found)
            try consent.obtain("Delete \(words) for good?")
        }
        try housekeeping.control(for: [id]).delete(id, means: .delete, housekeeping)
        try DeletionFacts(recordings: [recording], rows: found?.rows ?? 0).print(asJSON: output.json)
    }
}

/// What is gone.
struct DeletionFacts: Facts {
    var recordings: [Int64]
    var rows: Int64

    func lines(style: TerminalStyle) -> [String] {
        let numbers = recordings.map(String.init).joined(separator: ", ")
        return [
            style.apply(.good, to: "Deleted: recording \(numbers) (\(Quantity.count(rows, "row")))."),
            "The file keeps its size and fills the room again; `eegsync compact` gives it back to the disk.",
        ]
    }
}
