import Foundation

/// The checkout that the tests were built from.
enum Tree {
    /// The top of the checkout: this file is `Tests/TidyTests/Tree.swift`.
    static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().standardizedFileURL

    /// The Swift of the program, of its migrations, and of its tests.
    static let sources = files(below: "Sources", withExtensions: ["swift"])
    static let migrations = files(below: "Migrations", withExtensions: ["swift"])
    static let tests = files(below: "Tests", withExtensions: ["swift"])

    /// The files below a folder that git would see, by path, without what builds leave behind.
    static func files(below folder: String, withExtensions extensions: [String]) -> [SourceText] {
        let root = top.appendingPathComponent(folder)
        guard let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) else { return [] }
        let found = walk.compactMap { $0 as? URL }.map(\.standardizedFileURL).filter { url in
            (extensions.isEmpty || extensions.contains(url.pathExtension)) && !url.hasDirectoryPath
                && !url.path.contains("/.build") && !url.path.contains("/__pycache__/")
        }
        return found.sorted { $0.path < $1.path }.compactMap { url in
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
            return SourceText(path: String(url.path.dropFirst(top.path.count + 1)), text: text)
        }
    }

    /// The names at the top of the checkout of what git tracks; of everything where there is no git.
    static func topLevelNames() throws -> [String] {
        guard FileManager.default.fileExists(atPath: top.appendingPathComponent(".git").path) else {
            return try FileManager.default.contentsOfDirectory(atPath: top.path).sorted()
        }
        let git = Process()
        git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // A checkout may belong to somebody else than the user who tests it.
        git.arguments = ["git", "-c", "safe.directory=*", "-C", top.path, "ls-files", "-z"]
        let output = Pipe()
        git.standardOutput = output
        try git.run()
        let tracked = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        let paths = tracked.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return Set(paths.compactMap { $0.split(separator: "/").first.map(String.init) }).sorted()
    }

    /// One file as text.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
    }
}
