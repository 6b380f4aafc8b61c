import Foundation
import Glibc
import Storage
import Testing

@testable import eegsync

/// A database that somebody deletes, replaces or calls by another name while the daemon records into it.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LostDatabaseTests {
    private func recording(_ fixture: DaemonFixture) throws -> RunningDaemon {
        try fixture.want(["left"])
        let daemon = try RunningDaemon(config: fixture.config)
        while RunningDaemon.committedRows(daemon.lines) == 0, daemon.nextLine() != nil {}
        return daemon
    }

    private func run(_ arguments: [String]) throws -> (code: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = try RunningDaemon.program()
        process.arguments = arguments
        process.environment = [:]
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self), String(decoding: complaint, as: UTF8.self))
    }

    /// Ends the daemon. Returns the file that it has written; how many rows it has, and whether the audit holds.
    private func rescued(_ fixture: DaemonFixture, by daemon: RunningDaemon) throws -> (path: String, rows: Int64) {
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        let folder = URL(fileURLWithPath: fixture.path).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("-rescued-") }
        #expect(names.count == 1)
        let path = folder.appendingPathComponent(try #require(names.first)).path
        #expect(daemon.lines.contains { $0.contains(path) })
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        defer { try? store.close() }
        #expect(try store.audit().holds)
        return (path, try store.recordings().reduce(0) { $0 + $1.rows })
    }

    @Test(arguments: [["", "-wal", "-shm"], [""]]) func aDatabaseThatIsDeletedIsSaidAndSaved(endings: [String]) throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        for ending in endings { #expect(unlink(fixture.path + ending) == 0) }
        let line = try #require(daemon.line(with: "was deleted or moved"))
        #expect(line.contains("critical") && line.contains("-rescued-") || line.contains("file of its own"), "\(line)")
        let status = try run(["status", "--config", fixture.config])
        #expect(status.code == 69 && status.errors.contains("(pid \(daemon.pid)) records into it"), "\(status.errors)")
        let start = try run(["record", "start", "right", "--config", fixture.config])
        #expect(start.code == 69, "\(start.errors)")
        let copy = fixture.directory.appendingPathComponent("copy").path
        let backup = try run(["backup", copy, "--config", fixture.config])
        #expect(backup.code == 69 && backup.errors.contains("records into it"), "\(backup.errors)")
        let doctor = try run(["doctor", "--config", fixture.config])
        #expect(doctor.output.contains("records into a file that nobody finds"), "\(doctor.output)")
        #expect(access(fixture.path, F_OK) != 0)
        #expect(daemon.line(with: "committed") != nil, "it goes on recording")
        let saved = try rescued(fixture, by: daemon)
        #expect(saved.rows == RunningDaemon.committedRows(daemon.lines))
        #expect(rename(saved.path, fixture.path) == 0)
        let again = try RunningDaemon(config: fixture.config)
        #expect(again.line(with: "state=streaming") != nil)
        again.signal(SIGTERM)
        #expect(again.end() == 0)
        #expect(try fixture.audit().holds)
    }

    @Test func aDatabaseThatIsReplacedIsSaidAndSaved() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        let backup = fixture.directory.appendingPathComponent("backup.sqlite").path
        #expect(try run(["backup", backup, "--config", fixture.config]).code == 0)
        #expect(unlink(fixture.path) == 0 && rename(backup, fixture.path) == 0)
        #expect(daemon.line(with: "in the database's stead") != nil)
        let status = try run(["status", "--json", "--config", fixture.config])
        #expect(status.code == 69 && status.output.contains("\"replaced\""), "\(status.output)")
        let mark = try run(["mark", "lights out", "--config", fixture.config])
        #expect(mark.code == 69 && mark.errors.contains("is another file than the one"), "\(mark.errors)")
        let prune = try run(["prune", "--max-size", "1M", "--yes", "--config", fixture.config])
        #expect(prune.code == 69 && prune.errors.contains("is another file than the one"), "\(prune.errors)")
        let saved = try rescued(fixture, by: daemon)
        #expect(saved.rows == RunningDaemon.committedRows(daemon.lines))
        // The other one is as it was put there, and can be read.
        #expect(try run(["recordings", "--config", fixture.config]).code == 0)
    }

    @Test func aDatabaseThatIsCalledOtherwiseHasEverything() throws {
        let fixture = try DaemonFixture(folder: "data")
        let folder = URL(fileURLWithPath: fixture.path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let daemon = try recording(fixture)
        let moved = fixture.directory.appendingPathComponent("moved").path
        #expect(rename(folder, moved) == 0)
        #expect(daemon.line(with: "was deleted or moved") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(daemon.lines.contains { $0.contains("all that was recorded is in \(moved)/eegsync.sqlite") })
        let store = try ReadOnlyStore(path: moved + "/eegsync.sqlite", hostBoot: try HostBoot.current())
        #expect(try store.audit().holds)
        #expect(try store.recordings().reduce(0) { $0 + $1.rows } == RunningDaemon.committedRows(daemon.lines))
        try store.close()
    }

    /// Two locks would let two daemons write into one database.
    @Test func aLinkToTheDatabaseHasNoLockOfItsOwn() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        let link = fixture.directory.appendingPathComponent("link.sqlite").path
        #expect(symlink(fixture.path, link) == 0)
        try fixture.write(replacing: "database: \(fixture.path)", with: "database: \(link)")
        let second = try RunningDaemon(config: fixture.config)
        #expect(second.end() == 75)
        let compact = try run(["compact", "--database", link])
        #expect(compact.code == 75, "\(compact.errors)")
        let status = try run(["status", "--database", link])
        #expect(status.output.contains("eegsync run has pid \(daemon.pid)"), "\(status.output)")
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(try fixture.audit().holds)
    }
}
