import Bluetooth
import Foundation
import GRDB
import Glibc
import Storage
import Testing

/// What a machine and a person can do to the running daemon, short of killing it.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DaemonTests {
    /// A daemon that has committed rows of the headset `left`.
    private func recording(_ fixture: DaemonFixture, _ environment: [String: String] = [:]) throws -> RunningDaemon {
        try fixture.want(["left"])
        let daemon = try RunningDaemon(config: fixture.config, environment: environment)
        while RunningDaemon.committedRows(daemon.lines) == 0, daemon.nextLine() != nil {}
        #expect(daemon.lines.contains { $0.contains("state=streaming") }, "\(daemon.lines)")
        return daemon
    }

    @Test func anOrderlyEndCommitsTheLastBatchAndLeavesTheRecordingOpen() throws {
        for signal in [SIGTERM, SIGINT] {
            let fixture = try DaemonFixture()
            let daemon = try recording(fixture)
            daemon.signal(signal)
            #expect(daemon.end() == 0)
            #expect(daemon.lines.last?.hasSuffix("ended in order; recordings stay open") == true)
            #expect(Int64(try fixture.rows().count) == RunningDaemon.committedRows(daemon.lines))
            let audit = try fixture.audit()
            #expect(audit.holds)
            #expect(audit.streams.first?.openGapFirstN != nil, "what follows is missing until somebody starts it again")
            let again = try RunningDaemon(config: fixture.config)
            #expect(again.line(with: "state=streaming") != nil)
            again.signal(SIGTERM)
            #expect(again.end() == 0)
        }
    }

    @Test func aSecondDaemonIsRefusedWithTheHoldersPid() throws {
        let fixture = try DaemonFixture()
        let first = try recording(fixture)
        let second = try RunningDaemon(config: fixture.config)
        #expect(second.end() == 75)
        #expect(second.lines.contains { $0.contains("process \(first.pid) already acquires") }, "\(second.lines)")
        #expect(first.line(with: "committed") != nil, "the first one goes on")
        first.signal(SIGTERM)
        #expect(first.end() == 0)
    }

    @Test(arguments: [
        ("model: buffered-eeg}]\nlimits", "model: muse9}]\nlimits", "'muse9' is no model"),
        ("0.05", ".nan", "is not a number"), ("0.05", "1e300", "out of range"),
        ("kind: simulation", "kind: magic", "'magic' is no central"),
        ("database: /", "database: ", "not the absolute path"), ("headsets:", "headsets: [", "is not YAML"),
    ])
    func aWrongConfigurationExitsWith78AndTouchesNothing(text: String, replacement: String, message: String) throws {
        let fixture = try DaemonFixture()
        try fixture.write(replacing: text, with: replacement)
        let daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.end() == 78)
        #expect(daemon.lines.contains { $0.contains(message) }, "\(daemon.lines)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) == ["eegsync.yaml"])
    }

    @Test func aDatabaseOfANewerVersionIsLeftUntouched() throws {
        let fixture = try DaemonFixture()
        try fixture.want(["left"])
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('m9999_future')")
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
        }
        try queue.close()
        try expectRefusedUntouched(fixture, code: 65, message: "m9999_future")
    }

    @Test func aFileThatIsNoDatabaseIsLeftUntouched() throws {
        let fixture = try DaemonFixture()
        try Data(repeating: 0x5A, count: 10_000).write(to: URL(fileURLWithPath: fixture.path))
        try expectRefusedUntouched(fixture, code: 65, message: "damaged or is no database")
    }

    private func expectRefusedUntouched(_ fixture: DaemonFixture, code: Int32, message: String) throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        let daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.end() == code)
        #expect(daemon.lines.contains { $0.contains(message) }, "\(daemon.lines)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
    }

    @Test func aDirectoryThatNobodyMayWriteToExitsWith77() throws {
        let fixture = try DaemonFixture()
        // Not even the superuser creates files in sysfs.
        try fixture.write(replacing: fixture.path, with: "/sys/eegsync.sqlite")
        let daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.end() == 77)
        #expect(daemon.lines.contains { $0.contains("/sys/eegsync.sqlite") })
    }

    @Test func aDirectoryThatIsNotMountedYetIsWaitedFor() throws {
        let fixture = try DaemonFixture(folder: "disk")
        let daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.line(with: "may not be mounted yet") != nil)
        try FileManager.default.createDirectory(
            atPath: fixture.directory.path + "/disk", withIntermediateDirectories: false)
        #expect(daemon.line(with: "committed") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        let other = try DaemonFixture(folder: "disk")
        let waiting = try RunningDaemon(config: other.config)
        #expect(waiting.line(with: "may not be mounted yet") != nil)
        waiting.signal(SIGTERM)
        #expect(waiting.end() == 0, "it can be ended while it waits")
    }

    @Test func aFullDiskIsBufferedThroughAndNothingIsMissing() throws {
        let fixture = try DaemonFixture()
        let manager = NotificationSocket("full")
        let daemon = try recording(fixture, ["NOTIFY_SOCKET": manager.name])
        #expect(daemon.line(with: "committed") != nil)
        // Any further write of a file fails with EFBIG, as it does with ENOSPC on a full disk.
        try daemon.limitFileSize(1)
        #expect(daemon.line(with: "buffered_rows=") != nil)
        #expect(manager.message(with: "STATUS=cannot write") != nil)
        try daemon.limitFileSize(nil)
        #expect(daemon.line(with: "the database can be written again") != nil)
        #expect(manager.message(with: "STATUS=left: streaming") != nil)
        #expect(daemon.line(with: "committed") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(daemon.lines.count { $0.contains("buffered_rows=") } == 1, "one line for one cause")
        let audit = try fixture.audit()
        #expect(audit.holds)
        #expect(audit.streams.first?.missing == 0)
        #expect(try fixture.wrongRows(try fixture.rows()) == 0)
    }

    @Test func whatDoesNotFitIntoTheBufferIsReadFromTheHeadsetLater() throws {
        let fixture = try DaemonFixture()
        try fixture.write(replacing: "seconds: 0.05", with: "seconds: 0.05, buffer_rows: 1000")
        let daemon = try recording(fixture)
        try daemon.limitFileSize(1)
        #expect(daemon.line(with: "the buffer is full") != nil)
        try daemon.limitFileSize(nil)
        #expect(daemon.line(with: "the database can be written again") != nil)
        // It is in the ledger first, and read then; far fewer commits than this are needed.
        for _ in 0..<400 where daemon.line(with: "committed") != nil {
            let stream = try fixture.audit().streams.first
            if let stream, stream.recovered > 0, stream.missing == 0 { break }
        }
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        let audit = try fixture.audit()
        #expect(audit.holds)
        #expect(audit.streams.first?.missing == 0)
        #expect((audit.streams.first?.recovered ?? 0) > 0, "some of it was in the gap ledger")
        #expect(try fixture.wrongRows(try fixture.rows()) == 0)
    }

    @Test func aReloadTakesWhatIsRightAndKeepsTheOldForTheRest() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        try fixture.write(replacing: fixture.path, with: fixture.path + "2")
        daemon.signal(SIGHUP)
        #expect(daemon.line(with: "it names another database") != nil)
        try fixture.write(replacing: "kind:", with: "kind: [")
        daemon.signal(SIGHUP)
        #expect(daemon.line(with: "the old one stays") != nil)
        #expect(daemon.line(with: "committed") != nil, "it goes on")
        try fixture.write(replacing: "log_level: trace", with: "log_level: notice")
        daemon.signal(SIGHUP)
        #expect(daemon.line(with: "log_level=notice") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(daemon.lines.last?.contains("log_level=notice") == true, "nothing below notice is logged any more")
    }

    @Test func aReloadRecordsAHeadsetThatItNames() throws {
        let fixture = try DaemonFixture()
        try fixture.want(["right"])
        let right = ", {name: right, serial: SIM-2, model: buffered-eeg}]\nlimits"
        try fixture.write(replacing: right, with: "]\nlimits")
        let daemon = try RunningDaemon(config: fixture.config)
        #expect(daemon.line(with: "the configuration names no such headset") != nil)
        try fixture.write()
        daemon.signal(SIGHUP)
        #expect(daemon.line(with: "headset=right recording=1 state=streaming") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(try fixture.audit().holds)
    }

    @Test func theServiceManagerIsNotifiedOfEverything() throws {
        let fixture = try DaemonFixture()
        let manager = NotificationSocket("all")
        try fixture.want(["left"])
        // Messages are taken as they come: a full socket makes the sender wait.
        let daemon = try RunningDaemon(
            config: fixture.config, environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"])
        #expect(manager.message(with: "READY=1") != nil)
        #expect(manager.message(with: "STATUS=left: streaming") != nil)
        for _ in 0..<3 { #expect(manager.message(with: "WATCHDOG=1") != nil) }
        daemon.signal(SIGHUP)
        #expect(manager.message(with: "RELOADING=1") != nil)
        #expect(manager.message(with: "READY=1") != nil)
        daemon.signal(SIGTERM)
        #expect(manager.message(with: "STOPPING=1") != nil)
        #expect(daemon.end() == 0)
    }

    @Test func whatAPersonStopsStaysStopped() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        #expect(daemon.line(with: "committed") != nil)
        let store = try ControlStore(path: fixture.path, hostBoot: try HostBoot.current())
        try store.stopRecording(headset: "left", at: DaemonFixture.now)
        #expect(daemon.line(with: "state=stopped") != nil)
        #expect(daemon.line(with: "committed") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(try store.openRecordings().isEmpty)
        let rows = try fixture.rows().count
        let again = try RunningDaemon(config: fixture.config)
        #expect(again.line(with: "committed") != nil)
        again.signal(SIGTERM)
        #expect(again.end() == 0)
        #expect(try fixture.rows().count == rows)
        #expect(try fixture.audit().holds)
    }
}
