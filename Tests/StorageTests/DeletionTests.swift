import Bluetooth
import Evidence
import Foundation
import GRDB
import Testing

@testable import Storage

/// A recording goes for good, and the evidence says that it went; the others stay what they were.
@Suite("A recording that is deleted")
struct DeletionTests {
    private let fixture: EvidenceFixture

    init() throws {
        fixture = try EvidenceFixture()
        try fixture.end([1, 2])
    }

    private func delete(_ recording: Int64, means: Deletion.Means = .delete) throws {
        let store = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        try store.delete(RecordingID(rawValue: recording), means: means, by: "anna", at: Fixture.start + .seconds(900))
        try store.close()
    }

    @Test("is gone from every table, and the rest holds")
    func gone() throws {
        let before = try fixture.read { db in try Self.digest(ofRecording: 2, in: db) }
        try delete(1)
        let report = try fixture.audit()
        #expect(report.holds, "\(report.findings)")
        #expect(Set(report.streams.map(\.recordingID)) == [2])
        let left = try fixture.read { db in
            try Self.columnsNaming(["recording_id", "stream_id"], in: db).filter { table, column in
                if ["deletion", "deleted_stream"].contains(table) { return false }
                let keys = column == "recording_id" ? "1" : "1, 2"
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(column) IN (\(keys))") != 0
            }.map { "\($0).\($1)" }
        }
        #expect(left.isEmpty, "\(left)")
        let views = try fixture.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB '*_[0-9]*'")
        }
        #expect(views.sorted() == ["accelerometer_2", "accelerometer_2_minute", "eeg_2", "eeg_2_minute"])
        let after = try fixture.read { db in try Self.digest(ofRecording: 2, in: db) }
        #expect(after == before)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        #expect(try store.recordings().map(\.id) == [2])
        let deletion = try #require(try store.deletions().first)
        #expect(deletion.requestedBy == "anna" && deletion.means == .delete && deletion.isComplete)
        #expect(deletion.rowCount == 12_008)
        #expect(throws: StorageError.notFound(what: "recording 1 any more: it was deleted")) {
            try store.audit(recording: RecordingID(rawValue: 1))
        }
    }

    @Test("leaves no key behind that another one could get")
    func keys() throws {
        try delete(2)
        let store = try fixture.open()
        #expect(try store.nextStreamID() == 5)
        let next = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        #expect(next.rawValue == 3)
        try store.close()
    }

    @Test("while it is read ends the reading, which is not taken for whole")
    func whileRead() throws {
        let one = RecordingID(rawValue: 1)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let reader = try RecordingReader(store: store, recording: one, rowsPerTransaction: 1000)
        var count = 0
        let error = StorageError.notFound(
            what: "recording 1 any more: it was deleted while it was read, and no file was written of what was left")
        #expect(throws: error) {
            try reader.forEachChunk(of: StreamID(rawValue: 1), in: 0...20_000, rowsPerChunk: 500) { chunk in
                if count == 0 { try delete(1) }
                count += chunk.n.count
            }
        }
        #expect(count > 0 && count <= 1000)
        #expect(throws: StorageError.notFound(what: "recording 1 any more: it was deleted")) { try store.reader(of: one) }
        // The other one is whole.
        let other = try RecordingReader(store: store, recording: RecordingID(rawValue: 2), rowsPerTransaction: 1000)
        var rest: Int64 = 0
        try other.forEachChunk(of: StreamID(rawValue: 3), in: 0...20_000, rowsPerChunk: 500) { chunk in
            rest += Int64(chunk.n.count)
        }
        #expect(rest == other.contents.streams.first { $0.id.rawValue == 3 }?.rowCount)
    }

    @Test("is refused while it is wanted, or may still be written")
    func refused() throws {
        let other = try EvidenceFixture()
        let store = try ControlStore(path: other.path, hostBoot: Fixture.boot)
        let one = RecordingID(rawValue: 1)
        #expect(throws: StorageError.self) { try store.delete(one, means: .delete, by: "anna", at: Fixture.start) }
        try store.stopRecording(one, at: Fixture.start + .seconds(60))
        #expect(throws: StorageError.self) { try store.delete(one, means: .delete, by: "anna", at: Fixture.start) }
        try store.close()
        #expect(try other.audit().holds)
        // Who acquires knows that nobody writes it any more.
        let acquisition = try other.open()
        try acquisition.control.delete(one, means: .delete, by: "anna", at: Fixture.start)
        try acquisition.close()
        #expect(try other.audit().holds)
    }

    @Test("is seen by nobody from the first transaction on, and a later call goes on", arguments: [0, 1, 2, 5])
    func interrupted(after transactions: Int) throws {
        let store = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        let one = RecordingID(rawValue: 1)
        // As a process that dies leaves it: the tombstone, and some of the rows gone.
        try fixture.cutDeletion(of: one, in: store, after: transactions)
        #expect(try store.recordings().map(\.id) == [2])
        let findings = try fixture.audit().findings
        #expect(findings.isEmpty, "\(findings)")
        #expect(try store.unfinishedDeletions() == [one])
        try store.delete(one, means: .delete, by: "bert", at: Fixture.start)
        #expect(try store.unfinishedDeletions().isEmpty)
        #expect(try store.deletions().map(\.requestedBy) == ["anna"])
        try store.close()
        #expect(try fixture.audit().holds)
    }

    @Test("is not taken for lost by the witness, a manifest or an earlier audit; one without a note is")
    func claims() throws {
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let manifest = try store.manifestStreams(of: RecordingID(rawValue: 1))
        let earlier = try store.audit().extent
        try delete(1)
        var scope = AuditScope()
        scope.earlier = earlier
        #expect(try store.audit(scope).holds)
        let stream = try #require(manifest.first { $0.name == "eeg" })
        #expect(try store.differences(from: stream) == ["eeg: the stream was deleted"])
        // A note that somebody else has written is none.
        let forged = try EvidenceFixture()
        try forged.end([1, 2])
        try forged.write(
            """
            INSERT INTO deletion (recording_id, means, requested_by, host_boot_id, boottime_ns, is_complete)
            VALUES (1, 'delete', 'anna', 1, 0, 1);
            INSERT INTO deleted_stream SELECT id, 1, uuid FROM stream WHERE recording_id = 1;
            """)
        #expect(try !forged.audit().holds)
        // The note is gone, and the witness says that there was something.
        try fixture.write("DELETE FROM deleted_stream; DELETE FROM deletion")
        let found = Set(try fixture.audit().findings.map(\.check))
        #expect(found == [.nothingIsOlder, .factsAreAsWritten])
    }

    @Test("gives what others share to them: provenance, the headset, its history")
    func shared() throws {
        try fixture.write("UPDATE link SET provenance_id = 1")
        let store = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        try store.delete(RecordingID(rawValue: 1), means: .delete, by: "anna", at: Fixture.start)
        try store.close()
        let counts = try fixture.read { db in
            try ["provenance WHERE id = 1", "headset"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") }
        }
        #expect(counts == [1, 2])
    }

    @Test("keeps its number: a schedule's recording takes the next one, as a person's does")
    func numberOfNext() throws {
        let store = try fixture.open()
        let control = store.control
        let newest = try control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        try control.stopRecording(newest, at: Fixture.start)
        try control.delete(newest, means: .prune, by: "anna", at: Fixture.start)
        let schedule = try control.addSchedule(
            headset: "right", model: "buffered-eeg", at: DailyTime(minuteOfDay: 600, timeZone: "Europe/Berlin"),
            durationSeconds: 60, now: 0)
        try control.follow(.start(schedule, due: 36_000, until: Fixture.start + .seconds(60)), at: Fixture.start)
        #expect(try store.openRecordings().map(\.recording.rawValue) == [newest.rawValue + 1])
        try store.close()
        #expect(try fixture.audit().holds)
    }

    @Test("goes with the end that was set for it, and a schedule's start forgets it")
    func timed() throws {
        let store = try fixture.open()
        let control = store.control
        let begun = try control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        try control.setEnd(of: begun, at: Fixture.start + .seconds(60))
        let schedule = try control.addSchedule(
            headset: "right", model: "buffered-eeg", at: DailyTime(minuteOfDay: 600, timeZone: "Europe/Berlin"),
            durationSeconds: 60, now: 0)
        try control.follow(.start(schedule, due: 36_000, until: Fixture.start + .seconds(60)), at: Fixture.start)
        let recordings = try store.openRecordings().map(\.recording)
        #expect(recordings.count == 2 && recordings.contains(begun))
        for recording in recordings {
            try control.stopRecording(recording, at: Fixture.start + .seconds(30))
            try control.delete(recording, means: .prune, by: "anna", at: Fixture.start + .seconds(40))
        }
        #expect(try control.unfinishedDeletions().isEmpty)
        #expect(try store.recordings().map(\.id) == [1, 2])
        #expect(try store.schedules().map { $0.starts.map(\.decision) } == [[.started]])
        try store.close()
        let counts = try fixture.read { db in
            try ["recording_end", "schedule_start WHERE recording_id IS NULL", "schedule_start"].map {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [0, 1, 1])
        #expect(try fixture.audit().holds)
    }

    @Test("has whatever refers to it, or to a part of it, removed before or released")
    func references() throws {
        let queue = try DatabaseQueue()
        try DatabaseSchema.bringUpToDate(queue)
        let references = try queue.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT t.name, f."table", f."from" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
                    WHERE t.type = 'table' AND f.on_delete NOT IN ('CASCADE', 'SET NULL')
                    """
            ).map { row in (table: row[0] as String, parent: row[1] as String, column: row[2] as String) }
        }
        let removed = ["sample"] + OwnedRows.all.map(\.table) + OwnedRows.last.map { $0.0 }
        for (table, parent, column) in references {
            guard let end = removed.firstIndex(of: parent) else { continue }
            if OwnedRows.released.contains(table), column == "recording_id" { continue }
            let position = removed.firstIndex(of: table)
            #expect(position.map { $0 <= end } == true, "\(table).\(column) refers to \(parent)")
        }
        #expect(references.contains { $0.table == "recording_end" })
    }

    // MARK: What is compared

    private static func columnsNaming(_ names: [String], in db: Database) throws -> [(String, String)] {
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        return try tables.flatMap { table in
            try db.columns(in: table).map(\.name).filter(names.contains).map { (table, $0) }
        }
    }

    private static func digest(ofRecording recording: Int64, in db: Database) throws -> String {
        let sums = try DigestedTable.all.flatMap { table in
            try table.owner == .table ? [] : table.keptSums(of: recording, in: db).sorted { $0.key < $1.key }.map { "\($0)" }
        }
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM sample WHERE stream_id IN (SELECT id FROM stream WHERE recording_id = ?)",
            arguments: [recording])
        return "\(sums) \(rows.count) \(rows.map(\.description).joined().hashValue)"
    }
}

extension EvidenceFixture {
    /// Ends recordings, as the acquisition does.
    func end(_ recordings: [Int64]) throws {
        let store = try open()
        var batch = WriteBatch(number: 100)
        for recording in recordings.map(RecordingID.init) {
            try store.control.stopRecording(recording, at: Fixture.start + .seconds(60))
            batch.changes.append(.recording(.stopped(recording, at: Fixture.start + .seconds(61))))
        }
        try store.commit(batch)
        try store.synchronise()
        try store.close()
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read(body)
    }

    /// Begins a deletion and stops after so many further transactions.
    func cutDeletion(of recording: RecordingID, in store: ControlStore, after transactions: Int) throws {
        _ = try store.noteDeletion(of: recording, .delete, by: "anna", at: Fixture.start)
        for (index, rows) in OwnedRows.all.enumerated() where index < transactions {
            _ = try store.write { db in try rows.remove(of: recording, limit: 20, in: db) }
        }
        guard transactions > 1 else { return }
        try store.write { db in try db.execute(sql: "DELETE FROM sample WHERE stream_id = 1 AND n < 3000") }
    }
}
