internal import Yams

extension YAMLReader {
    /// Reads a text as YAML, and reports everything in it that is still to be filled in.
    ///
    /// - Parameter lengthMaximum: the most bytes of the text, a power of two of at least 1024.
    /// - Throws: ``YAMLDocumentError`` where there is nothing to be read.
    package mutating func document(_ text: String, lengthMaximum: Int) throws(YAMLDocumentError) -> YAMLValue {
        guard text.utf8.count <= lengthMaximum else {
            throw .tooLarge(reason: "the text is larger than \(lengthMaximum / 1024) KiB")
        }
        let root = YAMLValue(try YAMLLimits.compose(text), path: "")
        var valueCount = 0
        guard survey(root, depth: 0, &valueCount) else {
            throw .tooLarge(reason: "the text has more than \(YAMLLimits.values) values, or is nested too deeply")
        }
        return root
    }

    /// Ends the reading of a document.
    ///
    /// - Throws: ``YAMLDocumentError/invalid(_:)`` with everything that was found, in the order of the text.
    package func refuseProblems() throws(YAMLDocumentError) {
        guard !problems.isEmpty else { return }
        let inOrder = problems.enumerated().sorted {
            ($0.element.line ?? 0, $0.element.column ?? 0, $0.offset) < (
                $1.element.line ?? 0, $1.element.column ?? 0, $1.offset
            )
        }
        throw .invalid(Array(inOrder.map(\.element).prefix(YAMLDocumentError.problemsMaximum)))
    }

    /// Counts the values, and collects those that are still to be filled in; false where there are too many.
    private mutating func survey(_ value: YAMLValue, depth: Int, _ count: inout Int) -> Bool {
        count += 1
        guard count <= YAMLLimits.values, depth < YAMLLimits.depth else { return false }
        if value.isOpen {
            let question = (value.text ?? "").prefix(300).split(whereSeparator: \.isNewline).joined(separator: " ")
            var problem = value.problem("still to be filled in", question)
            problem.isOpenFact = true
            problems.append(problem)
            return true
        }
        for (_, below) in value.entries ?? [] where !survey(below, depth: depth + 1, &count) { return false }
        for element in value.elements ?? [] where !survey(element, depth: depth + 1, &count) { return false }
        return true
    }
}

/// What no document exceeds, so that a hostile one ends before memory does.
private enum YAMLLimits {
    /// The most values, aliases followed.
    static let values = 20_000
    /// The most mappings and lists inside one another.
    static let depth = 64
    /// The most signs that could be an anchor or an alias. Each alias can at most double what stands below it.
    static let aliasSigns = 40

    static func compose(_ text: String) throws(YAMLDocumentError) -> Node {
        // Aliases of aliases can stand for more values than there are atoms; they are counted before anything follows them.
        let signs = text.utf8.count { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "*") }
        let words = text.split { $0 == "\n" || $0 == " " || $0 == "," || $0 == "[" || $0 == "{" || $0 == "-" || $0 == ":" }
        guard
            signs <= aliasSigns
                || words.count(where: { $0.count > 1 && ($0.hasPrefix("&") || $0.hasPrefix("*")) }) <= aliasSigns
        else { throw .tooLarge(reason: "the text has more than \(aliasSigns) anchors and aliases") }
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw YAMLDocumentError(error, in: text)
        } catch {
            throw .malformed(line: nil, column: nil, reason: "it cannot be read")
        }
        guard let node else { throw .malformed(line: nil, column: nil, reason: "the text is empty") }
        return node
    }
}

extension YAMLDocumentError {
    fileprivate init(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self = .malformed(line: mark.line, column: mark.column, reason: problem)
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.first.map(YAMLValue.printable) ?? "?"
            let first = context.mark
            let second = keys.first.flatMap { RepeatedKey($0, text).second(line: first.line, column: first.column) }
            self = .malformed(
                line: second?.line ?? first.line, column: second?.column ?? first.column,
                reason: "the key '\(key)' is written twice" + (second == nil ? "" : ", first in line \(first.line)"))
        case .reader(let problem, _, _, _): self = .malformed(line: nil, column: nil, reason: problem)
        default: self = .malformed(line: nil, column: nil, reason: "it cannot be read")
        }
    }
}

/// A key that a mapping has twice, of which Yams says where it stands first.
private struct RepeatedKey {
    let key: String
    private let lines: [Substring]

    init(_ key: String, _ text: String) {
        self.key = key
        lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    }

    /// Where it stands again; nil where that cannot be seen. All numbers from 1.
    ///
    /// Keys of a mapping in lines stand below each other, those in braces behind each other.
    func second(line: Int, column: Int) -> (line: Int, column: Int)? {
        guard lines.indices.contains(line - 1), column >= 1 else { return nil }
        let first = lines[line - 1].dropFirst(column - 1)
        let indent = String(repeating: " ", count: column - 1)
        for (index, text) in lines.enumerated().dropFirst(line) {
            if text.hasPrefix(indent), isKey(text.dropFirst(column - 1)) { return (index + 1, column) }
            let isBlank = text.allSatisfy(\.isWhitespace) || text.first { $0 != " " } == "#"
            if !isBlank, !text.hasPrefix(indent) { break }
        }
        for offset in first.indices.dropFirst() where isKey(first[offset...]) {
            guard "{, ".contains(first[first.index(before: offset)]) else { continue }
            return (line, column + first.distance(from: first.startIndex, to: offset))
        }
        return nil
    }

    /// Whether a text begins with the key, plain or in quotes.
    private func isKey(_ text: Substring) -> Bool {
        ["\(key)", "\"\(key)\"", "'\(key)'"].contains { written in
            text.hasPrefix(written) && text.dropFirst(written.count).first { $0 != " " } == ":"
        }
    }
}
