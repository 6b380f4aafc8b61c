internal import Yams

/// A value of a document together with its position, so that every problem can say where it is.
package struct YAMLValue {
    /// The tag of a value that the document's owner has to fill in; the value is the question.
    private static let openTag = "!fill-in"

    private let node: Node
    /// The path of keys, such as `streams[0].scale`; empty for the whole text.
    package let path: String

    init(_ node: Node, path: String) {
        self.node = node
        self.path = path
    }

    /// A problem of this value.
    package func problem(_ why: String, _ hint: String = "") -> YAMLProblem {
        YAMLProblem(line: node.mark?.line, column: node.mark?.column, key: path, why: why, hint: hint)
    }

    /// True where the value is still to be filled in.
    package var isOpen: Bool { node.tag.rawValue == Self.openTag }

    /// True where the key has no value.
    package var isEmpty: Bool {
        !isQuoted && node.scalar.map { ["", "~", "null", "Null", "NULL"].contains($0.string) } ?? false
    }

    /// True for a scalar that is a text however it reads: in quotes, or a block.
    var isQuoted: Bool { node.scalar.map { $0.style != .plain && $0.style != .any } ?? false }

    /// The text of a scalar, however it was written; nil for anything else and for nothing.
    package var text: String? { isEmpty ? nil : node.scalar?.string }

    /// What the value is, for a problem of its type.
    package var kind: String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        case .scalar: isEmpty ? "nothing" : "'\(Self.printable(node.scalar?.string ?? ""))'"
        }
    }

    /// Text of the document, cut to what fits in a message and without control characters.
    package static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(41).map { $0.value < 32 || $0.value == 127 ? "?" : String($0) }
        return scalars.count > 40 ? scalars.prefix(40).joined() + "…" : scalars.joined()
    }

    /// The keys of a mapping and their values, in the order of the text; nil for anything else.
    package var entries: [(key: YAMLValue, value: YAMLValue)]? {
        guard let mapping = node.mapping else { return nil }
        return mapping.map { pair in
            let key = Self.printable(pair.key.scalar?.string ?? "?")
            let below = path.isEmpty ? key : "\(path).\(key)"
            return (YAMLValue(pair.key, path: below), YAMLValue(pair.value, path: below))
        }
    }

    /// The elements of a list; nil for anything else.
    package var elements: [YAMLValue]? {
        node.sequence?.enumerated().map { YAMLValue($0.element, path: "\(path)[\($0.offset)]") }
    }
}

/// The known keys of a mapping.
package struct YAMLFields {
    /// The mapping itself.
    package let owner: YAMLValue
    /// False where it is no mapping at all; that was reported.
    package let isMapping: Bool
    /// The keys that are there, in the order of the text.
    package internal(set) var values: [(key: String, value: YAMLValue)] = []

    package subscript(key: String) -> YAMLValue? { values.first { $0.key == key }?.value }
}
