import Foundation

/// What a command found out, once for people and once for programs.
protocol Facts: Encodable {
    /// The lines for a person.
    func lines(style: TerminalStyle) -> [String]
    /// False where lines that are too long for a terminal must stay whole, as somebody copies them.
    var wrapsLines: Bool { get }
}

extension Facts {
    var wrapsLines: Bool { true }

    /// The JSON document: keys in snake_case and sorted, so that two runs compare with diff.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The lines, none wider than the terminal where that can be.
    func fittedLines(style: TerminalStyle) -> [String] {
        let lines = lines(style: style)
        return wrapsLines ? lines.flatMap { Paragraph.fitted($0, columns: style.columns) } : lines
    }

    /// One picture of `--watch`. On a terminal it replaces the last one; in a pipe one follows the other.
    func frame(isTerminal: Bool, style: TerminalStyle) -> String {
        let text = fittedLines(style: style).map { $0 + "\n" }.joined()
        // Cursor home, erase the display (ECMA-48, 8.3.21 and 8.3.39).
        return isTerminal ? "\u{1B}[H\u{1B}[2J" + text : text + "\n"
    }

    /// Prints the facts to standard output, as JSON, whose times are UTC, or for a person, by a clock of their choice.
    func print(asJSON: Bool, clock: WallClock = .local) throws {
        if asJSON { return Swift.print(try json()) }
        var style = TerminalStyle.detected(for: STDOUT_FILENO)
        style.clock = clock
        for line in fittedLines(style: style) { Swift.print(line) }
    }
}
