/// An element without attributes, as XDF's headers have them.
struct XMLElement: Hashable, Sendable {
    private var content: String

    /// An element that holds a text; every character that XML cannot hold becomes a space.
    init(_ name: String, _ text: String) {
        content = "<\(name)>\(Self.escaped(text))</\(name)>"
    }

    /// An element that holds others.
    init(_ name: String, _ children: [XMLElement]) {
        content = "<\(name)>" + children.map(\.content).joined() + "</\(name)>"
    }

    /// An element where there is a text for it.
    static func optional(_ name: String, _ text: String?) -> [XMLElement] {
        text.map { [XMLElement(name, $0)] } ?? []
    }

    /// The document of which this is the root, as UTF-8.
    var document: [UInt8] { Array(("<?xml version=\"1.0\"?>" + content).utf8) }

    /// XML 1.0, 2.2: characters; 2.4: which are to be escaped.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\u{9}", "\u{A}", "\u{D}": result.unicodeScalars.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
