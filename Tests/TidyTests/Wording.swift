/// Rules about what is written beside the code, and where.
enum Wording {
    /// What may stand at the top of the checkout, besides names that begin with a dot.
    static let topLevel = ["CHANGELOG.md", "Deploy", "LICENSE", "Migrations", "Package.swift", "README.md", "Sources", "Tests"]
    /// What SwiftPM writes there and git ignores.
    private static let ignoredTopLevel = ["Package.resolved"]

    /// Names that do not belong at the top, and names that are missing there.
    static func topLevel(_ names: [String]) -> [Finding] {
        let visible = names.filter { !$0.hasPrefix(".") && !ignoredTopLevel.contains($0) }
        return visible.filter { !topLevel.contains($0) }.map { Finding(path: $0, line: 0, rule: "does not belong at the top") }
            + topLevel.filter { !visible.contains($0) }.map { Finding(path: $0, line: 0, rule: "is missing at the top") }
    }

    /// Folders of no meaning.
    static func folders(_ path: String) -> [Finding] {
        let words = ["utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "shared"]
        return path.split(separator: "/").contains { part in
            let name = part.split(separator: ".").first.map(String.init) ?? ""
            return words.contains(name.lowercased()) || name.hasSuffix("Manager") || name.hasSuffix("Helper")
                || name.hasSuffix("Utils")
        } ? [Finding(path: path, line: 0, rule: "a name without meaning (Utils, Helpers, Common, Manager)")] : []
    }

    /// Public symbols without a doc comment.
    ///
    /// Left out is what could only say its name again: members that a protocol of the standard library prescribes,
    /// initialisers, a stored property in a run of properties of a documented type, and what a documented requirement of
    /// one of our protocols (`prescribed`) explains already.
    static func undocumented(_ file: SourceText, prescribed: [String] = []) -> [Finding] {
        let declaration =
            #/
            ^\s* (?:@\w+(?:\([^)]*\))?\s+)*
            (?:package|public|open)\s+ (?:(?:private|internal)\(set\)\s+)?
            (?:(?:static|final|indirect|mutating|nonisolated|override)\s+)*
            (struct|enum|protocol|class|actor|func|let|var|typealias|subscript)\s+ (\S+)
            /#
        return file.code.indices.compactMap { index in
            guard file.code[index].holds("package", "public", "open"),
                let match = file.code[index].firstMatch(of: declaration)
            else { return nil }
            let (kind, name) = (String(match.output.1), String(match.output.2))
            if ["<", "==", "description:", "hash(into", "rawValue:"].contains(where: { name.hasPrefix($0) }) { return nil }
            let isStored = (kind == "let" || kind == "var") && !file.code[index].contains("{")
            if prescribed.contains(identifier(name)) { return nil }
            if isStored || hasDocComment(file, before: index) { return nil }
            return file.finding(index, "\(kind) \(name) has no doc comment")
        }
    }

    /// The names of all requirements of the protocols that a file declares at its outermost level.
    static func requirements(_ file: SourceText) -> [String] {
        var names: [String] = []
        var isInside = false
        for line in file.code {
            if line.holds("protocol"), line.contains(/^\s*((package|public)\s+)?protocol\s/) { isInside = true }
            if line.hasPrefix("}") { isInside = false }
            if isInside, let match = line.firstMatch(of: /^\s+(?:(?:static|mutating)\s+)*(?:var|func)\s+(\w+)/) {
                names.append(String(match.output.1))
            }
        }
        return names
    }

    private static func identifier(_ name: String) -> String {
        String(name.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    private static func hasDocComment(_ file: SourceText, before index: Int) -> Bool {
        var above = index - 1
        while above >= 0, file.lines[above].contains(/^\s*@\w+/) { above -= 1 }
        return above >= 0 && file.lines[above].contains(/^\s*(\/\/\/|\*\/)/)
    }

    /// Promises to do something later.
    static func promises(_ file: SourceText) -> [Finding] {
        file.lines.indices.filter {
            file.lines[$0].holds("TO", "FIX", "XX", "HA") && file.lines[$0].contains(/\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/)
        }
        .map { file.finding($0, "a promise to do something later") }
    }

    /// Paths of somebody's machine.
    static func machinePaths(_ file: SourceText) -> [Finding] {
        file.lines.indices.filter {
            file.lines[$0].utf8.contains(UInt8(ascii: "/"))
                && file.lines[$0].holds("work/", "root/", "home/", "Users/", "opt/swift/")
                && file.lines[$0].contains(/(^|[^\w.])\/(work|root|home\/\w+|Users\/\w+|opt\/swift)\//)
        }
        .map { file.finding($0, "a path of somebody's machine") }
    }

    /// Escapes from the compiler's checks that nobody has proven on the line or the line above.
    static func unproven(_ file: SourceText) -> [Finding] {
        let escape =
            /\btry!|@unchecked\s+Sendable|nonisolated\(unsafe\)|\bas!|[\w)\]]!(?![=\w])|\bfatalError\(|\bunsafeBitCast\(/
        return file.code.indices.filter { index in
            guard file.code[index].holds("!", "unsafe", "unchecked", "fatalError"), file.code[index].contains(escape) else {
                return false
            }
            // `Int!` as a type and `!=` are no force unwraps; a comment on the line or above it is the proof.
            return !file.lines[index].contains("//") && !(index > 0 && file.lines[index - 1].contains(/^\s*\/\//))
        }.map { file.finding($0, "an escape from the compiler without a proving comment") }
    }
}
