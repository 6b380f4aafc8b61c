import Glibc

/// A file of the tree as the checkers see it.
struct SourceText {
    /// The path from the top of the checkout, such as `Sources/Bluetooth/Central.swift`.
    let path: String
    /// The lines as they stand in the file.
    let lines: [String]
    /// The lines with comments and the contents of string literals blanked out, so that words in prose are not taken for code.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code =
            !path.hasSuffix(".swift")
            ? lines : Self.blanked(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The number of lines, where a line end at the end of the file begins no further one.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// What the blanking is inside of.
    private enum Context: Equatable {
        case code
        /// A string literal with its quotes and number of `#`.
        case string(quotes: Int, pounds: Int)
        /// Code in `\( )`, with the number of open parentheses.
        case interpolation(Int)
    }

    /// Swift source with comments and the contents of string literals replaced by spaces; line ends stay.
    private static func blanked(_ text: String) -> String {
        let input = Array(text.unicodeScalars)
        var output = String.UnicodeScalarView()
        var contexts: [Context] = [.code]
        var index = 0
        func matches(_ word: String, at start: Int) -> Bool {
            // The first scalar decides nearly always, and the tests are not optimised.
            word.unicodeScalars.first == input[start] && input[start...].starts(with: word.unicodeScalars)
        }
        func blank(_ count: Int) {
            for scalar in input[index..<min(index + count, input.count)] { output.append(scalar == "\n" ? "\n" : " ") }
            index += count
        }
        while index < input.count {
            switch contexts.last ?? .code {
            case .string(let quotes, let pounds):
                if input[index] != "\\" && input[index] != "\"" && input[index] != "\n" {
                    blank(1)
                    continue
                }
                let escape = "\\" + String(repeating: "#", count: pounds)
                let end = String(repeating: "\"", count: quotes) + String(repeating: "#", count: pounds)
                if matches(escape + "(", at: index) {
                    contexts.append(.interpolation(0))
                    blank(escape.count + 1)
                } else if matches(escape, at: index) {
                    blank(escape.count + 1)
                } else if matches(end, at: index) {
                    contexts.removeLast()
                    blank(end.count)
                } else {
                    if quotes == 1 && input[index] == "\n" { contexts.removeLast() }  // an unfinished literal ends here
                    blank(1)
                }
            case .code, .interpolation:
                let scalar = input[index]
                if scalar != "/" && scalar != "\"" && scalar != "#" && scalar != "(" && scalar != ")" {
                    output.append(scalar)
                    index += 1
                } else if matches("//", at: index) {
                    while index < input.count && input[index] != "\n" { blank(1) }
                } else if matches("/*", at: index) {
                    while index < input.count && !matches("*/", at: index) { blank(1) }
                    blank(2)
                } else if let literal = literal(in: input, at: index) {
                    contexts.append(.string(quotes: literal.quotes, pounds: literal.pounds))
                    blank(literal.quotes + literal.pounds)
                } else {
                    if case .interpolation(let open) = contexts.last {
                        if input[index] == "(" { contexts[contexts.count - 1] = .interpolation(open + 1) }
                        if input[index] == ")" {
                            if open == 0 {
                                contexts.removeLast()
                                blank(1)
                                continue
                            }
                            contexts[contexts.count - 1] = .interpolation(open - 1)
                        }
                    }
                    output.append(input[index])
                    index += 1
                }
            }
        }
        return String(output)
    }

    private static func literal(in input: [Unicode.Scalar], at start: Int) -> (quotes: Int, pounds: Int)? {
        var index = start
        while index < input.count && input[index] == "#" { index += 1 }
        guard index < input.count, input[index] == "\"" else { return nil }
        let isTriple = index + 2 < input.count && input[index + 1] == "\"" && input[index + 2] == "\""
        return (isTriple ? 3 : 1, index - start)
    }
}

/// One place that breaks a rule of the house.
struct Finding: Hashable, CustomStringConvertible {
    var path: String
    /// From 1; 0 for the whole file.
    var line: Int
    var rule: String

    var description: String { "\(path):\(line): \(rule)" }
}

extension String {
    /// Whether it has one of the words. Most lines have none, and a regular expression takes a hundred times as long to say so.
    func holds(_ words: String...) -> Bool { words.contains { strstr(self, $0) != nil } }
}

extension SourceText {
    /// A finding at a line of this file, given by its index from 0.
    func finding(_ index: Int, _ rule: String) -> Finding { Finding(path: path, line: index + 1, rule: rule) }

    /// Findings at all lines of code that contain the pattern.
    func findings(matching pattern: Regex<some Any>, _ rule: String) -> [Finding] {
        code.indices.filter { code[$0].contains(pattern) }.map { finding($0, rule) }
    }
}
