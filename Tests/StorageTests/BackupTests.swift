import Bluetooth
import Foundation
import GRDB
import Glibc
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

    @Test("leaves the spool out, and keys, which go to a file of their own where they are wanted")
    func keys() throws {
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO spool VALUES (1, '/run/eegsync/spool-x', 'secret-token', 1, 0)")
        }
        try queue.close()
        let backup = DatabaseBackup(of: fixture.path)
        try backup.write(to: copy)
        #expect(try !backup.copyKeys(beside: copy))
        let peripheral = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)
        let value = try #require(SecretKey((0..<16).map { UInt8(0xA0 + $0) }))
        let key = LinkKey(peripheral: peripheral, type: 4, pinLength: 0, value: value)
        try PairingKeyFile(database: fixture.path).change { $0.linkKeys = [key] }
        try backup.write(to: fixture.directory.path("second.sqlite"))
        #expect(try backup.copyKeys(beside: copy))
        #expect(try PairingKeyFile(database: copy).keys().linkKeys == [key])
        var facts = stat()
        #expect(stat(copy + "-keys", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        for name in [copy, fixture.directory.path("second.sqlite")] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: name))
            #expect(bytes.range(of: Data("secret-token".utf8)) == nil)
            #expect(bytes.range(of: Data([0xA0, 0xA1, 0xA2, 0xA3])) == nil)
        }
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

    @Test("whose times follow a clock that the database does not have is found out")
    func otherClock() throws {
        try DatabaseBackup(of: fixture.path).write(to: copy)
        let queue = try DatabaseQueue(path: copy)
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
                    SELECT id, 4000000000000000000, 77, 0, 1 FROM host_boot LIMIT 1
                    """)
        }
        try queue.close()
        #expect(try comparison().differences.contains { $0.contains("follow a clock") && $0.contains("77 ns") })
    }

    @Test("of another database, or of an older history, is none of this one")
    func foreign() throws {
        let other = try EvidenceFixture(.anew)
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
