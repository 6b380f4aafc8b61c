import Foundation
import Glibc
import Storage
import Testing

@testable import eegsync

/// `eegsync pause` and `eegsync resume`, as their user sees them.
@Suite struct PauseCommandTests {
    @Test func aPauseIsSaidByStatusUntilItEnds() throws {
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        try store.startRecording(headset: "left", model: "ganglion", at: HostClock.now)
        func run(_ command: String...) throws -> String {
            let run = try ProgramRun(command + ["--database", database.path])
            // Without a daemon nothing is recorded, which is only as wanted while it is paused.
            #expect(run.exitCode == 0 || run.exitCode == 69 && command == ["status"], "\(run.errors)")
            return run.output
        }
        #expect(try run("pause").contains("Paused: nothing is recorded until `eegsync resume`"))
        #expect(try run("pause").contains("It was paused before"))
        #expect(try store.pause() != nil)
        let status = try run("status")
        #expect(status.contains("Paused: nothing is recorded"))
        #expect(status.contains("left is wanted, and paused"))
        let facts = try JSONSerialization.jsonObject(with: Data(try run("status", "--json").utf8)) as? [String: Any]
        #expect(facts?["paused_seconds"] is Double)
        #expect(try run("resume").contains("Resumed: "))
        #expect(try run("resume").contains("There was no pause"))
        #expect(try store.pause() == nil)
        #expect(!(try run("status")).contains("aused"))
    }

    @Test(arguments: [["impedance", "left"], ["capture", "left", "-o"]])
    func whatNeedsALinkIsRefusedAtOnceDuringAPause(command: [String]) throws {
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        try store.startRecording(headset: "left", model: "ganglion", at: HostClock.now)
        try store.pause(at: HostClock.now)
        // The process of the tests counts as the daemon: its name begins alike.
        let lock = try #require(fopen(database.path + "-lock", "w"))
        defer { fclose(lock) }
        try #require(flock(fileno(lock), LOCK_EX | LOCK_NB) == 0)
        let file = database.directory.appendingPathComponent("left.btsnoop").path
        let output = command.last == "-o" ? [file] : []
        let run = try ProgramRun(command + output + ["--seconds", "1", "--database", database.path])
        // Nothing was asked for before.
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(run.exitCode == Failure.Code.unavailable.rawValue)
        #expect(run.errors.contains("eegsync is paused") && run.errors.contains("eegsync resume"), "\(run.errors)")
    }
}
