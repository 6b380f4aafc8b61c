/// What Package.swift says of one target.
struct ManifestTarget: Hashable {
    /// `target`, `executableTarget`, `testTarget` or `systemLibrary`.
    var kind: String
    var name: String
    /// Where its sources lie.
    var path: String
    /// Modules that it may import: targets of this package and products of others, in the manifest's order.
    var dependencies: [String]

    /// Whether it is part of the program, and not of its tests.
    var isShipped: Bool { kind != "testTarget" && !path.hasPrefix("Tests/") }
}

/// Package.swift, read as text: the one table of who may import whom.
enum Manifest {
    /// All targets, in the manifest's order.
    static func targets(in text: String) -> [ManifestTarget] {
        let code = text.split(separator: "\n").filter { !$0.contains(/^\s*\/\//) }.joined(separator: "\n")
        let products = code.matches(of: /let (\w+) = Target\.Dependency\.product\(name: "([\w-]+)"/)
        let modules = Dictionary(uniqueKeysWithValues: products.map { (String($0.1), String($0.2)) })
        let heads = code.matches(of: /\.(target|executableTarget|testTarget|systemLibrary)\(\s*name: "([\w-]+)"/)
        return heads.indices.map { index in
            let end = index + 1 < heads.count ? heads[index + 1].range.lowerBound : code.endIndex
            let rest = code[heads[index].range.upperBound..<end]
            let (kind, name) = (String(heads[index].1), String(heads[index].2))
            let listed = rest.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
            let dependencies = listed.matches(of: /"([\w-]+)"|(\w+)/).map { match in
                match.1.map(String.init) ?? modules[String(match.0)] ?? String(match.0)
            }
            let path = rest.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) }
            let folder = kind == "testTarget" ? "Tests" : "Sources"
            return ManifestTarget(kind: kind, name: name, path: path ?? "\(folder)/\(name)", dependencies: dependencies)
        }
    }
}
