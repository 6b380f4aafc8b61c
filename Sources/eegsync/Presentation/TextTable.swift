/// A table for a terminal: aligned columns under a heading, no lines.
struct TextTable {
    /// Where the text of a column stands.
    enum Alignment {
        case left, right
    }

    /// One column.
    struct Column {
        var heading: String
        var alignment: Alignment = .left
        /// True where long cells may take several lines, if the terminal is narrow.
        var wraps = false
    }

    /// No column is made narrower than this.
    private static let wrappedWidthMinimum = 8

    /// One cell; its style does not count as width.
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var style: TerminalStyle.Style?

        init(_ text: String, _ style: TerminalStyle.Style? = nil) {
            self.text = text
            self.style = style
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    /// Creates a table without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; missing cells are empty.
    mutating func append(_ row: [Cell]) {
        rows.append(row)
    }

    /// The lines, without spaces at their ends.
    ///
    /// - Parameter limit: how wide a line should be, as far as columns wrap; nil for any width.
    func rendered(style: TerminalStyle, columns limit: Int? = nil) -> [String] {
        let heading = columns.map { Cell($0.heading, .heading) }
        let all = ([heading] + rows).map { row in
            columns.indices.map { index in
                index < row.count ? Cell(row[index].text.printable, row[index].style) : Cell("")
            }
        }
        var widths = columns.indices.map { index in all.map { $0[index].text.displayWidth }.max() ?? 0 }
        guard let limit else { return all.map { row in line(row, widths: widths, style: style) } }
        let gaps = 2 * (columns.count - 1)
        while widths.reduce(gaps, +) > limit {
            let wrapping = columns.indices.filter { columns[$0].wraps && widths[$0] > Self.wrappedWidthMinimum }
            guard let widest = wrapping.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
        }
        return all.flatMap { row in wrapped(row, widths: widths).map { line($0, widths: widths, style: style) } }
    }

    /// A row as several, where cells that wrap are wider than their column.
    private func wrapped(_ row: [Cell], widths: [Int]) -> [[Cell]] {
        let parts = columns.indices.map { index in
            columns[index].wraps ? Paragraph.lines(row[index].text, width: widths[index]) : [row[index].text]
        }
        return (0..<(parts.map(\.count).max() ?? 0)).map { line in
            columns.indices.map { index in
                line < parts[index].count ? Cell(parts[index][line], row[index].style) : Cell("")
            }
        }
    }

    private func line(_ row: [Cell], widths: [Int], style: TerminalStyle) -> String {
        let last = row.lastIndex { !$0.text.isEmpty } ?? 0
        var line = ""
        for (index, cell) in row.enumerated() where index <= last {
            if index > 0 { line += "  " }
            // A word may be longer than a column that was made narrower.
            let padding = String(repeating: " ", count: max(0, widths[index] - cell.text.displayWidth))
            let text = cell.style.map { style.apply($0, to: cell.text) } ?? cell.text
            switch columns[index].alignment {
            case .left: line += index == last ? text : text + padding
            case .right: line += padding + text
            }
        }
        return line
    }
}
