import Foundation
import GRDB
import Glibc
import Testing

/// What `eegsync status` and `eegsync doctor` say of a daemon that stores nothing.
@Suite(.serialized, .timeLimit(.minutes(3))) struct StatusOfADaemonTests {
    private func recording(_ fixture: DaemonFixture) throws -> RunningDaemon {
        try fixture.want(["left"])
        let daemon = try RunningDaemon(config: fixture.config)
        while RunningDaemon.committedRows(daemon.lines) == 0, daemon.nextLine() != nil {}
        return daemon
    }

    private struct Document: Decodable {
        struct Storage: Decodable { var cause: String }
        struct Headset: Decodable {
            var name: String
            var sentence: String
        }
        var severity: String
        var storage: Storage?
        var headsets: [Headset]
    }

    private func run(_ arguments: [String]) throws -> (code: Int32, output: Data) {
        let process = Process()
        process.executableURL = try RunningDaemon.program()
        process.arguments = arguments
        process.environment = [:]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }

    private func status(_ fixture: DaemonFixture) throws -> (code: Int32, Document) {
        let (code, data) = try run(["status", "--json", "--config", fixture.config])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return (code, try decoder.decode(Document.self, from: data))
    }

    /// Looks until it says so; a look takes tens of milliseconds, and what it waits for a second or two.
    private func wait(for fixture: DaemonFixture, until isReached: (Document) -> Bool) throws {
        for _ in 0..<500 {
            if isReached(try status(fixture).1) { return }
        }
    }

    private func expect(_ cause: String, of fixture: DaemonFixture) throws {
        let (code, facts) = try status(fixture)
        #expect(code == 69 && facts.severity == "waiting")
        #expect(facts.storage?.cause == cause, "\(facts)")
        #expect(facts.headsets.first { $0.name == "left" }?.sentence.hasPrefix("is not stored: ") == true)
        let doctor = try run(["doctor", "--config", fixture.config])
        #expect(doctor.code == 69)
        #expect(String(decoding: doctor.output, as: UTF8.self).contains("nothing is stored: "))
    }

    @Test func whatStreamsAndIsStoredIsGood() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        let (code, facts) = try status(fixture)
        #expect(code == 0 && facts.severity == "good" && facts.storage == nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func aStoppedProcess() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        daemon.signal(SIGSTOP)
        // The signal is taken when the kernel next schedules the process.
        try wait(for: fixture) { $0.storage != nil }
        try expect("processStopped", of: fixture)
        daemon.signal(SIGCONT)
        #expect(daemon.line(with: "committed") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func aDatabaseThatTakesNothing() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        // Any further write of a file fails with EFBIG, as it does with ENOSPC on a full disk.
        try daemon.limitFileSize(1)
        #expect(daemon.line(with: "buffered_rows=") != nil)
        try wait(for: fixture) { $0.storage != nil }
        try expect("refused", of: fixture)
        try daemon.limitFileSize(nil)
        #expect(daemon.line(with: "the database can be written again") != nil)
        #expect(daemon.line(with: "committed") != nil)
        try wait(for: fixture) { $0.storage == nil }
        #expect(try status(fixture).code == 0)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func aWriteLockOfAnotherProgram() throws {
        let fixture = try DaemonFixture()
        let daemon = try recording(fixture)
        let other = try DatabaseQueue(path: fixture.path)
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            #expect(daemon.line(with: "buffered_rows=") != nil)
            try wait(for: fixture) { $0.storage != nil }
            try expect("writeLock", of: fixture)
            let text = String(decoding: try run(["status", "--config", fixture.config]).output, as: UTF8.self)
            #expect(text.contains("(pid \(getpid())) holds the database's write lock"), "\(text)")
            try db.execute(sql: "ROLLBACK")
        }
        #expect(daemon.line(with: "the database can be written again") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }
}
