/// A help text of the argument parser for the room that there is. The parser never breaks the line of the usage, and begins the
/// rest of an example at the left edge.
struct HelpText {
    /// Wider than any line that the parser could break by itself.
    static let unbrokenColumns = 10_000
    /// Where the parser begins what it says of an argument or an option.
    private static let helpColumn = 26
    private static let usage = "USAGE: "

    private let lines: [String]

    /// - Parameter text: a help text that the parser made for ``unbrokenColumns``; nil where it is something else, such as a
    ///   version or a script of completions.
    init?(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.contains(where: { $0.hasPrefix(Self.usage) }) else { return nil }
    }

    /// The text in lines of at most `columns` columns, broken between words; only a word that is longer takes more.
    func wrapped(columns: Int) -> String {
        var isTable = false
        return lines.flatMap { line -> [String] in
            if !line.hasPrefix(" "), !line.isEmpty { isTable = line.hasSuffix(":") && line == line.uppercased() }
            if line.hasPrefix(Self.usage) {
                // An option stays on the line of its value.
                let rest = line.dropFirst(Self.usage.count).replacing(#/ (?=<[^>]*>\])/#, with: "\u{A0}")
                return Paragraph.block(String(rest), head: Self.usage, indent: Self.usage.count, columns: columns).map {
                    $0.replacing("\u{A0}", with: " ")
                }
            }
            let head = String(line.prefix(Self.helpColumn))
            guard isTable, line.count > Self.helpColumn, head.hasSuffix(" "), head.contains(where: { $0 != " " }) else {
                return Paragraph.fitted(line, columns: columns)
            }
            let rest = String(line.dropFirst(Self.helpColumn))
            return Paragraph.block(rest, head: head, indent: Self.helpColumn, columns: columns)
        }.joined(separator: "\n")
    }
}
