/// Words in lines that a terminal has room for.
enum Paragraph {
    /// The words of a text in lines of at most `width` columns; a longer word has a line of its own. One line at least.
    static func lines(_ text: String, width: Int) -> [String] {
        var rows: [String] = []
        for word in text.split(separator: " ") {
            if let last = rows.last, last.displayWidth + 1 + String(word).displayWidth <= width {
                rows[rows.count - 1] += " " + word
            } else {
                rows.append(String(word))
            }
        }
        return rows.isEmpty ? [""] : rows
    }

    /// A text behind a head, its further lines as far to the right.
    ///
    /// - Parameters:
    ///   - head: takes `indent` columns of a terminal.
    ///   - columns: how wide a line may be; nil for any width.
    static func block(
        _ text: String, head: String, indent: Int, columns: Int?, look: (String) -> String = { $0 }
    ) -> [String] {
        // A terminal too narrow for two columns wraps by itself.
        guard let room = columns.map({ $0 - indent }), room >= 24 else { return [head + look(text)] }
        let further = String(repeating: " ", count: indent)
        return lines(text, width: room).enumerated().map { ($0.offset == 0 ? head : further) + look($0.element) }
    }

    /// A finished line as several where it is wider than the terminal, each as far to the right as the first one begins.
    /// Escape sequences of styles take no room.
    ///
    /// - Parameter columns: how wide a line may be; nil for any width.
    static func fitted(_ line: String, columns: Int?) -> [String] {
        guard let columns, visibleWidth(line) > columns else { return [line] }
        let indent = String(line.prefix { $0 == " " })
        guard columns - indent.count >= 24 else { return [line] }
        var rows: [(text: String, width: Int)] = []
        for word in line.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
            let width = visibleWidth(word)
            if let last = rows.last, last.width + 1 + width <= columns - indent.count {
                rows[rows.count - 1] = (last.text + " " + word, last.width + 1 + width)
            } else {
                rows.append((String(word), width))
            }
        }
        return rows.map { indent + $0.text }
    }

    /// The columns that a text takes without its styles (SGR, ECMA-48, 8.3.117).
    private static func visibleWidth(_ text: some StringProtocol) -> Int {
        String(text).replacing(/\u{1B}\[[0-9;]*m/, with: "").displayWidth
    }
}
