import Headsets
import Storage

/// What the names of a recording's files are made of (BIDS, Entities).
struct BIDSEntities: Hashable {
    /// Letters and digits of the recording's subject.
    var subject: String
    /// Nil where nobody has named a session.
    var session: String?
    var task: String
    /// The run that a person has named; nil where the next free one is taken.
    var run: Int?
    /// The recording's task as a person wrote it.
    var taskName: String

    /// The task of a recording of which nobody has said it.
    static let unspecifiedTask = "unspecified"

    /// - Throws: ``ExportError/notRepresentable(what:reason:advice:)`` where nobody has said who the subject was, or what was
    ///   said has neither letters nor digits: two people must never become one.
    init(_ contents: RecordingContents) throws {
        guard let subject = Self.label(contents.subject) else {
            throw ExportError.notRepresentable(
                what: "Recording \(contents.id.rawValue)",
                reason: contents.subject.map { "its subject '\($0)' has no letters or digits of ASCII" }
                    ?? "nobody has said whose it is, and a dataset is ordered by subjects",
                advice: "Say it: `eegsync recordings edit \(contents.id.rawValue) --subject S01`.")
        }
        self.subject = subject
        session = Self.label(contents.provenance[.session])
        task = Self.label(contents.task) ?? Self.unspecifiedTask
        taskName = contents.task ?? Self.unspecifiedTask
        // Of "run 2" the 2.
        let digits = contents.provenance[.run].map { $0.filter { $0.isASCII && $0.isNumber } }
        run = digits.flatMap { Int($0.prefix(6)) }
    }

    /// A label: the letters and digits of ASCII; nil where there is none.
    static func label(_ text: String?) -> String? {
        let label = (text ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return label.isEmpty ? nil : String(label.prefix(64))
    }

    /// The subject's directory in the dataset, or that of the session: `sub-S01/ses-1`.
    var directory: String { session.map { "sub-\(subject)/ses-\($0)" } ?? "sub-\(subject)" }

    /// What the names of all files of the session begin with: `sub-S01_ses-1`.
    var sessionPrefix: String { session.map { "sub-\(subject)_ses-\($0)" } ?? "sub-\(subject)" }

    /// What the names of a run's files begin with: `sub-S01_ses-1_task-rest_run-01`, before the run with the label of a
    /// tracking system where there is one.
    func prefix(run: Int, trackingSystem: String? = nil) -> String {
        let system = trackingSystem.map { "_tracksys-\($0)" } ?? ""
        return "\(sessionPrefix)_task-\(task)\(system)_run-\(CivilTime.digits(run))"
    }

    /// The run of a file of this subject, session and task; nil for other files.
    func run(ofFile name: String) -> Int? {
        guard let prefix = Self.runPrefix(ofFile: name), prefix.hasPrefix("\(sessionPrefix)_task-\(task)_run-") else {
            return nil
        }
        return prefix.split(separator: "-").last.flatMap { Int($0) }
    }

    /// What all files of a run share: `sub-S01_task-rest_run-01`; nil where the name has no run.
    static func runPrefix(ofFile name: String) -> String? {
        let parts = name.split(separator: "_")
        guard let run = parts.firstIndex(where: { $0.hasPrefix("run-") }) else { return nil }
        return parts[...run].filter { !$0.hasPrefix("tracksys-") }.joined(separator: "_")
    }
}
