import Bluetooth
import Foundation
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("Reading and copying a recording")
struct ReaderTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore
    let recording: RecordingID

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("eeg.sqlite"), hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    @Test("gives everything but the rows at once")
    func contents() throws {
        let contents = try store.reader(of: recording).contents
        #expect(contents.subject == "S01")
        #expect(contents.startUnixNanoseconds == Fixture.startUnixNanoseconds)
        let eeg = contents.streams[0]
        #expect(eeg.rowCount == 2404)
        #expect(eeg.firstN == 0)
        #expect(eeg.lastN == 2559)
        #expect(
            eeg.gaps == [
                GapContents(
                    firstN: 512, count: 256, channel: 0, cause: .linkLost, recovered: 100, certainty: "counted",
                    uncertainty: nil, missing: 156),
                GapContents(
                    firstN: 1000, count: 12, channel: 2, cause: .packetLost, recovered: 0, certainty: "unknown",
                    uncertainty: nil, missing: 12),
            ])
        #expect(eeg.unixNanoseconds(ofSample: 256) == Fixture.startUnixNanoseconds + 1_000_000_000)
    }

    @Test("gives the rows in pieces, with lost channels marked")
    func rows() throws {
        var n: [Int64] = []
        var values: [Int32] = []
        var missing: [UInt8] = []
        var sizes: [Int] = []
        try store.reader(of: recording).forEachChunk(of: Fixture.eeg, in: 500...1003, rowsPerChunk: 100) { chunk in
            n += chunk.n
            values += chunk.values
            missing += chunk.missingChannels
            sizes.append(chunk.n.count)
        }
        #expect(n == Array(500...511) + Array(668...1003))
        #expect(sizes == [100, 100, 100, 48])
        #expect(values.prefix(4) == [600, 700, 800, 900])
        #expect(values.suffix(4) == [103, 0, 303, 403])
        #expect(missing.suffix(5) == [0, 2, 2, 2, 2])
    }

    @Test("does not see what is committed later, and passes errors of its caller on")
    func snapshot() throws {
        struct Enough: Error {}
        let reader = try store.reader(of: recording)
        var batch = WriteBatch(number: 3)
        batch.samples = [Fixture.rows(Fixture.eeg, 2560..<3000, channels: 4)]
        try store.commit(batch)
        var count = 0
        try reader.forEachChunk(of: Fixture.eeg, in: 0...Int64.max, rowsPerChunk: 1000) { chunk in count += chunk.n.count }
        #expect(count == 2404)
        #expect(throws: Enough.self) {
            try reader.forEachChunk(of: Fixture.eeg, in: 0...9, rowsPerChunk: 2) { _ in throw Enough() }
        }
        #expect(throws: StorageError.self) {
            try reader.forEachChunk(of: StreamID(rawValue: 9), in: 0...9, rowsPerChunk: 2) { _ in }
        }
    }

    @Test("copies one recording and nothing else into a database of its own", arguments: [false, true])
    func export(fromMemory: Bool) throws {
        let store = fromMemory ? try AcquisitionStore.inMemory(hostBoot: Fixture.boot) : self.store
        let wanted = fromMemory ? try Fixture.record(into: store) : recording
        let other = try store.control.startRecording(headset: "other", model: "m", label: "secret", at: Fixture.start)
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .stream(NewStream(id: StreamID(rawValue: 3), recording: other, position: 0, description: Fixture.eegDescription()))
        ]
        batch.samples = [Fixture.rows(StreamID(rawValue: 3), 0..<10, channels: 4)]
        batch.changes += [.signalCheck(Fixture.check(1, 0...9, .good))]
        batch.changes += [wanted, other].map {
            .impedance(ImpedanceRecord(recording: $0, at: Fixture.start, electrode: "Ch1", kilohms: 7))
        }
        try store.commit(batch)
        let path = directory.path("copy.sqlite")
        try store.reader(of: wanted).copy(to: path)
        #expect(throws: StorageError.refused(reason: "the file \(path) exists")) {
            try store.reader(of: wanted).copy(to: path)
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        let copy = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        #expect(try copy.audit().holds)
        #expect(try copy.recordings().map(\.label) == ["baseline"])
        #expect(try copy.openRecordings().map(\.isWanted) == [false])
        #expect(try copy.reader(of: wanted).contents == store.reader(of: wanted).contents)
        let queries = [
            "SELECT * FROM eeg_1", "SELECT * FROM sample WHERE stream_id < 3", "SELECT * FROM gap_time",
            "SELECT * FROM signal_check WHERE stream_id < 3", "SELECT * FROM impedance WHERE recording_id = 1",
        ]
        for query in queries {
            let rows = try [copy.database, store.database].map { try $0.writer.read { db in try Row.fetchAll(db, sql: query) } }
            #expect(rows[0] == rows[1] && !rows[0].isEmpty, "\(query)")
        }
        #expect(throws: StorageError.notFound(what: "recording 9")) {
            try store.reader(of: RecordingID(rawValue: 9)).copy(to: directory.path("none.sqlite"))
        }
    }

    @Test("copies every table, or has it on the list of those that stay behind")
    func tables() throws {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        let tables = try store.database.writer.read { try String.fetchAll($0, sql: sql) }
        #expect(tables.sorted() == (RecordingExport.tables.map(\.name) + RecordingExport.leftOut).sorted())
    }
}
