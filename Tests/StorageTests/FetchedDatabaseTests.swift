import Foundation
import GRDB
import Testing

@testable import Storage

/// What comes back from a centre becomes a database whose audit holds.
@Suite("A fetched database")
struct FetchedDatabaseTests {
    private let directory: TemporaryDirectory
    private let store: AcquisitionStore
    private let recording: RecordingID
    private var path: String { directory.path("fetched.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("eegsync.sqlite"), hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    /// The small tables of the machine, as a centre would give them back.
    private func tables() throws -> [FetchedTable] {
        let names = [
            "host_boot", "clock_offset", "headset", "recording", "stream", "channel", "epoch", "segment", "gap_cause", "gap",
            "loss_detection", "provenance", "link", "block", "annotation",
        ]
        return try store.database.read { db in
            try names.map { name in
                let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(name)")
                return FetchedTable(
                    name: name, columns: try db.columns(in: name).map { StreamView.quoted($0.name) },
                    rows: rows.map { row in
                        row.databaseValues.map { value in
                            switch value.storage {
                            case .null: .null
                            case .int64(let integer): .integer(integer)
                            case .double(let real): .real(real)
                            case .string(let text): name == "recording" && text == "recording" ? .text("stopped") : .text(text)
                            case .blob(let data): .bytes(Array(data))
                            }
                        }
                    })
            }
        }
    }

    /// Writes what a first shipment has, with a change of its pieces.
    private func fetch(_ change: (inout StreamShipment) -> Void = { _ in }) throws -> AuditReport {
        let shipment = try store.shipment(of: recording, states: [:], blocksFrom: [:], series: nil, rowLimit: 10_000)
        let database = try FetchedDatabase(path: path)
        try database.insert(try tables())
        for var stream in shipment.streams {
            change(&stream)
            try database.insert(stream.pieces.sorted { $0.firstN < $1.firstN }, of: stream.stream)
            try database.fill(stream.patches, of: stream.stream)
        }
        try database.finish()
        return try ReadOnlyStore(path: path, hostBoot: Fixture.boot).audit()
    }

    @Test("holds its audit, and has the digests and the rows of the machine")
    func sound() throws {
        let report = try fetch()
        #expect(report.holds, "\(report.findings)")
        let copy = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        let comparison = try BackupComparison(of: copy, with: store)
        #expect(comparison.differences.isEmpty && comparison.streams == 2 && comparison.rowsSince == 0)
        for query in ["SELECT * FROM eeg_1", "SELECT * FROM gap_time", "SELECT * FROM annotation_time"] {
            let rows = try [copy.database, store.database].map { try $0.writer.read { db in try Row.fetchAll(db, sql: query) } }
            #expect(rows[0] == rows[1] && !rows[0].isEmpty, "\(query)")
        }
    }

    @Test("A value that was sent with its row and comes late, too, is the same one")
    func late() throws {
        var batch = WriteBatch(number: 4)
        batch.changes = [
            .fill(ChannelFill(stream: Fixture.eeg, channel: 2, firstN: 1000, values: [7, 8, 9])),
            .ledger(.recover(stream: Fixture.eeg, firstN: 1000, channel: 2, count: 3)),
        ]
        try store.commit(batch)
        let report = try fetch { stream in
            if stream.stream == Fixture.eeg { #expect(stream.patches.count == 1) }
        }
        #expect(report.holds, "\(report.findings)")
        let values = try ReadOnlyStore(path: path, hostBoot: Fixture.boot).database.read { db in
            try Int64?.fetchAll(db, sql: "SELECT c2 FROM sample WHERE stream_id = 1 AND n BETWEEN 1000 AND 1003")
        }
        #expect(values == [7, 8, 9, nil])
    }

    @Test("A value that was changed, and a row that is missing, are found")
    func damaged() throws {
        let changed = try fetch { stream in
            if stream.stream == Fixture.eeg { stream.pieces[0].channels[0][5] = -1 }
        }
        #expect(changed.findings.map(\.check).contains(.blocksAreAsWritten))
        try FileManager.default.removeItem(atPath: path)
        let cut = try fetch { stream in
            if stream.stream == Fixture.eeg { stream.pieces.removeLast() }
        }
        #expect(!cut.holds)
    }

    @Test("Another value for a sample that has one, a sample twice, and a channel that no stream has, are contradictions")
    func contradictions() throws {
        let database = try FetchedDatabase(path: path)
        try database.insert(try tables())
        try database.insert([SamplePiece(firstN: 0, channels: [[1], [2], [3], [nil]])], of: Fixture.eeg)
        func isContradiction(_ body: () throws -> Void) -> Bool {
            do { try body() } catch StorageError.constraint { return true } catch { return false }
            return false
        }
        #expect(
            isContradiction {
                try database.fill([SamplePatch(channel: 1, firstN: 0, values: [9])], of: Fixture.eeg)
            })
        #expect(
            isContradiction {
                try database.fill([SamplePatch(channel: 9, firstN: 0, values: [9])], of: Fixture.eeg)
            })
        #expect(
            isContradiction {
                try database.fill([SamplePatch(channel: 4, firstN: 7, values: [9])], of: Fixture.eeg)
            })
        #expect(
            isContradiction { try database.insert([SamplePiece(firstN: 0, channels: [[1], [2], [3], [4]])], of: Fixture.eeg) })
        try database.fill([SamplePatch(channel: 4, firstN: 0, values: [9])], of: Fixture.eeg)
    }
}
