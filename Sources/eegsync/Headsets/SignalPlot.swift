/// A curve for a terminal, in braille characters: two columns and four rows of dots each.
enum SignalPlot {
    /// The dots of a braille character by column and row, the uppermost first (Unicode Standard, Braille Patterns).
    private static let dots: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

    /// The lines of a curve. A column of dots reaches from the lowest to the highest value of its time; where no value came, it
    /// is empty.
    ///
    /// - Parameters:
    ///   - values: one for each instant; nil where it is missing.
    ///   - range: what the lowest and the uppermost row of dots stand for.
    ///   - rows: lines of text, at least 1.
    ///   - columns: characters of each line, at least 1.
    static func lines(_ values: [Double?], in range: ClosedRange<Double>, rows: Int, columns: Int) -> [String] {
        let (dotRows, dotColumns) = (rows * 4, columns * 2)
        var cells = [[UInt32]](repeating: [UInt32](repeating: 0, count: columns), count: rows)
        let height = range.upperBound - range.lowerBound
        func row(_ value: Double) -> Int {
            guard height > 0 else { return dotRows / 2 }
            let share = (range.upperBound - value) / height
            return min(dotRows - 1, max(0, Int((share * Double(dotRows - 1)).rounded())))
        }
        // The curve goes on from the end of the column before, so that steep flanks are connected.
        var before: Double?
        for column in 0..<dotColumns {
            let first = column * values.count / dotColumns
            let end = max(first + 1, (column + 1) * values.count / dotColumns)
            guard first < values.count else { break }
            let present = values[first..<min(end, values.count)].compactMap { $0 }
            guard let low = present.min(), let high = present.max() else {
                before = nil
                continue
            }
            let (upper, lower) = (row(max(high, min(before ?? high, high))), row(min(low, max(before ?? low, low))))
            var (top, bottom) = (upper, lower)
            if let before {
                // Up to next to where it was.
                let old = row(before)
                if old < top { top = min(top, old + 1) }
                if old > bottom { bottom = max(bottom, old - 1) }
            }
            for dot in top...max(top, bottom) { cells[dot / 4][column / 2] |= dots[column % 2][dot % 4] }
            before = present.last
        }
        return cells.map { line in
            String(String.UnicodeScalarView(line.compactMap { $0 == 0 ? " " : Unicode.Scalar(0x2800 + $0) }))
        }
    }

    /// A line with times in seconds, for below curves of so many columns.
    static func timeLine(seconds: Double, columns: Int) -> String {
        var line = ""
        let step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60].first { seconds / $0 <= Double(columns) / 9 } ?? seconds
        var time = 0.0
        while time < seconds - step / 2 {
            let column = Int(time / seconds * Double(columns))
            if line.count < column { line += String(repeating: " ", count: column - line.count) }
            line += time == time.rounded() ? "\(Int(time)) s" : "\((time * 10).rounded() / 10) s"
            time += step
        }
        return line
    }
}
