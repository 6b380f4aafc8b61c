/// Rules about how long things are (house style, "Sizes").
enum Lengths {
    /// Lines of a file.
    static let fileLimit = 400
    /// Lines of a function, from its `func` to its closing brace.
    static let functionLimit = 70
    /// The median of the lengths of all files.
    static let medianLimit = 150
    /// Columns of a line.
    static let columnLimit = 128
    /// Lines of the README.
    static let readmeLimit = 150

    /// Files that are too long, and lines that are too wide.
    static func files(_ file: SourceText) -> [Finding] {
        var findings: [Finding] = []
        if file.lineCount > fileLimit {
            findings.append(Finding(path: file.path, line: 0, rule: "\(file.lineCount) lines, more than \(fileLimit)"))
        }
        for (index, line) in file.lines.enumerated() where line.count > columnLimit {
            findings.append(file.finding(index, "\(line.count) columns, more than \(columnLimit)"))
        }
        return findings
    }

    /// Functions that are too long. A body begins at the first `{` after the parameter list and ends at its brace.
    static func functions(_ file: SourceText) -> [Finding] {
        var findings: [Finding] = []
        for (start, line) in file.code.enumerated()
        where line.holds("func", "init", "subscript")
            && line.contains(/(^|\s)(func\s+\S|init[?!]?\s*[(<]|deinit\s*\{|subscript\s*[(<])/) && !line.contains(/\.init\(/)
        {
            guard let end = endOfBody(in: file.code, from: start) else { continue }
            let length = end - start + 1
            if length > functionLimit { findings.append(file.finding(start, "a function of \(length) lines, more than 70")) }
        }
        return findings
    }

    /// The line of the brace that closes the body of the function that begins at a line; nil where it has no body.
    private static func endOfBody(in code: [String], from start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        var sawParameters = false
        for index in start..<code.count {
            for character in code[index] {
                switch character {
                case "(", "[":
                    parentheses += 1
                    sawParameters = true
                case ")", "]": parentheses -= 1
                case "{" where parentheses == 0: braces += 1
                case "}" where parentheses == 0:
                    braces -= 1
                    if braces == 0 { return index }
                    if braces < 0 { return nil }  // the end of a protocol: a requirement has no body
                default: break
                }
            }
            // A requirement of a protocol ends with its line; a body or a longer signature goes on.
            if sawParameters && parentheses == 0 && braces == 0 && index + 1 < code.count {
                let next = code[index + 1].drop { $0 == " " }
                let goesOn = ["{", "->", "where", "throws", "async", ")"].contains { next.hasPrefix($0) }
                if !goesOn { return nil }
            }
        }
        return nil
    }

    /// The median of the lengths, 0 for no file.
    static func median(_ lengths: [Int]) -> Int {
        lengths.isEmpty ? 0 : lengths.sorted()[lengths.count / 2]
    }
}
