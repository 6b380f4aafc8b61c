/// Reads the values of one document, and collects everything in it that is not exactly right: its line and column, the path of
/// its key, what is wrong and what may stand there.
package protocol YAMLReader {
    /// What was found so far.
    var problems: [YAMLProblem] { get set }
}

// MARK: Structure

extension YAMLReader {
    /// Reports a problem.
    package mutating func complain(_ value: YAMLValue, _ why: String, _ hint: String = "") {
        problems.append(value.problem(why, hint))
    }

    /// The known keys of a mapping; every other key is a problem, which names the nearest known one.
    package mutating func fields(_ value: YAMLValue, _ known: [String]) -> YAMLFields {
        guard let entries = value.entries else {
            if !value.isOpen {
                complain(value, "\(value.kind) is not a mapping", "allowed are the keys \(Spelling.list(known))")
            }
            return YAMLFields(owner: value, isMapping: false)
        }
        var fields = YAMLFields(owner: value, isMapping: true)
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

    /// A value that must be there; nil also where it is still to be filled in.
    package mutating func required(_ key: String, _ fields: YAMLFields, _ hint: String) -> YAMLValue? {
        if let value = fields[key], !value.isEmpty || value.isOpen { return value.isOpen ? nil : value }
        if fields.isMapping { complain(fields.owner, "'\(key)' is missing", hint) }
        return nil
    }

    /// A value that may be there; nil also where it is empty or still to be filled in.
    package func optional(_ key: String, _ fields: YAMLFields) -> YAMLValue? {
        fields[key].flatMap { $0.isOpen || $0.isEmpty ? nil : $0 }
    }

    /// The elements of a list; a value alone counts as a list of one.
    package func list(_ value: YAMLValue?) -> [YAMLValue] {
        guard let value, !value.isOpen else { return [] }
        return (value.elements ?? (value.isEmpty ? [] : [value])).filter { !$0.isOpen }
    }

    /// The elements of what must be a list.
    package mutating func elements(_ value: YAMLValue, _ hint: String) -> [YAMLValue] {
        if let elements = value.elements { return elements.filter { !$0.isOpen } }
        if !value.isOpen { complain(value, "\(value.kind) is not a list", hint) }
        return []
    }
}

// MARK: Scalars

extension YAMLReader {
    /// A text of at most `limit` characters without control characters but, where it may have several lines, their ends.
    package mutating func text(_ value: YAMLValue?, limit: Int, allowed: String, hasLines: Bool = false) -> String? {
        guard let value, !value.isOpen else { return nil }
        guard let text = value.text, !text.isEmpty else {
            complain(value, "\(value.kind) is not a text", allowed)
            return nil
        }
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 32 && !(hasLines && scalar == "\n") || scalar.value == 127
        }
        guard text.unicodeScalars.count <= limit, !text.unicodeScalars.contains(where: isControl) else {
            complain(value, "the text is longer than \(limit) characters or has control characters", allowed)
            return nil
        }
        return text
    }

    /// A whole number, decimal or `0x`.
    package mutating func integer(_ value: YAMLValue?, _ range: ClosedRange<Int>) -> Int? {
        guard let value, !value.isOpen else { return nil }
        let allowed = "allowed is a whole number, \(range.lowerBound) ... \(range.upperBound)"
        guard !value.isQuoted, let text = value.text, let number = Self.integer(text) else {
            complain(value, "\(value.kind)\(value.inQuotes) is not a whole number", allowed)
            return nil
        }
        guard range.contains(number) else {
            complain(value, "\(YAMLValue.printable(text)) is out of range", allowed)
            return nil
        }
        return number
    }

    /// The whole number that a text is: decimal, or hexadecimal behind `0x`; `_` may group its digits.
    private static func integer(_ text: String) -> Int? {
        let digits = text.filter { $0 != "_" }
        guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else { return Int(digits) }
        let hexadecimal = digits.dropFirst(2)
        return hexadecimal.allSatisfy(\.isHexDigit) ? Int(hexadecimal, radix: 16) : nil
    }

    /// A number or a calculation with numbers; only the latter may stand in quotes.
    package mutating func number(
        _ value: YAMLValue?, _ range: ClosedRange<Double>, nonzero: Bool = false, unit: String = ""
    ) -> Double? {
        guard let value, !value.isOpen else { return nil }
        let limits = "\(range.lowerBound.shortest) ... \(range.upperBound.shortest)"
        let allowed = limits + (unit.isEmpty ? "" : " " + unit) + (nonzero ? ", not 0" : "")
        guard let text = value.text, !value.isQuoted || Double(text) == nil, let number = Calculation.value(of: text) else {
            let example = "a number or a calculation such as 4.5e6 / (24 * (2^23 - 1))"
            complain(value, "\(value.kind)\(value.inQuotes) is not \(example)", "allowed is \(allowed)")
            return nil
        }
        guard range.contains(number), !nonzero || number != 0 else {
            complain(value, "\(number.shortest) is out of range", "allowed is \(allowed)")
            return nil
        }
        return number
    }

    /// `true` or `false`.
    package mutating func flag(_ value: YAMLValue?) -> Bool? {
        guard let value, !value.isOpen else { return nil }
        switch value.isQuoted ? nil : value.text {
        case "true": return true
        case "false": return false
        default:
            complain(value, "\(value.kind)\(value.inQuotes) is neither true nor false")
            return nil
        }
    }

    /// One of some words.
    package mutating func word<Value>(_ value: YAMLValue?, _ words: [(word: String, value: Value)]) -> Value? {
        guard let value, !value.isOpen else { return nil }
        if let text = value.text, let found = words.first(where: { $0.word == text }) { return found.value }
        complain(
            value, "\(value.kind) is not one of the words",
            Spelling.suggestion(for: value.text ?? "", among: words.map(\.word)))
        return nil
    }

    /// One of the words of a type.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ value: YAMLValue?, _: Word.Type) -> Word? {
        word(value, Word.allCases.map { ($0.rawValue, $0) })
    }
}

extension YAMLValue {
    /// Why what reads like a number or a flag is none.
    fileprivate var inQuotes: String { isQuoted ? " in quotes" : "" }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : String(self) }
}
