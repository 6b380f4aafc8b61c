/// What somebody meant who misspelt a word.
package enum Spelling {
    /// `did you mean 'scale'?`, or the words that are allowed where none is close.
    package static func suggestion(for word: String, among known: [String]) -> String {
        let close = known.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let close, isClose(word, close.word) {
            return "did you mean '\(close.word)'?"
        }
        // A word that a known one contains, or the other way round: `rate` for `sampling_rate`.
        if word.count >= 3, let part = known.first(where: { $0.contains(word) || word.contains($0) && $0.count >= 3 }) {
            return "did you mean '\(part)'?"
        }
        return known.isEmpty ? "" : "allowed are \(list(known))"
    }

    /// True where one may be a slip of the other: a letter of each three differs.
    package static func isClose(_ word: String, _ known: String) -> Bool {
        distance(word.lowercased(), known.lowercased()) <= max(1, min(word.count, known.count) / 3)
    }

    /// `a, b and c`.
    package static func list(_ words: [String], _ conjunction: String = "and") -> String {
        guard words.count > 1, let last = words.last else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }

    /// How many letters must be put in, taken out, replaced, or swapped with their neighbour (optimal string alignment); words
    /// of more than 64 letters count as far apart.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        guard left.count <= 64, right.count <= 64 else { return .max }
        var rows = [Array(0...right.count)]
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
