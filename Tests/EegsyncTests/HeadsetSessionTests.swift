import Foundation
import Storage
import Testing

@testable import eegsync

/// What a command asks of a headset that a daemon has; the process of the tests has the database, and nothing else of one.
@Suite struct HeadsetSessionTests {
    @Test(
        "The daemon is asked to write each second for as long as somebody measures or captures",
        arguments: ["impedance", "capture"])
    func isFollowed(command: String) throws {
        let database = try RecordedDatabase()
        let store = try AcquisitionStore(path: database.path, hostBoot: try HostBoot.current())
        try store.control.startRecording(headset: "left", model: "ganglion", at: HostClock.now)
        #expect(try !store.wishes(unlessVersion: nil).isFollowed)
        let process = Process()
        process.executableURL = try ProgramRun.program
        process.arguments = [command, "left", "--database", database.path]
        if command == "capture" { process.arguments?.append("--output=\(database.directory.path)/left.btsnoop") }
        process.environment = [:]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        var isFollowed = false
        while process.isRunning, !isFollowed { isFollowed = try store.wishes(unlessVersion: nil).isFollowed }
        #expect(isFollowed)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try !store.wishes(unlessVersion: nil).isFollowed, "by nobody who is gone")
    }
}
