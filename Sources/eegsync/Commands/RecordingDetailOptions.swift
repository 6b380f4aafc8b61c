import ArgumentParser
import Storage

/// What a person says of a recording.
struct RecordingDetailOptions: ParsableArguments {
    @Option(help: "What the recording is called.")
    var label: String?

    @Option(help: "Who wears the headset. Write a code, not a name: it goes into exported files.")
    var subject: String?

    @Option(help: "What the subject does.")
    var task: String?

    @Option(help: "The session of the study.")
    var session: String?

    @Option(name: .customLong("run"), help: "The run of the task within the session.")
    var runNumber: String?

    @Option(help: "Who records. Write a code, not a name: it goes into exported files.")
    var `operator`: String?

    @Option(help: "Whatever is to be known of the recording.")
    var notes: String?

    @Option(help: "The time zone in which it was recorded, such as Europe/Berlin, or UTC.")
    var timeZone: String?

    @Option(help: "The subject's name, where the study may keep it.")
    var subjectName: String?

    @Option(help: "female, male or other.")
    var subjectSex: String?

    @Option(help: ArgumentHelp("The day on which the subject was born.", valueName: "yyyy-mm-dd"))
    var subjectBirthdate: String?

    @Option(help: "left, right or ambidextrous.")
    var subjectHandedness: String?

    @Option(help: ArgumentHelp("Whatever else, such as --set cap=M; may be repeated.", valueName: "key=value"))
    var set: [String] = []

    func validate() throws {
        for text in set where !text.contains("=") || text.hasPrefix("=") {
            throw ValidationError("--set '\(text)' is no key and value; write it as --set cap=M.")
        }
        try ZoneDatabase.check(timeZone)
    }

    /// What is said, in the order of the help.
    var stated: [(field: RecordingField, value: String?)] {
        let columns: [(RecordingField, String?)] = [
            (.label, label), (.subject, subject), (.task, task), (.session, session), (.run, runNumber),
            (.operator, `operator`), (.notes, notes), (.timeZone, timeZone), (.subjectName, subjectName),
            (.subjectSex, subjectSex), (.subjectBirthdate, subjectBirthdate), (.subjectHandedness, subjectHandedness),
        ]
        let properties = set.map { text -> (field: RecordingField, value: String?) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (.property(key: String(parts[0])), String(parts[1]))
        }
        return columns.compactMap { field, value in value.map { (field, Optional($0)) } } + properties
    }
}
