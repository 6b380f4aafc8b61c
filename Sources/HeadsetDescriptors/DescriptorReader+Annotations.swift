import Headsets
import YAMLReading

/// What packets mark.
extension DescriptorReader {
    mutating func annotation(_ node: YAMLValue, _ packet: DescribedPacket) -> DescribedAnnotation {
        let found = fields(node, ["text", "values", "code", "ticks", "stream", "counter"])
        var annotation = DescribedAnnotation(sentence(found, packet))
        annotation.code = field("code", found, packet)
        annotation.ticks = field("ticks", found, packet)
        annotation.counter = field("counter", found, packet)
        if let ticks = annotation.ticks?.number, ticks.kind != .unsigned, let node = found["ticks"] {
            complain(node, "\(ticks) is no clock", "ticks are a number without sign")
        }
        if let counter = annotation.counter?.number, counter.kind != .unsigned || counter.bits > 32, let node = found["counter"]
        {
            complain(node, "\(counter) cannot count", "a counter is a number without sign of at most 32 bits")
        }
        if let node = optional("stream", found) {
            annotation.stream = stream(node)
        } else if let node = found["counter"] {
            complain(node, "nothing says of which stream it is the counter", "write the name of the stream beside it")
        }
        return annotation
    }

    private mutating func field(_ key: String, _ found: YAMLFields, _ packet: DescribedPacket) -> DescribedField? {
        guard let node = optional(key, found) else { return nil }
        let found = field(fields(node, ["at", "bit", "type"]))
        check(found, node, packet)
        return found
    }

    private mutating func sentence(_ found: YAMLFields, _ packet: DescribedPacket) -> DescribedText {
        let textNode = required("text", found, "what the annotation says; {name} stands for a value")
        let template = text(textNode, limit: 200, allowed: "1 ... 200 characters") ?? ""
        var values: [(name: String, part: DescribedText.Part)] = []
        for (key, value) in optional("values", found)?.entries ?? [] where !value.isOpen {
            let keys = fields(value, ["at", "bit", "type", "words", "otherwise"])
            guard let field = field(keys) else { continue }
            check(field, value, packet)
            let words = table(optional("words", keys)).compactMap { number, node in
                text(node, limit: 64, allowed: "a word").map { DescribedText.Word(number, $0) }
            }
            let otherwise = text(optional("otherwise", keys), limit: 64, allowed: "a word")
            values.append((key.text ?? "", .value(field, words: words, otherwise: otherwise)))
        }
        var parts: [DescribedText.Part] = []
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            let name = String(rest[rest.index(after: open)..<close])
            if let value = values.first(where: { $0.name == name }) {
                parts.append(value.part)
            } else if let textNode {
                complain(
                    textNode, "'{\(name)}' is none of the 'values'", Spelling.suggestion(for: name, among: values.map(\.name)))
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return DescribedText(parts)
    }
}
