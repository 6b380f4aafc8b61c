/// Why a text is not the document that was asked for.
package enum YAMLDocumentError: Error, Hashable, Sendable {
    /// The text is not YAML.
    case malformed(line: Int?, column: Int?, reason: String)
    /// The text is larger, or refers to itself more often, than any document needs.
    case tooLarge(reason: String)
    /// The text says things that it may not say, or leaves out what it must say: in the order of the text, at most
    /// ``problemsMaximum`` of them.
    case invalid([YAMLProblem])

    /// The most problems that are reported at once.
    package static let problemsMaximum = 100

    /// Everything that is wrong; one problem where the text could not be read at all.
    package var problems: [YAMLProblem] {
        switch self {
        case .malformed(let line, let column, let reason):
            [YAMLProblem(line: line, column: column, key: "", why: "this is not YAML: \(reason)", hint: "")]
        case .tooLarge(let reason): [YAMLProblem(key: "", why: reason, hint: "")]
        case .invalid(let problems): problems
        }
    }
}

extension YAMLDocumentError: CustomStringConvertible {
    /// Everything that is wrong, a line for each.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong in a document.
package struct YAMLProblem: Hashable, Encodable, Sendable {
    /// The line of the text, from 1; nil where something is missing from the whole.
    package var line: Int?
    /// The column, from 1.
    package var column: Int?
    /// The path of keys, such as `streams[0].scale`; empty for the whole text.
    package var key: String
    /// What is wrong, in plain words.
    package var why: String
    /// What may stand there, or what was probably meant; empty where that is plain.
    package var hint: String
    /// True where nothing is wrong but a fact is still to be filled in.
    package var isOpenFact = false

    package init(line: Int? = nil, column: Int? = nil, key: String, why: String, hint: String) {
        self.line = line
        self.column = column
        self.key = key
        self.why = why
        self.hint = hint
    }
}

extension YAMLProblem: CustomStringConvertible {
    /// Such as `line 12, column 5: streams[0].scael: unknown key; did you mean 'scale'?`
    package var description: String {
        let position = line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
        return position + (key.isEmpty ? "" : key + ": ") + why + (hint.isEmpty ? "" : "; " + hint)
    }
}
