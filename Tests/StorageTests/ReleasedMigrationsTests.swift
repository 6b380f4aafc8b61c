import Foundation
import Migrations
import Testing

/// `Migrations/released.sha256` holds the digest of every step, as `sha256sum` writes it.
///
/// eegsync is installed from a checkout of the main branch, so a step is released when it lands there: from then on somebody's
/// database has it, and to change it would give two databases of one schema version. Until then its line may be changed.
@Suite("Released migrations")
struct ReleasedMigrationsTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Migrations")

    /// The names of the files that are missing or are not what they were, as `sha256sum --check` tells them.
    private func changed(in folder: URL) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["LC_ALL=C", "sha256sum", "--check", "--strict", "--quiet", "released.sha256"]
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect((process.terminationStatus == 0) == text.isEmpty)
        return text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
    }

    @Test("never change")
    func unchanged() throws {
        #expect(
            try changed(in: Self.folder).isEmpty,
            "a released step was changed: write a new step instead; for a step that is not on main yet, its new digest"
        )
    }

    @Test("are all listed, in order")
    func complete() throws {
        let list = try String(contentsOf: Self.folder.appendingPathComponent("released.sha256"), encoding: .utf8)
        let names = list.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) ?? "" }
        let steps = Migration.all.map { "sql/\($0.identifier).sql" }
        #expect(names.filter { $0.hasPrefix("sql/") } == steps, "add: sha256sum sql/STEP.sql >>released.sha256")
        let centre = CentreStep.all.map { "postgresql/\($0.identifier).sql" }
        #expect(names.filter { !$0.hasPrefix("sql/") } == centre, "add: sha256sum postgresql/STEP.sql >>released.sha256")
        for (folder, listed) in [("sql", steps), ("postgresql", centre)] {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appendingPathComponent(folder).path)
            #expect(files.map { "\(folder)/\($0)" }.sorted() == listed)
        }
    }

    @Test("are found out where one was changed by a byte, or is gone")
    func planted() throws {
        let directory = try TemporaryDirectory()
        let copy = directory.url.appendingPathComponent("Migrations")
        try FileManager.default.copyItem(at: Self.folder.standardizedFileURL, to: copy)
        #expect(try changed(in: copy).isEmpty)
        let file = copy.appendingPathComponent("sql/m0005_capture.sql")
        try (Data(contentsOf: file) + Data("\n".utf8)).write(to: file)
        try FileManager.default.removeItem(at: copy.appendingPathComponent("sql/m0002_views.sql"))
        #expect(try changed(in: copy) == ["sql/m0002_views.sql", "sql/m0005_capture.sql"])
    }
}
