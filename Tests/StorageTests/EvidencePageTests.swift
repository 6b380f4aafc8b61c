import Foundation
import Testing

@testable import Storage

/// The page *How do I know?* has a program that checks digests without eegsync, and it is run.
@Suite("The program of the page Evidence")
struct EvidencePageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/eegsync/eegsync.docc/Evidence.md")

    /// What the program prints on a database, and how it ends.
    private func run(on path: String, in directory: TemporaryDirectory) throws -> (status: Int32, output: String) {
        let parts = try String(contentsOf: Self.page, encoding: .utf8).components(separatedBy: "```")
        let program = try #require(parts.first { $0.hasPrefix("python\n") })
        try String(program.dropFirst("python\n".count))
            .write(toFile: directory.path("check.py"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", directory.path("check.py"), path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test("finds a sound database sound")
    func sound() throws {
        let fixture = try EvidenceFixture()
        let (status, output) = try run(on: fixture.path, in: fixture.directory)
        #expect(status == 0 && output.isEmpty, "\(output)")
    }

    @Test(
        "finds a changed value in the block that holds it",
        arguments: [(6000, 4608, 8703), (2750, 2700, 2899), (5004, 5002, 5007)])
    func changed(n: Int, first: Int, last: Int) throws {
        let fixture = try EvidenceFixture()
        try fixture.write("UPDATE sample SET c2 = 77 WHERE stream_id = 1 AND n = \(n)")
        let (status, output) = try run(on: fixture.path, in: fixture.directory)
        #expect(status == 1)
        #expect(output.hasPrefix("stream 1, n \(first) to \(last): not what was written"), "\(output)")
    }
}
