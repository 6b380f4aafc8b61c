/// A table of tab-separated values (BIDS, Tabular files): a header row, and `n/a` for what is not known.
struct BIDSTable: Hashable {
    var columns: [String]
    /// As many cells as ``columns`` each.
    var rows: [[String]] = []

    static let notAvailable = "n/a"

    init(columns: [String]) { self.columns = columns }

    /// Reads a table that anybody wrote; nil where it has no header row. Rows that are too short are filled with `n/a`.
    init?(parsing bytes: [UInt8]) {
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.first == "\u{FEFF}" { text.removeFirst() }
        let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        guard let header = lines.first else { return nil }
        columns = Self.cells(header)
        rows = lines.dropFirst().map { line in
            let cells = Self.cells(line).prefix(columns.count)
            return cells + [String](repeating: Self.notAvailable, count: columns.count - cells.count)
        }
    }

    private static func cells(_ line: Substring) -> [String] {
        line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }

    /// Adds a row; columns that it does not name are `n/a`, and columns that the table has not are added to it.
    mutating func append(_ cells: [(column: String, text: String?)]) {
        for (column, _) in cells where !columns.contains(column) {
            columns.append(column)
            for row in rows.indices { rows[row].append(Self.notAvailable) }
        }
        rows.append(columns.map { column in Self.cell(cells.first { $0.column == column }?.text) })
    }

    /// The cell of a row; nil where there is no such column.
    func cell(_ row: [String], _ column: String) -> String? {
        columns.firstIndex(of: column).map { row[$0] }
    }

    /// A text that fits into a cell: no tabs and line breaks; `n/a` for nothing.
    static func cell(_ text: String?) -> String {
        guard let text else { return notAvailable }
        // A carriage return and a line feed are one character of Swift's.
        let cell = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return cell.allSatisfy { $0 == " " } ? notAvailable : cell
    }

    /// The table as it stands in a file.
    var bytes: [UInt8] {
        Array(([columns] + rows).map { $0.joined(separator: "\t") + "\n" }.joined().utf8)
    }
}
