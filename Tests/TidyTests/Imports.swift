import Foundation

/// Whether sources, the documentation and Package.swift agree about who imports whom.
enum Imports {
    /// Imports in a file of a target that Package.swift does not declare for it.
    static func undeclared(_ file: SourceText, of target: ManifestTarget, among targets: [ManifestTarget]) -> [Finding] {
        let known = Set(targets.flatMap { [$0.name] + $0.dependencies })
        return imported(by: file).compactMap { index, module in
            guard known.contains(module), module != target.name, !target.dependencies.contains(module) else { return nil }
            return file.finding(index, "\(target.name) imports \(module), which Package.swift does not declare for it")
        }
    }

    /// Declared dependencies that no file of the target imports; programs are there to be run.
    static func unused(by target: ManifestTarget, files: [SourceText], among targets: [ManifestTarget]) -> [Finding] {
        let imported = Set(files.flatMap { Imports.imported(by: $0).map(\.module) })
        let programs = targets.filter { $0.kind == "executableTarget" }.map(\.name)
        return target.dependencies.filter { !imported.contains($0) && !programs.contains($0) }.map {
            Finding(path: "Package.swift", line: 0, rule: "\(target.name) declares \($0), which it does not import")
        }
    }

    /// The lines of code that import a module, by their index from 0.
    private static func imported(by file: SourceText) -> [(index: Int, module: String)] {
        let importOfModule =
            #/
            ^\s* (?:@\w+(?:\(\w+\))?\s+)*
            (?:(?:public|package|internal|fileprivate|private)\s+)?
            import\s+
            (?:(?:struct|class|enum|func|var|let|protocol|typealias)\s+)?
            (\w+)
            /#
        // The first condition is cheap, and spares nearly every line of the tree a slow regular expression.
        return file.code.indices.compactMap { index in
            guard file.code[index].contains("import "), let match = file.code[index].firstMatch(of: importOfModule) else {
                return nil
            }
            return (index, String(match.output.1))
        }
    }

    /// The table of targets of a page with its last column, "may import", as Package.swift has it; what stands in the column
    /// before, the responsibility, is the page's own and kept. A target that the page lacks has an empty one.
    static func table(_ page: String, targets: [ManifestTarget]) -> String {
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let responsibilities = rows.map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        let lines = targets.filter(\.isShipped).map { target in
            let row = responsibilities.first { $0.first == "`\(target.name)`" }
            let imports = target.dependencies.isEmpty ? "nothing" : target.dependencies.joined(separator: ", ")
            return "| `\(target.name)` | \(row?[1] ?? "") | \(imports) |"
        }
        return (["| target | responsibility | may import |", "|---|---|---|"] + lines).joined(separator: "\n")
    }
}
