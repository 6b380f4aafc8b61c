import Foundation

/// A picture on a terminal that the next one replaces; silent where there is no terminal.
struct LiveScreen {
    private let isEnabled: Bool
    private var linesDrawn = 0
    private var lastFrame: Duration?

    /// Creates a screen with nothing on it.
    init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Draws the lines instead of those before, at most once in an interval.
    mutating func draw(every interval: Duration, at time: Duration, _ lines: (TerminalStyle) -> [String]) {
        guard isEnabled else { return }
        if let lastFrame, time - lastFrame < interval { return }
        lastFrame = time
        let room = max(2, (TerminalSize.rows(of: STDOUT_FILENO) ?? 24) - 1)
        var shown = lines(.detected(for: STDOUT_FILENO))
        if shown.count > room { shown = shown.prefix(room - 1) + ["... and \(shown.count - room + 1) lines more"] }
        Self.write(Self.frame(shown, replacing: linesDrawn))
        linesDrawn = shown.count
    }

    /// Removes the picture.
    mutating func erase() {
        guard isEnabled, linesDrawn > 0 else { return }
        Self.write(Self.frame([], replacing: linesDrawn))
        linesDrawn = 0
    }

    /// The bytes for a picture: up to where the last one began, each line over the old one, what is left below erased. Lines
    /// are not wrapped meanwhile (DECAWM), or the count of lines would be wrong on a narrow terminal.
    static func frame(_ lines: [String], replacing count: Int) -> String {
        let up = count > 0 ? "\u{1B}[\(count)A\r" : ""
        return up + "\u{1B}[?7l" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[?7h\u{1B}[J"
    }

    private static func write(_ text: String) {
        // What cannot be written is said at the end, as of all that is printed.
        print(text, terminator: "")
        fflush(nil)
    }
}
