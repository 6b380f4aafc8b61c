/// A table for a terminal: aligned columns under a heading, no lines.
///
/// On a terminal that is too narrow no word is broken: headings and long cells take several lines, names end in an ellipsis,
/// the columns that matter least are left out and named below, and at last each row stands as lines of its own. Without a
/// limit, as in a pipe, a table is as wide as it is.
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
        /// True where a long cell may end in an ellipsis: a name, but no number and nothing that somebody copies.
        var shortens = false
        /// Where the terminal is too narrow, columns above 0 are left out, the highest number first.
        var dispensability = 0
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
    ///
    /// - Parameter limit: how wide a line may be; nil for what the style says.
    func rendered(style: TerminalStyle, columns limit: Int? = nil) -> [String] {
        let heading = columns.map { Cell($0.heading, .heading) }
        let all = ([heading] + rows).map { row in
            columns.indices.map { index in
                index < row.count ? Cell(row[index].text.printable, row[index].style) : Cell("")
            }
        }
        guard let limit = limit ?? style.columns else {
            let layout = TableLayout(columns, cells: all.map { $0.map(\.text) })
            return all.map { line($0, layout, style: style) }
        }
        guard let layout = TableLayout(columns, cells: all.map { $0.map(\.text) }, limit: limit) else {
            return records(all, limit: limit, style: style)
        }
        var lines = wrapped(all[0], layout, isHeading: true).map { line($0, layout, style: style) }
        lines += all.dropFirst().flatMap { row in
            wrapped(row, layout, isHeading: false).map { line($0, layout, style: style) }
        }
        let missing = columns.indices.filter { index in
            !layout.shown.contains(index) && all.dropFirst().contains { !$0[index].text.isEmpty }
        }.map { columns[$0].heading }
        guard !missing.isEmpty else { return lines }
        let note = "Too narrow for: \(missing.joined(separator: ", "))"
        return lines + Paragraph.lines(note, width: limit).map { style.apply(.faint, to: $0) }
    }

    /// A row as several, where cells are wider than their column; a heading stands directly above its column.
    private func wrapped(_ row: [Cell], _ layout: TableLayout, isHeading: Bool) -> [[Cell]] {
        let parts = columns.indices.map { index in
            let text = row[index].text
            guard layout.shown.contains(index), text.displayWidth > layout.widths[index] else { return [text] }
            if isHeading || columns[index].wraps { return Paragraph.lines(text, width: layout.widths[index]) }
            return [columns[index].shortens ? text.shortened(to: layout.widths[index]) : text]
        }
        let height = layout.shown.map { parts[$0].count }.max() ?? 0
        return (0..<height).map { line in
            columns.indices.map { index in
                let part = isHeading ? line - (height - parts[index].count) : line
                return parts[index].indices.contains(part) ? Cell(parts[index][part], row[index].style) : Cell("")
            }
        }
    }

    private func line(_ row: [Cell], _ layout: TableLayout, style: TerminalStyle) -> String {
        let last = layout.shown.last { !row[$0].text.isEmpty } ?? layout.shown[0]
        var line = ""
        for index in layout.shown where index <= last {
            if index != layout.shown[0] { line += "  " }
            let text = shown(row[index], style: style)
            let padding = String(repeating: " ", count: max(0, layout.widths[index] - row[index].text.displayWidth))
            switch columns[index].alignment {
            case .left: line += index == last ? text : text + padding
            case .right: line += padding + text
            }
        }
        return line
    }

    /// So much room a cell has beside its heading, or it stands below.
    private static let recordWidthMinimum = 24

    /// Each row as lines of a heading and a cell.
    private func records(_ all: [[Cell]], limit: Int, style: TerminalStyle) -> [String] {
        let width = columns.map(\.heading.displayWidth).max() ?? 0
        let isBelow = limit - width - 2 < Self.recordWidthMinimum
        let indent = isBelow ? 2 : width + 2
        var lines: [String] = []
        for row in all.dropFirst() {
            if !lines.isEmpty { lines.append("") }
            for index in columns.indices where !row[index].text.isEmpty {
                let heading = style.apply(.heading, to: columns[index].heading)
                let padding = String(repeating: " ", count: indent)
                if isBelow { lines.append(heading) }
                for (part, text) in Paragraph.lines(row[index].text, width: limit - indent).enumerated() {
                    let isFirst = part == 0 && !isBelow
                    let head = isFirst ? heading + String(padding.dropFirst(columns[index].heading.displayWidth)) : padding
                    lines.append(head + shown(Cell(text, row[index].style), style: style))
                }
            }
        }
        return lines
    }

    /// What a terminal gets: text that is written from right to left does not reorder what stands beside it (Unicode Standard
    /// Annex 9, isolates).
    private func shown(_ cell: Cell, style: TerminalStyle) -> String {
        let text = style.columns != nil && cell.text.isRightToLeft ? "\u{2068}\(cell.text)\u{2069}" : cell.text
        return cell.style.map { style.apply($0, to: text) } ?? text
    }
}
