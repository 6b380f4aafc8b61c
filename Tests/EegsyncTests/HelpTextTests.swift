import ArgumentParser
import Testing

@testable import eegsync

@Suite("Help texts")
struct HelpTextTests {
    /// Every command, subcommands included.
    private static let commands: [any ParsableCommand.Type] = {
        var found: [any ParsableCommand.Type] = [Eegsync.self]
        var index = 0
        while index < found.count {
            found += found[index].configuration.subcommands
            index += 1
        }
        return found
    }()

    private static func unbroken(_ command: any ParsableCommand.Type) -> String {
        Eegsync.helpMessage(for: command, columns: HelpText.unbrokenColumns)
    }

    /// Lines that a terminal has to break, though they have a blank at which they could have been broken.
    private static func brokenByTerminal(_ text: String, columns: Int) -> [Substring] {
        text.split(separator: "\n").filter { line in
            line.count > columns && line.prefix(columns).drop { $0 == " " }.contains(" ")
                // What stands in front of the column of the explanations is the name that is explained.
                && !(line.hasPrefix("  ") && line.dropFirst(26).allSatisfy { $0 != " " })
        }
    }

    @Test("are broken between words in terminals of any width, usage and examples included", arguments: [60, 72, 80, 100])
    func wrapping(columns: Int) throws {
        #expect(Self.commands.count > 50)
        for command in Self.commands {
            let text = Self.unbroken(command)
            let wrapped = try #require(HelpText(text)).wrapped(columns: columns)
            #expect(Self.brokenByTerminal(wrapped, columns: columns) == [], "\(command)")
            #expect(wrapped.split { $0.isWhitespace } == text.split { $0.isWhitespace }, "\(command)")
        }
    }

    @Test("keep further lines below what they go on with")
    func indentation() throws {
        let text = """
            OVERVIEW: Does it.

            EXAMPLES
              eegsync it --label "a long label" --subject P07 --run 2

            USAGE: eegsync it [--label <label>] [--subject <subject>]

            OPTIONS:
              --label <label>         What it is called by whoever looks.
            """
        let expected = """
            OVERVIEW: Does it.

            EXAMPLES
              eegsync it --label "a long label" --subject P07
              --run 2

            USAGE: eegsync it [--label <label>]
                   [--subject <subject>]

            OPTIONS:
              --label <label>         What it is called by
                                      whoever looks.
            """
        #expect(try #require(HelpText(text)).wrapped(columns: 50) == expected)
    }

    @Test("are distinguished from what else ends a command in order; the parser's own breaking is noticed")
    func others() {
        #expect(HelpText("1.2.0 (abcdef)") == nil)
        let long = Self.commands.map { Eegsync.helpMessage(for: $0, columns: 60) }
        #expect(long.contains { !Self.brokenByTerminal($0, columns: 60).isEmpty }, "the check sees nothing")
    }
}
