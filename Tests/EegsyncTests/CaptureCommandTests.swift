import Capture
import Foundation
import Headsets
import Testing

@testable import eegsync

/// `eegsync capture` without a daemon, with a simulated radio on the real clock.
@Suite struct CaptureCommandTests {
    private let database: RecordedDatabase
    private let configuration: String

    init() throws {
        database = try RecordedDatabase()
        configuration = try database.configure(
            """
            central: {kind: simulation, seed: 1, headsets: [{name: Muse-1, model: muse}]}
            headsets: [{name: left, model: muse}]
            """)
    }

    private func capture(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(["capture", "--config", configuration] + arguments)
    }

    @Test func whatIsCapturedCanBeReplayed() throws {
        let file = database.directory.appendingPathComponent("left.btsnoop")
        let run = try capture(["left", "-o", file.path, "--seconds", "6", "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let facts = try run.json()
        #expect((facts["packets"] as? Int ?? 0) > 50)
        #expect(facts["daemon_pid"] == nil)
        #expect(facts["bytes"] as? Int == (try Data(contentsOf: file)).count)
        #expect(!FileManager.default.fileExists(atPath: database.path), "it stores nothing")
        let found = try Capture.peripherals(btsnoop: Array(try Data(contentsOf: file)))
        #expect(found.count == 1)
        let replay = try ProgramRun(["replay", file.path, "--model", "muse", "--database", database.path])
        #expect(replay.exitCode == 0, "\(replay.errors)")
        // A second one is not written over it.
        let again = try capture(["left", "-o", file.path, "--seconds", "1"])
        #expect(again.exitCode == Failure.Code.cannotCreate.rawValue)
        #expect(again.errors.contains("--force"))
    }

    @Test func aHeadsetThatIsAwayIsSaidToBeLookedFor() throws {
        let elsewhere = try database.configure(
            """
            central: {kind: simulation, seed: 1, headsets: [{name: Muse-1, model: muse}]}
            headsets: [{name: left, model: ganglion}]
            """)
        let file = database.directory.appendingPathComponent("away.btsnoop").path
        let run = try ProgramRun(["capture", "--config", elsewhere, "left", "-o", file, "--seconds", "2"])
        #expect(run.exitCode == Failure.Code.unavailable.rawValue)
        #expect(run.errors.contains("to or from left; it is looked for"), "\(run.errors)")
        #expect(run.errors.contains("bring it within reach"))
    }

    @Test func aTerminalIsSparedTheBytes() throws {
        let terminal = try Terminal()
        let errors = Pipe()
        let process = Process()
        process.executableURL = try ProgramRun.program
        process.arguments = ["capture", "--config", configuration, "left", "-o", "-", "--seconds", "1"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = terminal.slave
        process.standardError = errors
        try process.run()
        let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == Failure.Code.usage.rawValue)
        #expect(said.contains("standard output is a terminal"), "\(said)")
    }

    @Test func whatCannotBeCapturedIsSaid() throws {
        let file = database.directory.appendingPathComponent("right.btsnoop").path
        let unknown = try capture(["right", "-o", file, "--seconds", "1"])
        #expect(unknown.exitCode == Failure.Code.noInput.rawValue)
        #expect(unknown.errors.contains("names no headset right, only left"))
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try capture(["left", "-o", "-", "--json"]).exitCode == Failure.Code.usage.rawValue)
        #expect(try capture(["left", "-o", file, "--seconds", "0"]).exitCode == Failure.Code.usage.rawValue)
    }
}
