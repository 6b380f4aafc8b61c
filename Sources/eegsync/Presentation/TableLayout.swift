/// Which columns of a table are shown, and how wide they are.
struct TableLayout {
    /// The indices of the columns that are shown; at least one.
    private(set) var shown: [Int]
    /// The width of each column, shown or not.
    private(set) var widths: [Int]

    /// A column with long cells is made no narrower than this, and one with very long cells than that.
    private static let wrappedWidthMinimum = (short: 8, long: 32)
    /// A cell is very long from here on.
    private static let longWidth = 48
    /// Of a name so much is left.
    private static let shortenedWidthMinimum = 12

    /// As wide as the cells are.
    ///
    /// - Parameter cells: the text of each row, the headings first.
    init(_ columns: [TextTable.Column], cells: [[String]]) {
        shown = Array(columns.indices)
        widths = columns.indices.map { index in cells.map { $0[index].displayWidth }.max() ?? 0 }
    }

    /// Within a limit, where columns without any text go first; nil where the columns that must stay are wider.
    init?(_ columns: [TextTable.Column], cells: [[String]], limit: Int) {
        self.init(columns, cells: cells)
        if width > limit {
            let filled = shown.filter { index in cells.dropFirst().contains { !$0[index].isEmpty } }
            if !filled.isEmpty { shown = filled }
        }
        let natural = widths
        let steps = Self.steps(columns, cells: cells, natural: natural)
        while true {
            widths = natural
            for minimum in steps { shrink(to: minimum, limit: limit) }
            if width <= limit { return }
            let next = shown.filter { columns[$0].dispensability > 0 }.max {
                columns[$0].dispensability < columns[$1].dispensability
            }
            guard let next, shown.count > 1 else { return nil }
            shown.removeAll { $0 == next }
        }
    }

    private var width: Int { shown.reduce(2 * (shown.count - 1)) { $0 + widths[$1] } }

    /// Narrows the widest columns that are wider than their minimum.
    private mutating func shrink(to minimum: [Int], limit: Int) {
        while width > limit {
            let wide = shown.filter { widths[$0] > minimum[$0] }
            guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
        }
    }

    /// How narrow each column may become, one step after the other: headings in several lines, then cells, then ellipses.
    private static func steps(_ columns: [TextTable.Column], cells: [[String]], natural: [Int]) -> [[Int]] {
        var headings = natural
        var wrapped = natural
        var shortened = natural
        for (index, column) in columns.enumerated() {
            let texts = cells.map { $0[index] }
            let heading = longestWord(texts.prefix(1))
            let body = texts.dropFirst().map(\.displayWidth).max() ?? 0
            let least = natural[index] > longWidth ? wrappedWidthMinimum.long : wrappedWidthMinimum.short
            headings[index] = max(heading, body)
            wrapped[index] = column.wraps ? max(longestWord(texts), min(natural[index], least)) : headings[index]
            shortened[index] = column.shortens ? max(heading, min(body, shortenedWidthMinimum)) : wrapped[index]
        }
        return [headings, wrapped, shortened]
    }

    private static func longestWord(_ texts: some Sequence<String>) -> Int {
        texts.flatMap { $0.split(separator: " ") }.map { String($0).displayWidth }.max() ?? 0
    }
}
