/// What differs between two texts, line by line, for a person.
enum LineDifference {
    /// So many equal lines are shown around what differs.
    private static let context = 2

    /// Lines that begin with `- `, `+ ` or two blanks; empty where the texts are equal. What is left out is a line `...`.
    static func lines(from old: String, to new: String) -> [String] {
        let before = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let after = new.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var removed: [Int] = []
        var inserted: [Int] = []
        for change in after.difference(from: before) {
            switch change {
            case .remove(let offset, _, _): removed.append(offset)
            case .insert(let offset, _, _): inserted.append(offset)
            }
        }
        guard !removed.isEmpty || !inserted.isEmpty else { return [] }
        var all: [(mark: String, line: String)] = []
        var (old, new) = (0, 0)
        while old < before.count || new < after.count {
            if removed.contains(old) {
                all.append(("- ", before[old]))
                old += 1
            } else if inserted.contains(new) {
                all.append(("+ ", after[new]))
                new += 1
            } else {
                all.append(("  ", before[old]))
                (old, new) = (old + 1, new + 1)
            }
        }
        return shortened(all)
    }

    private static func shortened(_ all: [(mark: String, line: String)]) -> [String] {
        var lines: [String] = []
        var isOmitting = false
        for (index, entry) in all.enumerated() {
            let near = all[max(0, index - context)...min(all.count - 1, index + context)]
            if near.contains(where: { $0.mark != "  " }) {
                lines.append(entry.mark + entry.line)
                isOmitting = false
            } else if !isOmitting {
                lines.append("...")
                isOmitting = true
            }
        }
        return lines
    }
}
