/// Rules about what is recorded for people: the changelog, and the decisions.
enum Records {
    /// A changelog begins with `# Changes` and a line for whom it is; its sections are `## Unreleased` and then, newest first,
    /// `## 1.2.3 - 2026-03-01`; an entry is a sentence in the words of users, in lines that begin with `- ` or two spaces.
    static func changelog(_ file: SourceText) -> [Finding] {
        var findings: [Finding] = []
        let sections = file.lines.indices.filter { file.lines[$0].hasPrefix("#") }
        if sections.first.map({ file.lines[$0] }) != "# Changes" || file.lines.dropFirst(2).first?.isEmpty != false {
            findings.append(Finding(path: file.path, line: 1, rule: "begins with # Changes and what it is"))
        }
        var newer = "9999-99-99"
        for (number, index) in sections.dropFirst().enumerated() where number > 0 || file.lines[index] != "## Unreleased" {
            let date = file.lines[index].firstMatch(of: /^## \d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d)$/).map { String($0.1) }
            if number == 0 || date.map({ $0 > newer }) ?? true {
                findings.append(file.finding(index, "sections are Unreleased, then versions with their dates, newest first"))
            }
            newer = date ?? newer
        }
        for index in file.lines.indices.dropFirst((sections.dropFirst().first ?? 0) + 1) where !sections.contains(index) {
            let line = file.lines[index]
            let next = index + 1 < file.lines.count ? file.lines[index + 1] : ""
            if !line.isEmpty, !line.hasPrefix("- "), !line.hasPrefix("  ") {
                findings.append(file.finding(index, "is no line of an entry"))
            } else if !line.isEmpty, !next.hasPrefix("  "), !line.hasSuffix(".") {
                findings.append(file.finding(index, "an entry ends with a full stop"))
            }
            if line.contains(/`[A-Z][a-z]+[A-Z]\w*|\b(Sources|Tests)\/|\.swift\b/) {
                findings.append(file.finding(index, "names what is inside the program, not what a user sees"))
            }
        }
        return findings
    }

    /// Tests, paths of the tree, and settings of the unit that a page names in code, and that are not there.
    static func names(_ page: SourceText, tests: [SourceText], unit: String, exists: (String) -> Bool) -> [Finding] {
        let suites = Set(tests.compactMap { $0.path.split(separator: "/").last?.split(separator: ".").first.map(String.init) })
        return page.lines.indices.flatMap { index in
            page.lines[index].matches(of: /`(\.\/)?([^`]+)`/).compactMap { match in
                let name = String(match.2.prefix { $0 != " " })
                let isThere =
                    if name.contains(/^\w+Tests$/) {
                        suites.contains(name) || exists("Tests/\(name)")
                    } else if name.contains(/^(Sources|Tests|Deploy|Migrations)\//) {
                        exists(name)
                    } else if name.contains(/^[A-Z]\w+=/) {
                        unit.split(separator: "\n").contains(match.2)
                    } else {
                        true
                    }
                return isThere ? nil : page.finding(index, "there is no \(match.2)")
            }
        }
    }

    /// A decision says under its title what was decided, and when; its date is there once. `index` is the page that lists them.
    static func decision(_ file: SourceText, index: String) -> [Finding] {
        let name = file.path.split(separator: "/").last?.split(separator: ".").first ?? ""
        let isDated = file.lines.count > 2 && file.lines[2].contains(/^Decided on \d{4}-\d\d-\d\d:\s/)
        let parts = ["## Why", "## What it costs", "## To reverse it"].filter { !file.lines.contains($0) }
        return (isDated ? [] : [file.finding(2, "begins with: Decided on <date>: ")])
            + parts.map { Finding(path: file.path, line: 0, rule: "lacks the part \($0)") }
            + (index.contains("<doc:\(name)>") ? [] : [Finding(path: file.path, line: 0, rule: "is not in the list of pages")])
    }
}
