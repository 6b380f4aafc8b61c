/// What one check found.
struct Finding: Encodable, Hashable {
    /// How bad it is.
    enum Verdict: String, Encodable, CaseIterable {
        /// As it should be.
        case ok
        /// It works, but something will be missing or lost sooner or later.
        case warning
        /// It does not work until a person does something.
        case problem
    }

    /// What was looked at, in a word or two.
    var check: String
    var verdict: Verdict
    /// What was found, in one sentence.
    var sentence: String
    /// What a person can do; nil where nothing needs to be done.
    var remedy: String?

    static func ok(_ check: String, _ sentence: String) -> Finding {
        Finding(check: check, verdict: .ok, sentence: sentence)
    }

    static func warning(_ check: String, _ sentence: String, remedy: String) -> Finding {
        Finding(check: check, verdict: .warning, sentence: sentence, remedy: remedy)
    }

    static func problem(_ check: String, _ sentence: String, remedy: String) -> Finding {
        Finding(check: check, verdict: .problem, sentence: sentence, remedy: remedy)
    }
}
