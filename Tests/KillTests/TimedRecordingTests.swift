import Bluetooth
import Foundation
import Glibc
import Storage
import Testing

/// `eegsync record start` that waits, and that ends by itself, with a daemon.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TimedRecordingTests {
    private func run(_ fixture: DaemonFixture, _ arguments: [String]) throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = try RunningDaemon.program()
        process.arguments = arguments + ["--config", fixture.config]
        process.environment = [:]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test func whoWaitsReturnsWhenSamplesAreStored() throws {
        let fixture = try DaemonFixture()
        let daemon = try RunningDaemon(config: fixture.config)
        // Its lock is there.
        #expect(daemon.nextLine() != nil)
        let started = try run(fixture, ["record", "start", "left", "--wait", "--for", "8h"])
        #expect(started.code == 0 && started.output.contains("first samples are stored"), "\(started.output)")
        #expect(try fixture.rows().isEmpty == false)
        // Nobody answers for a headset that is not there.
        let paused = try run(fixture, ["pause"])
        #expect(paused.code == 0)
        let other = try run(fixture, ["record", "start", "right", "--wait"])
        #expect(other.code == 69 && other.output.contains("eegsync resume"), "\(other.output)")
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func theEndOutlivesKillNine() throws {
        let fixture = try DaemonFixture()
        var daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.nextLine() != nil)
        let started = try run(fixture, ["record", "start", "left", "--wait"])
        #expect(started.code == 0, "\(started.output)")
        let control = try ControlStore(path: fixture.path, hostBoot: try HostBoot.current())
        let recording = try #require(try control.openRecordings().first?.recording)
        try control.setEnd(of: recording, at: DaemonFixture.now + .seconds(2))
        daemon.signal(SIGKILL)
        #expect(daemon.end() == -SIGKILL)
        daemon = try RunningDaemon(config: fixture.config)
        // A look takes some milliseconds; the end comes within some seconds.
        for _ in 0..<2000 where try !control.openRecordings().isEmpty { _ = try run(fixture, ["recordings"]) }
        #expect(try control.openRecordings().isEmpty)
        #expect(try fixture.audit().findings.isEmpty)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }
}
