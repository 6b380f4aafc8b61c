import Foundation
import Testing

private func source(_ text: String) -> SourceText { SourceText(path: "Sources/Planted/Planted.swift", text: text) }

/// Package.swift is the only table of who may import whom; everything else follows from it.
@Suite struct ImportTests {
    private static let pagePath = "Sources/eegsync/eegsync.docc/Architecture.md"
    private static let beginMark = "<!-- target table begin -->"
    private static let endMark = "<!-- target table end -->"

    private static let targets = (try? Manifest.targets(in: Tree.text("Package.swift"))) ?? []

    private static let planted = Manifest.targets(
        in: """
            let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
            .target(name: "Bluetooth", swiftSettings: optimised),
            // .target(name: "Gone"),
            .target(
                name: "Storage", dependencies: ["Bluetooth", grdb],
                path: "Data"),
            .testTarget(name: "StorageTests", dependencies: ["Storage"]),
            .executableTarget(name: "fuzz", path: "Tests/Fuzz"),
            """)

    @Test func theManifestIsUnderstood() {
        #expect(
            Self.planted == [
                ManifestTarget(kind: "target", name: "Bluetooth", path: "Sources/Bluetooth", dependencies: []),
                ManifestTarget(kind: "target", name: "Storage", path: "Data", dependencies: ["Bluetooth", "GRDB"]),
                ManifestTarget(kind: "testTarget", name: "StorageTests", path: "Tests/StorageTests", dependencies: ["Storage"]),
                ManifestTarget(kind: "executableTarget", name: "fuzz", path: "Tests/Fuzz", dependencies: []),
            ])
        #expect(Self.planted.filter(\.isShipped).map(\.name) == ["Bluetooth", "Storage"])
    }

    @Test func everyFolderOfSourcesIsATargetThatWasUnderstood() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Tree.top.appendingPathComponent("Sources").path)
        let paths = Self.targets.map(\.path).filter { $0.hasPrefix("Sources/") }
        // Nothing of Swift is in the Python package.
        let swift = folders.filter { $0 != "Python" }
        #expect(swift.map { "Sources/\($0)" }.sorted() == paths.sorted())
        let python = Tree.files(below: "Sources/Python", withExtensions: ["swift"])
        #expect(python.isEmpty)
    }

    @Test func anUndeclaredImportIsFound() {
        let storage = Self.planted[1]
        func undeclared(_ text: String, by target: ManifestTarget) -> Int {
            Imports.undeclared(source(text), of: target, among: Self.planted).count
        }
        #expect(undeclared("import GRDB\npublic import Bluetooth\nimport Foundation\nimport Storage", by: storage) == 0)
        #expect(undeclared("public import struct Storage.StreamID", by: Self.planted[0]) == 1)
        #expect(undeclared("@testable import GRDB", by: Self.planted[2]) == 1)
    }

    @Test func anUnusedDependencyIsFound() {
        func unused(_ texts: String...) -> Int {
            Imports.unused(by: Self.planted[1], files: texts.map(source), among: Self.planted).count
        }
        #expect(unused("import GRDB", "import Bluetooth") == 0)
        #expect(unused("import GRDB\n// import Bluetooth") == 1)
    }

    @Test func everyTargetImportsWhatIsDeclaredAndNothingElse() {
        let findings = Self.targets.flatMap { target in
            let files = (Tree.sources + Tree.migrations + Tree.tests).filter { $0.path.hasPrefix(target.path + "/") }
            return files.flatMap { Imports.undeclared($0, of: target, among: Self.targets) }
                + Imports.unused(by: target, files: files, among: Self.targets)
        }
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func onlyStorageSpeaksToSQLite() {
        let users = Self.targets.filter { $0.isShipped && !$0.dependencies.filter { $0.hasPrefix("GRDB") }.isEmpty }
        #expect(users.map(\.name) == ["Storage"])
    }

    @Test func whatIsPureImportsOnlyWhatIsPure() {
        let pure = Self.targets.filter { Purity.pureTargets.contains($0.name) }
        #expect(pure.count == Purity.pureTargets.count)
        #expect(pure.flatMap(\.dependencies).filter { !Purity.pureTargets.contains($0) }.isEmpty)
    }

    @Test func anOutdatedTableIsFound() {
        let table = Imports.table("| `Storage` | keeps | nothing |", targets: Self.planted)
        #expect(
            table.split(separator: "\n").dropFirst(2) == [
                "| `Bluetooth` |  | nothing |", "| `Storage` | keeps | Bluetooth, GRDB |",
            ])
    }

    /// EEGSYNC_WRITE_DOCUMENTATION=1 writes it.
    @Test func theTableInTheDocumentationIsTheManifests() throws {
        let page = try Tree.text(Self.pagePath)
        let begin = try #require(page.range(of: Self.beginMark))
        let end = try #require(page.range(of: Self.endMark))
        let documented = page[begin.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        let table = Imports.table(documented, targets: Self.targets)
        if ProcessInfo.processInfo.environment["EEGSYNC_WRITE_DOCUMENTATION"] == "1" {
            let updated = page[..<begin.upperBound] + "\n" + table + "\n" + page[end.lowerBound...]
            try String(updated).write(
                to: Tree.top.appendingPathComponent(Self.pagePath), atomically: true, encoding: .utf8)
            return
        }
        #expect(documented == table, "run this test with EEGSYNC_WRITE_DOCUMENTATION=1, and say what a new target is for")
        #expect(!table.contains("|  |"), "a target without a responsibility")
    }
}
