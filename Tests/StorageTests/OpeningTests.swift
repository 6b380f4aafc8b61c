import Bluetooth
import Foundation
import GRDB
import GRDBSQLite
import Headsets
import Migrations
import Testing

@testable import Storage

@Suite("Opening a database")
struct OpeningTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("eeg.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    /// Why a command may not write its wishes; nil where it may.
    func error(_ path: String) -> StorageError? {
        do {
            _ = try ControlStore(path: path, hostBoot: Fixture.boot)
            return nil
        } catch { return error }
    }

    @Test("creates it, and finds everything again")
    func createsAndReopens() throws {
        do {
            let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
            try Fixture.record(into: store)
            try store.close()
        }
        let store = try ReadOnlyStore(path: path, hostBoot: Fixture.secondBoot)
        #expect(try store.audit().holds)
        #expect(try store.recordings().map(\.rows) == [2924])
        #expect(throws: StorageError.self) { try store.database.write { try $0.execute(sql: "DELETE FROM recording") } }
        #expect(try store.size().bytes > 0)
    }

    @Test("takes no lock for counting memory, which all connections of a process would share")
    func countsNoMemory() throws {
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        defer { try? store.close() }
        #expect(sqlite3_memory_used() == 0)
    }

    @Test("shares all its files with the group where the group may write the directory, whatever the mask")
    func groupMayWrite() throws {
        func mode(_ path: String) throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) & 0o777
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: directory.path("."))
        let shared = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: shared)
        for suffix in ["", "-wal", "-shm", "-lock"] { #expect(try mode(path + suffix) == 0o660, "\(suffix)") }
        try shared.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path("."))
        let own = try AcquisitionStore(path: directory.path("own.sqlite"), hostBoot: Fixture.boot)
        #expect(try mode(directory.path("own.sqlite")) & 0o020 == 0)
        try own.close()
    }

    @Test("brings a database up to date in which streams could not change, and keeps all that refers to them")
    func changedStreams() throws {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        do {
            let queue = try DatabaseQueue(path: path)
            try DatabaseSchema.migrator.migrate(queue, upTo: "m0010_link_key")
            try queue.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO host_boot (id, uuid) VALUES (1, 'boot');
                        INSERT INTO headset (id, name, model) VALUES (1, 'left', 'muse');
                        INSERT INTO recording (id, headset_id, desired_state, requested_host_boot_id, requested_boottime_ns)
                            VALUES (1, 1, 'recording', 1, 0);
                        INSERT INTO stream VALUES (5, 1, 0, 'eeg', 0, 256, 2, 256, 1, 'eeg_1');
                        INSERT INTO channel VALUES (5, 1, 'TP9', 'EEG', 'uV', 1, 0, 0, 9);
                        INSERT INTO sample (stream_id, n, c1) VALUES (5, 0, 7), (5, 1, 8);
                        """)
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO stream VALUES (6, 1, 0, 'eeg_6', 0, 256, 4, 256, 1, 'eeg_6_1')")
                }
            }
            try DatabaseSchema.migrator.migrate(queue)
            try queue.write { db in
                try db.execute(sql: "INSERT INTO stream VALUES (6, 1, 0, 'eeg_6', 0, 256, 4, 256, 1, 'eeg_6_1', NULL)")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sample") == 2)
                #expect(try String.fetchAll(db, sql: "SELECT name FROM stream ORDER BY id") == ["eeg", "eeg_6"])
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM stream_overview").count == 2)
                #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
                #expect(throws: DatabaseError.self, "what others refer to cannot be deleted") {
                    try db.execute(sql: "DELETE FROM stream WHERE id = 5")
                }
            }
            try queue.close()
        }
        #expect(throws: Never.self) { try opening.migrate(DatabaseQueue(path: path)) }
    }

    @Test("lists every file of the migrations, in order")
    func migrationsAreComplete() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Migrations/sql")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sql") }
        #expect(Migration.all.map { $0.identifier + ".sql" } == files.sorted())
    }

    @Test("applies each migration to the schema before it", arguments: 0..<Migration.all.count)
    func migratesFromEverySchema(count: Int) throws {
        let queue = try DatabaseQueue(path: path)
        if count > 0 { try DatabaseSchema.migrator.migrate(queue, upTo: Migration.all[count - 1].identifier) }
        try queue.close()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        #expect(try store.audit().holds)
    }

    @Test("knows every cause that the program knows")
    func causes() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        let causes = try store.database.writer.read { db in try String.fetchSet(db, sql: "SELECT cause FROM gap_cause") }
        #expect(causes == Set(GapCause.allCases.map(\.rawValue)))
    }

    @Test("refuses a newer schema and leaves the file as it is")
    func newerSchema() throws {
        let queue = try DatabaseQueue(path: path)
        try DatabaseSchema.migrator.migrate(queue)
        try queue.write { db in try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('m9999_future')") }
        try queue.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let expected = StorageError.newerSchema(path: path, unknownMigrations: ["m9999_future"])
        #expect(throws: expected) { try AcquisitionStore(path: path, hostBoot: Fixture.boot) }
        #expect(throws: expected) { try ControlStore(path: path, hostBoot: Fixture.boot) }
        #expect(throws: expected) { try ReadOnlyStore(path: path, hostBoot: Fixture.boot) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test("refuses a file that is no database, and one of another program, and leaves them as they are")
    func foreignFiles() throws {
        let garbage = Data((0..<9000).map { UInt8($0 % 251) })
        try garbage.write(to: URL(fileURLWithPath: path))
        guard case .corrupt(path, _) = error(path) else { throw StorageError.notFound(what: "error corrupt") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)

        let other = directory.path("other.sqlite")
        let queue = try DatabaseQueue(path: other)
        try queue.write { db in try db.execute(sql: "CREATE TABLE note (text TEXT)") }
        try queue.close()
        #expect(error(other) == .cannotOpen(path: other, reason: "it is a SQLite database of another program"))
    }

    @Test("says that a damaged page is damage")
    func damagedPage() throws {
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in 4096..<bytes.count { bytes[index] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: path))
        let found = error(path)
        guard case .corrupt = found else {
            throw StorageError.notFound(what: "error corrupt, but \(String(describing: found))")
        }
    }

    @Test("tells a missing directory, a missing file and a directory apart")
    func missing() {
        let nowhere = directory.path("unmounted") + "/eeg.sqlite"
        #expect(error(nowhere) == .directoryMissing(path: directory.path("unmounted")))
        #expect(throws: StorageError.cannotOpen(path: path, reason: "it is not there")) {
            try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        }
        #expect(error(directory.url.path) == .cannotOpen(path: directory.url.path, reason: "it is a directory"))
    }

    @Test("for acquisition is refused while another acquires, with its pid, and possible after that")
    func acquisitionLock() throws {
        let first = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(throws: StorageError.inUse(path: path, pid: ProcessInfo.processInfo.processIdentifier)) {
            try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        }
        #expect(error(path) == nil)
        try first.close()
        #expect(throws: Never.self) { try AcquisitionStore(path: path, hostBoot: Fixture.boot) }
    }

    @Test("the lock of a process that was killed is free")
    func lockOfKilledProcess() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        process.arguments = [path + "-lock", "sh", "-c", "echo 4711 > '\(path)-lock'; echo locked; exec sleep 1000"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        // flock(1) holds the lock itself while its child holds it too.
        #expect(throws: StorageError.inUse(path: path, pid: 4711)) {
            try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        }
        let children = try String(
            contentsOfFile: "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children", encoding: .utf8)
        for child in children.split(separator: " ").compactMap({ Int32($0) }) { kill(child, SIGKILL) }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        _ = output.fileHandleForReading.readDataToEndOfFile()
        #expect(throws: Never.self) { try AcquisitionStore(path: path, hostBoot: Fixture.boot) }
    }

    @Test("is told from a busy database by its error, and a wait")
    func busy() throws {
        let options = StoreOptions(busyTimeoutSeconds: 0)
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot, options: options)
        let other = try DatabaseQueue(path: path)
        try other.inDatabase { db in
            try db.inTransaction(.immediate) {
                do {
                    try store.commit(WriteBatch(number: 1))
                    Issue.record("the commit did not fail")
                } catch let error as StorageError {
                    #expect(error.disposition == .retry)
                    guard case .busy = error else { throw error }
                }
                return .rollback
            }
        }
        try store.commit(WriteBatch(number: 1))
    }

    @Test("reads the kernel's boot identifier")
    func hostBoot() throws {
        #expect(try HostBoot.current().uuid.count == 36)
    }
}
