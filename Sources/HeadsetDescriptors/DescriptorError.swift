/// Why a text is no descriptor.
public enum DescriptorError: Error, Hashable, Sendable {
    /// The text is not YAML.
    case malformed(line: Int?, column: Int?, reason: String)
    /// The text is larger, or refers to itself more often, than any descriptor needs.
    case tooLarge(reason: String)
    /// The text says things that it may not say, or leaves out what it must say: in the order of the text, at most
    /// ``problemsMaximum`` of them.
    case invalid([DescriptorProblem])

    /// The most problems that are told at once.
    public static let problemsMaximum = 100

    /// The facts that somebody still has to fill in; empty where there are none.
    public var openFacts: [DescriptorProblem] {
        if case .invalid(let problems) = self { problems.filter(\.isOpenFact) } else { [] }
    }
}

extension DescriptorError: CustomStringConvertible {
    /// Everything that is wrong, a line for each.
    public var description: String {
        switch self {
        case .malformed(let line, let column, let reason):
            let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }.joined(separator: ", ")
            return (place.isEmpty ? "" : place + ": ") + "this is not YAML: \(reason)"
        case .tooLarge(let reason): return reason
        case .invalid(let problems): return problems.map(\.description).joined(separator: "\n")
        }
    }
}

/// One thing that is wrong in a descriptor.
public struct DescriptorProblem: Hashable, Sendable {
    /// The line of the text, from 1; nil where something is missing from the whole.
    public var line: Int?
    /// The column, from 1.
    public var column: Int?
    /// The place in words of keys, such as `streams[0].scale`; empty for the whole text.
    public var key: String
    /// What is wrong, in plain words.
    public var why: String
    /// What may stand there, or what was probably meant; empty where that is plain.
    public var hint: String
    /// True where nothing is wrong but a fact is still to be filled in.
    public var isOpenFact = false
}

extension DescriptorProblem: CustomStringConvertible {
    /// Such as `line 12, column 5: streams[0].scael: unknown key; did you mean 'scale'?`
    public var description: String {
        let place = line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
        return place + (key.isEmpty ? "" : key + ": ") + why + (hint.isEmpty ? "" : "; " + hint)
    }
}
