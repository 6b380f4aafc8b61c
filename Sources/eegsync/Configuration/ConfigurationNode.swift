import Yams

/// A value of the configuration file together with its place, so that every complaint can say where.
struct ConfigurationNode {
    /// The value.
    let node: Node
    /// The place in words of keys, such as `headsets[1].model`; empty for the whole file.
    let path: String

    /// The line of the file, from 1.
    var line: Int? { node.mark?.line }

    /// A complaint about this value.
    func problem(_ why: String, allowed: String) -> ConfigurationError.Problem {
        ConfigurationError.Problem(line: line, path: path.isEmpty ? "the file" : path, why: why, allowed: allowed)
    }

    /// What the value is, for a complaint about its type.
    var kind: String {
        switch node {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        case .scalar: isEmpty ? "nothing" : "'\(printable)'"
        }
    }

    /// True where the key has no value.
    var isEmpty: Bool {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// The text of a scalar, cut to what fits in a message and without control characters.
    private var printable: String {
        let text = (node.scalar?.string ?? "").unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "?" : String($0) }
        return text.count > 40 ? text.prefix(40).joined() + "…" : text.joined()
    }

    /// The text where it was written without quotes; a quoted number is text.
    var plainText: String? {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any, !isEmpty else { return nil }
        return scalar.string
    }

    /// The keys of a mapping with their values, in the order of the file; nil for anything else.
    var entries: [(key: String, keyLine: Int?, value: ConfigurationNode)]? {
        guard let mapping = node.mapping else { return nil }
        return mapping.map { pair in
            let key = pair.key.scalar?.string ?? "?"
            return (key, pair.key.mark?.line, ConfigurationNode(node: pair.value, path: path.isEmpty ? key : "\(path).\(key)"))
        }
    }

    /// The elements of a list; nil for anything else.
    var elements: [ConfigurationNode]? {
        guard let sequence = node.sequence else { return nil }
        return sequence.enumerated().map { ConfigurationNode(node: $0.element, path: "\(path)[\($0.offset)]") }
    }
}
