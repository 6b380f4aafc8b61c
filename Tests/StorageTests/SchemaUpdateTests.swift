import Foundation
import GRDB
import Glibc
import Synchronization
import Testing

@testable import Storage

@Suite("A change of the schema")
struct SchemaUpdateTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("eeg.sqlite") }
    var snapshot: String { path + "-before-m0026_digested_tables" }

    init() throws { directory = try TemporaryDirectory() }

    /// A database of the version before the last one, with so many rows in a table of its own.
    private func makeOlder(rows: Int = 0) throws {
        let queue = try DatabaseQueue(path: path)
        try DatabaseSchema.migrator.migrate(queue, upTo: "m0025_annotation_history")
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO host_boot (uuid) VALUES ('before');
                    CREATE TABLE ballast (id INTEGER PRIMARY KEY, x BLOB);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                    INSERT INTO ballast SELECT i, zeroblob(4000) FROM n WHERE i <= \(rows);
                    """)
        }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    }

    /// What a version that knows nothing of the last step says when it opens the database.
    private func makeNewer() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('m9999_future')") }
        try queue.close()
    }

    private func steps(options: StoreOptions = StoreOptions()) throws -> [SchemaStep] {
        let steps = Steps()
        try AcquisitionStore(path: path, hostBoot: Fixture.boot, options: options) { steps.add($0) }.close()
        return steps.all
    }

    private final class Steps: Sendable {
        private let list = Mutex<[SchemaStep]>([])
        var all: [SchemaStep] { list.withLock { $0 } }
        func add(_ step: SchemaStep) { list.withLock { $0.append(step) } }
    }

    @Test("is preceded by a copy that an older version can go on with, which nobody but its owner may read")
    func copy() throws {
        try makeOlder(rows: 5000)
        let steps = try steps()
        #expect(steps.contains(.copied(to: snapshot)))
        // 20 MB in steps of 8 MiB.
        #expect(steps.filter { if case .copying = $0 { true } else { false } }.count >= 4)
        #expect(steps.first == .copying(0), "whoever waits for the start knows at once that it takes longer")
        let mode = try FileManager.default.attributesOfItem(atPath: snapshot)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let copy = try DatabaseQueue(path: snapshot)
        try copy.read { db in
            let last = try String.fetchOne(db, sql: "SELECT max(identifier) FROM grdb_migrations")
            #expect(last == "m0025_annotation_history")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM ballast") == 5000)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
        #expect(SchemaSnapshot.files(of: path) == ["eeg.sqlite-before-m0026_digested_tables"])
    }

    @Test("makes no copy of a new database, nor of one that is up to date")
    func noCopy() throws {
        #expect(try steps().isEmpty)
        #expect(try steps().isEmpty)
        #expect(SchemaSnapshot.files(of: path).isEmpty)
    }

    @Test("happens all the same where there is no room for the copy, and says so")
    func noRoom() throws {
        try makeOlder()
        // In the way of the copy's temporary name, as if it could not be made.
        try FileManager.default.createDirectory(atPath: snapshot + ".unfinished", withIntermediateDirectories: false)
        let steps = try steps()
        #expect(steps.contains { if case .notCopied = $0 { true } else { false } })
        #expect(try DatabaseOpening(path: path, options: StoreOptions()).inspect() == [])
        #expect(!FileManager.default.fileExists(atPath: snapshot))
    }

    @Test("makes no copy of a database above 4 GB, says so, and happens all the same")
    func tooLarge() throws {
        try makeOlder(rows: 10)
        // Sparse: the file says that it is large, and takes no room. SQLite goes by the size that its header has.
        #expect(truncate(path, off_t(StoreOptions.snapshotBound) + 4096) == 0)
        let steps = try steps()
        #expect(
            steps.contains { if case .notCopied(let reason) = $0 { reason.contains("more than 4000000000") } else { false } })
        #expect(!steps.contains { if case .copying = $0 { true } else { false } })
        #expect(try DatabaseOpening(path: path, options: StoreOptions()).inspect() == [])
        #expect(SchemaSnapshot.files(of: path).isEmpty)
        // There is no way back then, and the refusal names none.
        try makeNewer()
        #expect(throws: StorageError.self) { try SchemaReturn(of: path, suffix: "-newer") }
    }

    @Test("reports while it makes progress, so that the service manager waits")
    func progress() throws {
        try makeOlder()
        let steps = Steps()
        let update = try #require(
            SchemaUpdate(path: path, pending: ["m0029_start"]) { steps.add($0) })
        let queue = try DatabaseQueue(path: path)
        try queue.inDatabase { db in
            update.watch(db)
            #expect(steps.all == [.changing])
            _ = try Int.fetchOne(
                db,
                sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT sum(i) FROM n")
            #expect(steps.all.count > 3)
            update.unwatch(db)
            let count = steps.all.count
            _ = try Int.fetchOne(
                db,
                sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT sum(i) FROM n")
            #expect(steps.all.count == count)
        }
    }

    @Test("is refused to a command while an older version acquires")
    func olderInUse() throws {
        try makeOlder()
        let lock = try AcquisitionLock(database: path)
        #expect(throws: StorageError.olderSchemaInUse(path: path, pid: getpid())) {
            try ControlStore(path: path, hostBoot: Fixture.boot)
        }
        lock.release()
        _ = try ControlStore(path: path, hostBoot: Fixture.boot)
        #expect(FileManager.default.fileExists(atPath: snapshot))
    }

    @Test("is waited for by a command that comes while another process makes it")
    func underWay() throws {
        try makeOlder()
        let lock = try AcquisitionLock(database: path, isUpdating: true)
        #expect(throws: StorageError.busy(detail: "another process brings the schema up to date")) {
            try ControlStore(path: path, hostBoot: Fixture.boot, options: StoreOptions(busyTimeoutSeconds: 0.2))
        }
        let queue = try DatabaseQueue(path: path)
        try DatabaseSchema.migrator.migrate(queue)
        try queue.close()
        // Nothing is left to do, whatever the holder is about.
        try ControlStore(path: path, hostBoot: Fixture.boot).close()
        lock.noteUpdated()
        #expect(!AcquisitionLock.holderIsUpdating(database: path))
        #expect(throws: StorageError.inUse(path: path, pid: getpid())) {
            try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        }
        lock.release()
        try AcquisitionStore(path: path, hostBoot: Fixture.boot).close()
    }

    @Test(
        "that was killed is waited for by nobody, although its word stands in the file of the lock", arguments: [false, true])
    func killed(isThere: Bool) throws {
        if isThere { try makeOlder() }
        try Data("4194304 updating\n".utf8).write(to: URL(fileURLWithPath: path + "-lock"))
        let options = StoreOptions(busyTimeoutSeconds: 0.1)
        try ControlStore(path: path, hostBoot: Fixture.boot, options: options).close()
        try AcquisitionStore(path: path, hostBoot: Fixture.boot, options: options).close()
        // What a command leaves behind says nothing of a change.
        #expect(try String(contentsOfFile: path + "-lock", encoding: .utf8) == "\(getpid())\n")
    }

    @Test(
        "and a creation are made once, however many processes open the database at the same moment", arguments: [false, true])
    func together(isThere: Bool) async throws {
        for round in 0..<10 {
            let path = directory.path("together-\(round).sqlite")
            if isThere {
                let queue = try DatabaseQueue(path: path)
                try DatabaseSchema.migrator.migrate(queue, upTo: "m0025_annotation_history")
                try queue.close()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for opener in 0..<4 {
                    group.addTask {
                        if opener == 0 {
                            try AcquisitionStore(path: path, hostBoot: Fixture.boot).close()
                        } else {
                            try ControlStore(path: path, hostBoot: Fixture.boot).close()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("can be undone by the older version, which names the copy, and keeps what was recorded since")
    func undone() throws {
        try makeOlder()
        _ = try steps()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try store.synchronise()
        try store.close()
        #expect(throws: StorageError.self) { try SchemaReturn(of: path, suffix: "-newer") }
        // This version in the part of the older one: the copy is of a version that it knows.
        try makeNewer()
        #expect(throws: StorageError.newerSchema(path: path, unknownMigrations: ["m9999_future"])) {
            try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        }
        #expect(throws: StorageError.self) { try SchemaReturn(of: path, suffix: "-newer") }
        let copy = path + "-before-m9999_future"
        try FileManager.default.moveItem(atPath: snapshot, toPath: copy)
        #expect(throws: StorageError.newerSchema(path: path, unknownMigrations: ["m9999_future"], snapshot: copy)) {
            try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        }
        let back = try SchemaReturn(of: path, suffix: "-newer")
        #expect(back.newer == path + "-newer")
        #expect(!FileManager.default.fileExists(atPath: copy))
        let queue = try DatabaseQueue(path: back.newer)
        #expect(try queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sample") } == 2924)
        #expect(!FileManager.default.fileExists(atPath: Witness.path(of: path)))
        let again = try DatabaseQueue(path: path)
        #expect(try again.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM host_boot") } == 1)
        #expect(try again.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sample") } == 0)
    }

    @Test("keeps its copy until processes have run for a week, by their own account")
    func removal() throws {
        try makeOlder()
        _ = try steps()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        func live(_ seconds: Int64) throws {
            try store.database.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO process (version, pid, host_boot_id, started_boottime_ns, taken_over, alive_boottime_ns)
                        VALUES ('1', 1, 1, 0, 0, ?)
                        """, arguments: [seconds * 1_000_000_000])
            }
            try store.keepAccountOfSnapshots()
        }
        try live(6 * 86_400)
        #expect(FileManager.default.fileExists(atPath: snapshot))
        try live(86_399)
        #expect(FileManager.default.fileExists(atPath: snapshot))
        try live(1)
        #expect(!FileManager.default.fileExists(atPath: snapshot))
        try store.keepAccountOfSnapshots()
        #expect(try store.database.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM schema_snapshot") } == 0)
    }
}
