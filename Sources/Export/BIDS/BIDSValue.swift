import FoundationEssentials

/// A value of a JSON document.
enum BIDSValue: Hashable, Encodable {
    case text(String)
    case number(Double)
    case whole(Int64)
    case list([BIDSValue])
    case object([String: BIDSValue])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .whole(let number): try container.encode(number)
        case .list(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }

    /// The document as it stands in a file: indented, its keys in order.
    var document: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }

    /// A number where the text is one, else the text.
    init(said text: String) {
        self = Double(text).flatMap { $0.isFinite ? .number($0) : nil } ?? .text(text)
    }

    /// What describes a column of a table.
    static func column(
        _ description: String, units: String? = nil, levels: [String: String] = [:], further: [String: BIDSValue] = [:]
    ) -> BIDSValue {
        var fields = further
        fields["Description"] = .text(description)
        if let units { fields["Units"] = .text(units) }
        if !levels.isEmpty { fields["Levels"] = .object(levels.mapValues { .object(["Description": .text($0)]) }) }
        return .object(fields)
    }
}

extension BIDSValue: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = .text(value) }
}
