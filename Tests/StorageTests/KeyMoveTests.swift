import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// Keys of a database of an older version, on their way into a file of their own.
@Suite("The move of keys out of the database")
struct KeyMoveTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("e.sqlite") }
    /// Bytes that occur in no database by chance.
    let secrets = (0..<4).map { seed in Data((0..<16).map { UInt8(truncatingIfNeeded: 0xA7 &* ($0 + 3 + 16 * seed)) }) }
    let headset = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    let serial = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)

    init() throws { directory = try TemporaryDirectory() }

    /// A database of the version before, as its daemon has left it: with a key that it had replaced, and with a log.
    private func makeOlder() throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        try DatabaseSchema.migrator.migrate(pool, upTo: "m0031_deletion")
        try pool.write { db in
            try db.execute(sql: "INSERT INTO headset (id, name, model) VALUES (1, 'left', 'muse-2')")
            for secret in [secrets[3], secrets[0]] {
                try db.execute(sql: "DELETE FROM long_term_key")
                try db.execute(
                    sql: "INSERT INTO long_term_key VALUES ('C0:55:DA:B0:13:24', 'random', 2, 0, 16, 0, 0, ?)",
                    arguments: [secret])
            }
            try db.execute(
                sql: "INSERT INTO identity_resolving_key VALUES ('C0:55:DA:B0:13:24', 'random', ?)", arguments: [secrets[1]])
            try db.execute(sql: "INSERT INTO link_key VALUES ('20:68:9D:00:00:01', 0, 4, ?)", arguments: [secrets[2]])
        }
        return pool
    }

    /// The files beside the database that hold a key, but for the file that is made for them.
    private func leaks() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path("."))
            .filter { $0 != "e.sqlite-keys" }.sorted()
            .filter { name in
                let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.path(name)))
                return secrets.contains { bytes.range(of: $0) != nil }
            }
    }

    private func expectKeys(_ store: AcquisitionStore) throws {
        let bond = try #require(try store.bonds().first)
        #expect(bond.identity == headset)
        #expect(bond.longTermKeys.map { Data($0.value.bytes) } == [secrets[0]])
        #expect(bond.identityResolvingKey.map { Data($0.bytes) } == secrets[1])
        let key = try #require(try store.linkKeys().first)
        #expect(key.peripheral == serial && Data(key.value.bytes) == secrets[2] && key.pinLength == 4)
    }

    @Test("finds them again, and overwrites them in the database and in its log")
    func moved() throws {
        try makeOlder().close()
        #expect(try leaks() == ["e.sqlite"])
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try expectKeys(store)
        // While it is open, so that the log is there; the copy from before the change is closed to others.
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        let copy = "e.sqlite-before-m0032_pairing_keys"
        #expect(try leaks() == [copy])
        let mode = try FileManager.default.attributesOfItem(atPath: directory.path(copy))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try !store.database.keys.keys().areErasing)
        try store.close()
        #expect(try leaks() == [copy])
    }

    @Test("without secure_delete would leave them: the search bites")
    func planted() throws {
        let pool = try makeOlder()
        // Debian's SQLite has it on by itself.
        _ = try pool.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "PRAGMA secure_delete = OFF") }
        try DatabaseSchema.migrator.migrate(pool)
        #expect(try leaks() != [])
        try pool.close()
        #expect(try leaks() == ["e.sqlite"])
    }

    @Test("closes copies from earlier changes, which hold them, too")
    func earlierCopies() throws {
        try makeOlder().close()
        let copy = path + "-before-m0029_start"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        chmod(copy, 0o660)
        try AcquisitionStore(path: path, hostBoot: Fixture.boot).close()
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
    }

    @Test("is made good by the next process, wherever the one before it died", arguments: 0...3)
    func died(steps: Int) throws {
        do {
            let pool = try makeOlder()
            let file = PairingKeyFile(database: path)
            let move = KeyMove(file: file)
            if steps > 0 { try pool.writeWithoutTransaction(move.prepare) }
            if steps > 1 { try DatabaseSchema.migrator.migrate(pool) }
            if steps > 2 { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.passive) } }
            // The process is gone: what it had not closed is on the disk as it was.
            let files = ["e.sqlite", "e.sqlite-wal", "e.sqlite-keys"].map(directory.path)
            for name in files where FileManager.default.fileExists(atPath: name) {
                try FileManager.default.copyItem(atPath: name, toPath: name + ".dead")
            }
            try pool.close()
            for name in files {
                try? FileManager.default.removeItem(atPath: name)
                try? FileManager.default.moveItem(atPath: name + ".dead", toPath: name)
            }
        }
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try expectKeys(store)
        #expect(try leaks().filter { !$0.contains("-before-") } == [])
        #expect(try !store.database.keys.keys().areErasing)
    }

    @Test("waits for a reader of an older snapshot, and is finished by the next opening")
    func heldBack() throws {
        try makeOlder().close()
        let reader = try DatabasePool(path: path)
        let snapshot = try reader.makeSnapshot()
        try snapshot.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM headset") }
        let options = StoreOptions(busyTimeoutSeconds: 0)
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot, options: options)
        try expectKeys(store)
        #expect(try store.database.keys.keys().areErasing)
        try store.close()
        try snapshot.close()
        try reader.close()
        let next = try AcquisitionStore(path: path, hostBoot: Fixture.boot, options: options)
        #expect(try !next.database.keys.keys().areErasing)
        #expect(try leaks().filter { !$0.contains("-before-") } == [])
    }

    @Test("does not happen where the file cannot be made, and the database keeps them")
    func noFile() throws {
        try makeOlder().close()
        try FileManager.default.createDirectory(atPath: path + "-keys.new/x", withIntermediateDirectories: true)
        #expect(throws: StorageError.self) { try AcquisitionStore(path: path, hostBoot: Fixture.boot) }
        try FileManager.default.removeItem(atPath: path + "-keys.new")
        #expect(try leaks().contains("e.sqlite"))
        try expectKeys(try AcquisitionStore(path: path, hostBoot: Fixture.boot))
    }

    @Test("happens anew after an older version was gone back to; what that one has paired since counts")
    func again() throws {
        try makeOlder().close()
        try AcquisitionStore(path: path, hostBoot: Fixture.boot).close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let pool = try makeOlder()
        try pool.write { db in try db.execute(sql: "UPDATE link_key SET value = ?", arguments: [secrets[3]]) }
        try pool.close()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(try store.linkKeys().map { Data($0.value.bytes) } == [secrets[3]])
        #expect(try store.bonds().count == 1)
    }
}
