import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// A copy of a database that is written to meanwhile, and what a comparison with it says.
@Suite("A backup")
struct BackupTests {
    private let fixture: EvidenceFixture
    private var copy: String { fixture.directory.path("copy.sqlite") }

    init() throws { fixture = try EvidenceFixture() }

    private func comparison() throws -> BackupComparison {
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        return try BackupComparison(of: ReadOnlyStore(unattended: copy, hostBoot: Fixture.boot), with: store)
    }

    @Test("holds what the database has, while a process has it open and writes; an audit of it holds")
    func whole() throws {
        let store = try fixture.open()
        var growth: [Int64] = []
        try DatabaseBackup(of: fixture.path).write(to: copy) { done, _ in growth.append(done) }
        #expect(growth == growth.sorted())
        let report = try ReadOnlyStore(unattended: copy, hostBoot: Fixture.boot).audit()
        #expect(report.holds && report.streams.count == 4, "\(report.findings)")
        var equal = try comparison()
        #expect(equal.differences.isEmpty && equal.streams == 4 && equal.rowsSince == 0)
        // What is recorded later is no difference.
        var batch = WriteBatch(number: 200)
        batch.samples = [Fixture.rows(StreamID(rawValue: 1), 10_240..<10_300, channels: 4)]
        try store.commit(batch)
        equal = try comparison()
        #expect(equal.differences.isEmpty && equal.rowsSince == 60, "\(equal)")
        try store.close()
        #expect(FileManager.default.fileExists(atPath: copy + "-wal") == false)
    }

    @Test("holds up nobody: another connection commits while the copy is being made")
    func concurrent() throws {
        let store = try fixture.open()
        var number: UInt64 = 300
        var next: Int64 = 10_240
        // Each step of the copy is followed by a commit, which would throw `busy` where it had to wait.
        try DatabaseBackup(of: fixture.path).copySteps(to: copy, operations: 2_000) {
            guard number < 330 else { return }
            var batch = WriteBatch(number: number)
            batch.samples = [Fixture.rows(StreamID(rawValue: 1), next..<next + 10, channels: 4)]
            #expect(throws: Never.self) { try store.commit(batch) }
            (number, next) = (number + 1, next + 10)
        }
        #expect(number > 300)
        try store.close()
        #expect(try comparison().differences.isEmpty)
        #expect(try comparison().rowsSince == next - 10_240)
    }

    @Test("leaves keys and the spool out, byte by byte, unless keys are wanted", arguments: [false, true])
    func keys(areWanted: Bool) throws {
        let key = Data((0..<16).map { UInt8(0xA0 + $0) })
        let old = Data((0..<16).map { UInt8(0x50 + $0) })
        let queue = try DatabaseQueue(path: fixture.path)
        let hasTable = try queue.write { db in
            guard try db.tableExists("link_key") else { return false }
            let insertion = "INSERT INTO link_key (address, type, pin_length, value) VALUES (?, 4, 0, ?)"
            try db.execute(sql: insertion, arguments: ["00:55:DA:B0:13:25", old])
            try db.execute(sql: "DELETE FROM link_key")
            try db.execute(sql: insertion, arguments: ["00:55:DA:B0:13:24", key])
            try db.execute(sql: "INSERT INTO spool VALUES (1, '/run/eegsync/spool-x', 'secret-token', 1, 0)")
            return true
        }
        try queue.close()
        try DatabaseBackup(of: fixture.path, keepsKeys: areWanted).write(to: copy)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        #expect((bytes.range(of: key) != nil) == (areWanted && hasTable))
        #expect(bytes.range(of: old) == nil)
        #expect(bytes.range(of: Data("secret-token".utf8)) == nil)
    }

    @Test(
        "is found out where it is not what the database was",
        arguments: [
            "UPDATE sample SET c1 = c1 + 1 WHERE stream_id = 1 AND n = 700",
            "DELETE FROM sample WHERE stream_id = 3 AND n > 9000", "UPDATE gap SET count = count + 1 WHERE stream_id = 1",
            "UPDATE channel SET scale = 2 WHERE stream_id = 1",
        ])
    func spoiled(sql: String) throws {
        try DatabaseBackup(of: fixture.path).write(to: copy)
        let queue = try DatabaseQueue(path: copy)
        try queue.write { db in try db.execute(sql: sql) }
        try queue.close()
        #expect(try !ReadOnlyStore(unattended: copy, hostBoot: Fixture.boot).audit().holds)
    }

    @Test("of another database, or of an older history, is none of this one")
    func foreign() throws {
        let other = try EvidenceFixture()
        let store = try other.open()
        var batch = WriteBatch(number: 200)
        batch.samples = [Fixture.rows(StreamID(rawValue: 1), 10_240..<12_000, channels: 4)]
        try store.commit(batch)
        try store.close()
        try DatabaseBackup(of: other.path).write(to: copy)
        #expect(try comparison().differences.isEmpty == false)
    }
}

extension DatabaseBackup {
    /// A copy during which something is done each so many operations of SQLite.
    func copySteps(to target: String, operations: Int32, _ step: @escaping () -> Void) throws {
        var fine = self
        fine.operations = operations
        try fine.write(to: target) { _, _ in step() }
    }
}
