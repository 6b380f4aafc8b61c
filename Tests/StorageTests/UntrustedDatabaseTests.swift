import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// A database that somebody else has made, or has had in hand.
@Suite("A database of somebody else")
struct UntrustedDatabaseTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("e.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try store.close()
    }

    private func plant(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }

    @Test("has no trigger but eegsync's own, in each schema that there was")
    func ownTriggers() throws {
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(store.removedTriggers.isEmpty)
        let count = try store.database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") ?? 0
        }
        #expect(count >= 5)
    }

    /// What a trigger of somebody may be called, and do.
    private static let hostile = [
        "CREATE TRIGGER spy AFTER INSERT ON headset BEGIN DELETE FROM sample; END",
        "CREATE TRIGGER \"a \"\"name\"\"\" BEFORE UPDATE ON recording BEGIN UPDATE sample SET c1 = 0; END",
        "DROP TRIGGER gap_overlap_on_insert; CREATE TRIGGER gap_overlap_on_insert BEFORE INSERT ON gap "
            + "BEGIN DELETE FROM sample; END",
    ]

    @Test("has its triggers removed before anything is written, whoever writes", arguments: hostile)
    func triggers(sql: String) throws {
        try plant(sql)
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(store.removedTriggers.count == 1)
        #expect(store.removedTriggers.first?.sql.contains("BEGIN") == true)
        try store.control.startRecording(headset: "new", model: "muse-2", at: MonotonicTime(nanoseconds: 100_000_000_000))
        try store.close()
        let reader = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        #expect(try reader.recordings().map(\.rows).max() == 2924)
        // The next one finds nothing.
        #expect(try AcquisitionStore(path: path, hostBoot: Fixture.boot).removedTriggers.isEmpty)
    }

    @Test("would lose samples to such a trigger: it bites")
    func planted() throws {
        try plant(Self.hostile[0] + "; INSERT INTO headset (name, model) VALUES ('new', 'muse-2')")
        #expect(try ReadOnlyStore(path: path, hostBoot: Fixture.boot).recordings().map(\.rows).max() != 2924)
    }

    @Test("reaches nothing beyond it through the views that a command reads")
    func views() throws {
        // fts3_tokenizer(1) and load_extension(1) are what such views try; each is refused where the view is read.
        try plant(
            """
            CREATE VIEW reaches AS SELECT load_extension('/tmp/never.so') AS x;
            """)
        let store = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        let trusted = try store.database.read { db in try Int.fetchOne(db, sql: "PRAGMA trusted_schema") }
        #expect(trusted == 0)
        do {
            _ = try store.database.read { db in try Row.fetchAll(db, sql: "SELECT * FROM reaches") }
            Issue.record("the view was read")
        } catch {
            #expect("\(error)".contains("unsafe use of load_extension"), "\(error)")
        }
        let writer = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(try writer.database.writer.write { db in try Int.fetchOne(db, sql: "PRAGMA trusted_schema") } == 0)
    }
}
