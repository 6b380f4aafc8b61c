import Yams

/// A value of a descriptor together with its place, so that every complaint can say where.
struct DescriptorNode {
    /// The tag of a value that the descriptor's owner has to fill in; the value is the question.
    static let openTag = "!fill-in"

    let node: Node
    /// The place in words of keys, such as `streams[0].scale`; empty for the whole text.
    let path: String

    /// A complaint about this value.
    func problem(_ why: String, _ hint: String = "") -> DescriptorProblem {
        DescriptorProblem(line: node.mark?.line, column: node.mark?.column, key: path, why: why, hint: hint)
    }

    /// True where the value is still to be filled in.
    var isOpen: Bool { node.tag.rawValue == Self.openTag }

    /// True where the key has no value.
    var isEmpty: Bool {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// The text of a scalar, however it was written; nil for anything else and for nothing.
    var text: String? { isEmpty ? nil : node.scalar?.string }

    /// What the value is, for a complaint about its type.
    var kind: String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        case .scalar: isEmpty ? "nothing" : "'\(Self.printable(node.scalar?.string ?? ""))'"
        }
    }

    /// Text of the file, cut to what fits in a message and without control characters.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(41).map { $0.value < 32 || $0.value == 127 ? "?" : String($0) }
        return scalars.count > 40 ? scalars.prefix(40).joined() + "…" : scalars.joined()
    }

    /// The keys of a mapping with their nodes and values, in the order of the text; nil for anything else.
    var entries: [(key: DescriptorNode, value: DescriptorNode)]? {
        guard let mapping = node.mapping else { return nil }
        return mapping.map { pair in
            let key = Self.printable(pair.key.scalar?.string ?? "?")
            let below = path.isEmpty ? key : "\(path).\(key)"
            return (DescriptorNode(node: pair.key, path: below), DescriptorNode(node: pair.value, path: below))
        }
    }

    /// The elements of a list; nil for anything else.
    var elements: [DescriptorNode]? {
        guard let sequence = node.sequence else { return nil }
        return sequence.enumerated().map { DescriptorNode(node: $0.element, path: "\(path)[\($0.offset)]") }
    }
}

/// The known keys of a mapping.
struct DescriptorFields {
    /// The mapping itself.
    let owner: DescriptorNode
    /// False where it is no mapping at all; that was complained about.
    let isMapping: Bool
    fileprivate(set) var values: [(key: String, value: DescriptorNode)] = []

    subscript(key: String) -> DescriptorNode? { values.first { $0.key == key }?.value }
}

extension DescriptorReader {
    /// The known keys of a mapping; every other key is a problem.
    mutating func fields(_ node: DescriptorNode, _ known: [String]) -> DescriptorFields {
        guard let entries = node.entries else {
            if !node.isOpen { complain(node, "\(node.kind) is not a mapping", "allowed are the keys \(Spelling.list(known))") }
            return DescriptorFields(owner: node, isMapping: false)
        }
        var fields = DescriptorFields(owner: node, isMapping: true)
        for (key, value) in entries {
            let name = key.text ?? ""
            if known.contains(name) {
                fields.values.append((name, value))
            } else {
                complain(key, "unknown key", Spelling.suggestion(for: name, among: known))
            }
        }
        return fields
    }

    /// A value that must be there.
    mutating func required(_ key: String, _ fields: DescriptorFields, _ hint: String) -> DescriptorNode? {
        if let value = fields[key], !value.isEmpty || value.isOpen { return value.isOpen ? nil : value }
        if fields.isMapping { complain(fields.owner, "'\(key)' is missing", hint) }
        return nil
    }

    /// A value that may be there; nil also where it is still to be filled in.
    func optional(_ key: String, _ fields: DescriptorFields) -> DescriptorNode? {
        fields[key].flatMap { $0.isOpen || $0.isEmpty ? nil : $0 }
    }

    /// The elements of a list; a value alone counts as a list of one.
    func list(_ node: DescriptorNode?) -> [DescriptorNode] {
        guard let node, !node.isOpen else { return [] }
        return (node.elements ?? (node.isEmpty ? [] : [node])).filter { !$0.isOpen }
    }

    /// Notes a problem.
    mutating func complain(_ node: DescriptorNode, _ why: String, _ hint: String = "") {
        problems.append(node.problem(why, hint))
    }

    /// A text of at most `limit` characters without control characters but line ends.
    mutating func text(_ node: DescriptorNode?, limit: Int, allowed: String) -> String? {
        guard let node else { return nil }
        guard let text = node.text, !text.isEmpty else {
            if !node.isOpen { complain(node, "\(node.kind) is not a text", allowed) }
            return nil
        }
        guard text.unicodeScalars.count <= limit,
            !text.unicodeScalars.contains(where: { $0.value < 32 && $0 != "\n" || $0.value == 127 })
        else {
            complain(node, "the text is longer than \(limit) characters or has control characters", allowed)
            return nil
        }
        return text
    }

    /// A whole number, decimal or `0x`.
    mutating func integer(_ node: DescriptorNode?, _ range: ClosedRange<Int>) -> Int? {
        guard let node, !node.isOpen else { return nil }
        let allowed = "allowed is a whole number, \(range.lowerBound) ... \(range.upperBound)"
        guard let text = node.text, let number = Self.integer(text) else {
            complain(node, "\(node.kind) is not a whole number", allowed)
            return nil
        }
        guard range.contains(number) else {
            complain(node, "\(DescriptorNode.printable(text)) is out of range", allowed)
            return nil
        }
        return number
    }

    static func integer(_ text: String) -> Int? {
        let digits = text.filter { $0 != "_" }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            let hexadecimal = digits.dropFirst(2)
            return hexadecimal.allSatisfy(\.isHexDigit) ? Int(hexadecimal, radix: 16) : nil
        }
        return Int(digits)
    }

    /// A number or a calculation with numbers.
    mutating func number(_ node: DescriptorNode?, _ range: ClosedRange<Double>, nonzero: Bool = false) -> Double? {
        guard let node, !node.isOpen else { return nil }
        guard let text = node.text, let number = Calculation.value(of: text) else {
            complain(node, "\(node.kind) is neither a number nor a calculation such as 4.5e6 / (24 * (2^23 - 1))")
            return nil
        }
        guard range.contains(number), !nonzero || number != 0 else {
            let limits = "\(range.lowerBound.shortest) ... \(range.upperBound.shortest)" + (nonzero ? ", not 0" : "")
            complain(node, "\(number.shortest) is out of range", "allowed is \(limits)")
            return nil
        }
        return number
    }

    /// `true` or `false`.
    mutating func flag(_ node: DescriptorNode?) -> Bool? {
        guard let node, !node.isOpen else { return nil }
        switch node.text {
        case "true": return true
        case "false": return false
        default:
            complain(node, "\(node.kind) is neither true nor false")
            return nil
        }
    }

    /// One of some words.
    mutating func word<Value>(_ node: DescriptorNode?, _ words: [(word: String, value: Value)]) -> Value? {
        guard let node, !node.isOpen else { return nil }
        if let text = node.text, let found = words.first(where: { $0.word == text }) { return found.value }
        complain(
            node, "\(node.kind) is not one of the words",
            Spelling.suggestion(for: node.text ?? "", among: words.map(\.word)))
        return nil
    }
}

extension Double {
    /// Without a fraction where there is none.
    var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : String(self) }
}
