import Foundation

/// How far long work is, on one line of standard error that overwrites itself; silent where standard error is no terminal.
struct ProgressBar {
    /// What is done, such as `exporting`.
    let label: String
    private let isTerminal: Bool
    private var shownPerMille = -1

    /// Creates a bar that has shown nothing yet.
    init(label: String, isTerminal: Bool = isatty(STDERR_FILENO) == 1) {
        self.label = label
        self.isTerminal = isTerminal
    }

    /// Shows that `done` of `total` is done; draws only when the picture changes.
    mutating func update(done: Int64, total: Int64) {
        guard isTerminal else { return }
        let perMille = Self.perMille(done: done, total: total)
        guard perMille != shownPerMille else { return }
        shownPerMille = perMille
        Self.write("\r\u{1B}[K" + Self.line(label: label, perMille: perMille, columns: Self.columns))
    }

    /// Removes the line.
    mutating func finish() {
        guard isTerminal, shownPerMille >= 0 else { return }
        shownPerMille = -1
        Self.write("\r\u{1B}[K")
    }

    /// The line for a terminal of `columns` columns.
    static func line(label: String, perMille: Int, columns: Int) -> String {
        let tail = String(format: "%5.1f %%", Double(perMille) / 10)
        let room = columns - label.displayWidth - tail.displayWidth - 5
        guard room >= 10 else { return "\(label) \(tail)" }
        let width = min(room, 50)
        let filled = width * perMille / 1000
        return "\(label) [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))] \(tail)"
    }

    /// Work that has no size counts as done; work beyond its estimate stays at 1000.
    static func perMille(done: Int64, total: Int64) -> Int {
        total > 0 ? Int((Double(max(0, min(done, total))) / Double(total) * 1000).rounded(.down)) : 1000
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
