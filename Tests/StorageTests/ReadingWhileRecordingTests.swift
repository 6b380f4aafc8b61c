import Bluetooth
import Foundation
import GRDB
import GRDBSQLite
import Headsets
import Testing

@testable import Storage

@Suite("Reading while others write")
struct ReadingWhileRecordingTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore
    let recording: RecordingID

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("eeg.sqlite"), hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    /// What a headset sends from its memory, and what goes on: 612 ... 667 of the gap at 512 of which 668 ... 767 are there,
    /// channel 2 of some rows that lack it, rows of a new gap, and rows behind the end.
    func drain() throws {
        var batch = WriteBatch(number: 3)
        batch.samples = [
            Fixture.rows(Fixture.eeg, 612..<668, channels: 4), Fixture.rows(Fixture.eeg, 2560..<3000, channels: 4),
        ]
        batch.changes += [
            .fill(ChannelFill(stream: Fixture.eeg, channel: 2, firstN: 1004, values: [1, 2, 3])),
            .ledger(.recover(stream: Fixture.eeg, firstN: 512, channel: 0, count: 56)),
            .ledger(.recover(stream: Fixture.eeg, firstN: 1000, channel: 2, count: 3)),
            .segment(Fixture.segment(Fixture.eeg, 0...2999, frequency: 256)),
        ]
        try store.commit(batch)
    }

    struct Rows: Equatable {
        var n: [Int64] = []
        var values: [Int32] = []
        var missing: [UInt8] = []
    }

    func read(_ reader: RecordingReader, rowsPerChunk: Int = 100) throws -> Rows {
        var rows = Rows()
        try reader.forEachChunk(of: Fixture.eeg, in: 0...Int64.max, rowsPerChunk: rowsPerChunk) { chunk in
            rows.n += chunk.n
            rows.values += chunk.values
            rows.missing += chunk.missingChannels
        }
        return rows
    }

    @Test("gives what was there at first, however many transactions it takes", arguments: [1, 7, 100, 262_144])
    func lateSamples(rowsPerTransaction: Int) throws {
        let before = try read(store.reader(of: recording))
        let reader = try RecordingReader(store: store, recording: recording, rowsPerTransaction: rowsPerTransaction)
        // Ends the first transaction; everything below is read by later ones.
        try reader.forEachChunk(of: Fixture.accelerometer, in: 0...1, rowsPerChunk: 9) { _ in }
        try drain()
        #expect(try read(reader) == before)
        #expect(try read(reader, rowsPerChunk: 13) == before)
        let after = try read(store.reader(of: recording))
        #expect(after.n.count == before.n.count + 56 + 440)
        #expect(after.missing.count { $0 != 0 } == before.missing.count { $0 != 0 } - 3)
    }

    @Test("does not keep the write-ahead log from beginning anew")
    func checkpoint() throws {
        let reader = try store.reader(of: recording)
        func checkpoint() throws -> Int? {
            try store.database.writer.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA busy_timeout = 0")
                return try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
        try drain()
        #expect(try checkpoint() == 1)
        #expect(store.writeAheadLogBytes > 0)
        _ = try read(reader)
        #expect(try checkpoint() == 0)
        #expect(store.writeAheadLogBytes == 0)
    }

    @Test("a copy is made while another connection writes, of the moment at which its reader was made")
    func copy() throws {
        let reader = try RecordingReader(store: store, recording: recording, rowsPerTransaction: 50)
        try drain()
        let writer = try DatabaseQueue(path: directory.path("eeg.sqlite"))
        try writer.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE recording SET label = 'not committed'")
            try reader.copy(to: directory.path("copy.sqlite"))
            try db.execute(sql: "COMMIT")
        }
        let copy = try ReadOnlyStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot)
        #expect(try copy.audit().holds)
        #expect(try copy.reader(of: recording).contents == reader.contents)
        #expect(try read(copy.reader(of: recording)) == read(reader))
        #expect(reader.contents.streams[0].rowCount == 2404)
        #expect(throws: StorageError.refused(reason: "the first transaction of the reader is over")) {
            try reader.copy(to: directory.path("second.sqlite"))
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("second.sqlite")))
    }

    @Test("is done by connections that cannot write")
    func readOnly() throws {
        let reading = try ReadOnlyStore(path: directory.path("eeg.sqlite"), hostBoot: Fixture.boot)
        let reader = try reading.reader(of: recording)
        let connections: [((Database) throws -> [Int32?]) throws -> [Int32?]] = [
            { try reading.database.writer.read($0) }, { try reader.inFirstTransaction($0) },
        ]
        for connection in connections {
            let found = try connection { db in
                [sqlite3_db_readonly(db.sqliteConnection, "main"), try Int32.fetchOne(db, sql: "PRAGMA query_only")]
            }
            #expect(found == [1, 1])
        }
    }
}
