import Foundation

/// What a command found out, once for people and once for programs.
protocol Facts: Encodable {
    /// The lines for a person.
    func lines(style: TerminalStyle) -> [String]
}

extension Facts {
    /// The JSON document: keys in snake_case and sorted, so that two runs compare with diff.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Prints the facts to standard output, as JSON or for a person.
    func print(asJSON: Bool) throws {
        if asJSON {
            Swift.print(try json())
        } else {
            for line in lines(style: .detected(for: STDOUT_FILENO)) { Swift.print(line) }
        }
    }
}
