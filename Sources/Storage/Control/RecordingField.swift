/// Something that people say of a recording.
package enum RecordingField: Hashable, Sendable {
    case label, subject, task
    case session, run, `operator`, notes
    /// Of the tz database, such as `Europe/Berlin`.
    case timeZone
    case subjectName
    /// `female`, `male` or `other`.
    case subjectSex
    /// A date such as `1990-12-31`.
    case subjectBirthdate
    /// `left`, `right` or `ambidextrous`.
    case subjectHandedness
    /// Whatever else they say, under a key of theirs.
    case property(key: String)

    /// All that have a column.
    package static let columns: [RecordingField] = [
        .label, .subject, .task, .session, .run, .operator, .notes, .timeZone, .subjectName, .subjectSex, .subjectBirthdate,
        .subjectHandedness,
    ]

    /// The column, or `property:` and the key.
    package var name: String {
        switch self {
        case .label: "label"
        case .subject: "subject"
        case .task: "task"
        case .session: "session"
        case .run: "run"
        case .operator: "operator"
        case .notes: "notes"
        case .timeZone: "time_zone"
        case .subjectName: "subject_name"
        case .subjectSex: "subject_sex"
        case .subjectBirthdate: "subject_birthdate"
        case .subjectHandedness: "subject_handedness"
        case .property(let key): "property:" + key
        }
    }

    /// The table that has the column; nil for a property.
    var table: String? {
        switch self {
        case .label, .subject, .task: "recording"
        case .property: nil
        default: "recording_detail"
        }
    }

    /// The words that are allowed; nil for any text.
    package var words: [String]? {
        switch self {
        case .subjectSex: ["female", "male", "other"]
        case .subjectHandedness: ["left", "right", "ambidextrous"]
        default: nil
        }
    }

    /// The longest text, in characters.
    package static let lengthMaximum = 10_000
}
