/// Text of a page that is well-formed whatever goes into it: names that people, headsets and other programs gave are escaped in
/// texts and in attributes, and names of elements are the program's own.
///
/// What it writes is HTML and XML at once, so that any XML reader can check it.
struct Markup {
    /// The page so far.
    private(set) var html = ""

    /// An element with what `body` puts into it.
    mutating func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], _ body: (inout Markup) -> Void = { _ in }
    ) {
        open(name, attributes)
        html += ">"
        body(&self)
        html += "</\(name)>"
    }

    /// An element with a text.
    mutating func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// An element that holds nothing.
    mutating func empty(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:]) {
        open(name, attributes)
        html += "/>"
    }

    /// A text.
    mutating func text(_ text: String) {
        html += Self.escaped(text)
    }

    /// A text that came from elsewhere, isolated: what writes from right to left turns nothing around it.
    mutating func name(_ text: String) {
        element("bdi", text: text)
    }

    /// The program's own text, as it stands: a style sheet, a doctype.
    mutating func verbatim(_ text: StaticString) {
        html += "\(text)"
    }

    /// The program's own numbers and letters, which need no escaping, such as rules of a style sheet made of constants.
    mutating func verbatim(styles text: String) {
        // Nothing in a style sheet may end it.
        html += text.filter { $0 != "<" && $0 != "&" }
    }

    private mutating func open(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>) {
        html += "<\(name)"
        for (key, value) in attributes {
            html += " \(key)=\""
            html += Self.escaped(value)
            html += "\""
        }
    }

    /// The text with what HTML would obey replaced by references, and with a replacement character for what no page may hold
    /// (control characters) and for what turns the direction of writing unseen.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F || isMarkup($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            default: result.unicodeScalars.append(isForbidden(scalar) ? "\u{FFFD}" : scalar)
            }
        }
        return result
    }

    private static func isMarkup(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'")].contains(byte)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: scalar.value & 0xFFFE == 0xFFFE || scalar.properties.generalCategory == .unassigned
        }
    }
}
