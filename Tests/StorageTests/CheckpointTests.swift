import Foundation
import GRDB
import Testing

@testable import Storage

/// What is written anew after a disk has failed to keep the WAL.
struct CheckpointTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("test.sqlite"), hostBoot: Fixture.boot)
        _ = try Fixture.record(into: store)
    }

    /// The rows that the database file has without its WAL.
    private func rowsWithoutLog() throws -> Int {
        let copy = directory.path("copy-\(UUID().uuidString).sqlite")
        try FileManager.default.copyItem(atPath: directory.path("test.sqlite"), toPath: copy)
        return try DatabaseQueue(path: copy).read { db in
            try db.tableExists("sample") ? Int.fetchOne(db, sql: "SELECT count(*) FROM sample") ?? 0 : 0
        }
    }

    @Test("A checkpoint moves everything that is committed into the database file")
    func moved() throws {
        #expect(try rowsWithoutLog() == 0)
        try store.checkpoint()
        let rows = try store.database.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sample") }
        #expect(try rowsWithoutLog() == rows)
    }

    @Test("A reader of an older snapshot keeps pages in the WAL: that is no success")
    func reader() throws {
        try store.checkpoint()
        let reader = try DatabaseQueue(path: directory.path("test.sqlite"))
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT count(*) FROM sample")
            var batch = WriteBatch(number: 3)
            batch.samples = [Fixture.rows(Fixture.eeg, 2560..<2600, channels: 4)]
            try store.commit(batch)
            #expect(throws: StorageError.self) { try store.checkpoint() }
            try db.execute(sql: "COMMIT")
        }
        try store.checkpoint()
    }
}
