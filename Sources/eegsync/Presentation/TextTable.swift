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
    }

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
    func rendered(style: TerminalStyle) -> [String] {
        let heading = columns.map { Cell($0.heading, .heading) }
        let all = ([heading] + rows).map { row in
            columns.indices.map { index in
                index < row.count ? Cell(row[index].text.printable, row[index].style) : Cell("")
            }
        }
        let widths = columns.indices.map { index in all.map { $0[index].text.displayWidth }.max() ?? 0 }
        return all.map { row in line(row, widths: widths, style: style) }
    }

    private func line(_ row: [Cell], widths: [Int], style: TerminalStyle) -> String {
        let last = row.lastIndex { !$0.text.isEmpty } ?? 0
        var line = ""
        for (index, cell) in row.enumerated() where index <= last {
            if index > 0 { line += "  " }
            let padding = String(repeating: " ", count: widths[index] - cell.text.displayWidth)
            let text = cell.style.map { style.apply($0, to: cell.text) } ?? cell.text
            switch columns[index].alignment {
            case .left: line += index == last ? text : text + padding
            case .right: line += padding + text
            }
        }
        return line
    }
}
