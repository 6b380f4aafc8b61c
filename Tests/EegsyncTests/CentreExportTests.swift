import ArgumentParser
import Foundation
import Testing

@testable import eegsync

/// An export from a centre, as far as no server is needed; Tests/Fleet has one.
@Suite("Exports from a centre")
struct CentreExportTests {
    private static let address = "postgresql://ada@study.example.org/study"

    @Test("A time and a centre may both be given")
    func both() throws {
        let command = try ExportCommand.parse(["12", "-o", "a.edf", "--from", "-5m", "--from", Self.address])
        #expect(command.from == ["-5m", Self.address])
        _ = try ExportCommand.parse(["12", "-o", "a.edf", "--from", "postgres://ada@h/study"])
    }

    @Test(
        "Two centres, two times, or a centre and a database of this machine contradict each other",
        arguments: [
            (["--from", address, "--from", address], "twice the same"),
            (["--from", "+1s", "--from", "+2s"], "twice the same"),
            (["--from", address, "--database", "a.sqlite"], "leave out --database"),
            (["--from", address, "--config", "a.yaml"], "leave out --database"),
            (["--database", address], "--database is a file"),
            (["--format", "sqlite", "--from", address, "--from", "+1s"], "holds the whole recording"),
        ])
    func contradictions(options: [String], words: String) {
        let error = #expect(throws: (any Error).self) { try ExportCommand.parse(["12", "-o", "a.edf"] + options) }
        #expect(error.map { ExportCommand.fullMessage(for: $0) }?.contains(words) == true)
    }

    @Test("A recording of a centre has its number or its UUID there; other names belong to one machine")
    func names() throws {
        #expect(try RecordingName(argument: "12")?.nameAtCentre() == "12")
        let uuid = "0b5fd3a2-7c1e-4b8e-9a43-5f2f6f0d9b11"
        #expect(try RecordingName(argument: uuid)?.nameAtCentre() == uuid)
        for name in ["latest", "left"] {
            let failure = #expect(throws: Failure.self) { try RecordingName(argument: name)?.nameAtCentre() }
            #expect(failure?.code == .usage)
        }
    }

    @Test(
        "A password in the address is refused before anything is asked, and not repeated",
        arguments: ["postgresql://ada:secret@localhost/study", "postgresql://ada@localhost/study?sslpassword=secret"])
    func password(address: String) throws {
        let run = try ProgramRun(["export", "12", "-o", "/nonexistent/a.edf", "--from", address])
        #expect(run.exitCode == Failure.Code.usage.rawValue)
        #expect(run.errors.contains("has a password") && !run.errors.contains("secret"))
    }
}
