import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// A participant is erased: what is looked for are bytes, in every file beside the database.
@Suite("A participant who is erased")
struct SubjectErasureTests {
    private let fixture: EvidenceFixture
    private static let secrets = ["Erika Mustermann", "blinked-at-the-lamp", "cap-secret", "notes-secret", "S01"]

    init() throws {
        fixture = try EvidenceFixture()
        let store = try fixture.open()
        let one = RecordingID(rawValue: 1)
        try store.control.edit(
            one,
            [
                (.subjectName, "Erika Mustermann"), (.property(key: "cap"), "cap-secret"), (.notes, "notes-secret"),
            ], at: Fixture.start)
        // What was said before stands in the file until it is erased, also where a row was updated.
        try store.control.edit(one, [(.notes, "other")], at: Fixture.start)
        // Another recording bore the name by mistake.
        let two = RecordingID(rawValue: 2)
        try store.control.edit(two, [(.subject, "S01")], at: Fixture.start)
        try store.control.edit(two, [(.subject, "S02")], at: Fixture.start)
        var batch = WriteBatch(number: 90)
        batch.changes = [
            .annotation(
                AnnotationRecord(
                    recording: one, onset: Fixture.start + .seconds(5), durationSeconds: 1,
                    description: "blinked-at-the-lamp", source: "operator"))
        ]
        batch.samples = [Self.marked(StreamID(rawValue: 1))]
        try store.commit(batch)
        try store.close()
        try fixture.end([1, 2])
    }

    /// Rows whose values are found as bytes: 0x0BADCAFE in each channel.
    private static func marked(_ stream: StreamID) -> SampleRows {
        SampleRows(
            stream: stream, channelCount: 4, firstN: 10_240, values: Array(repeating: 0x0BAD_CAFE, count: 4 * 100))
    }

    private static let valueBytes = Data([0x0B, 0xAD, 0xCA, 0xFE])

    /// Which of the secrets stand in any file of the directory.
    private func found() throws -> [String] {
        let directory = fixture.directory.url
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        let all = try files.reduce(into: Data()) { $0.append(try Data(contentsOf: $1)) }
        return Self.secrets.filter { all.range(of: Data($0.utf8)) != nil }
            + (all.range(of: Self.valueBytes) != nil ? ["values"] : [])
    }

    @Test("leaves no byte in the file, its log, its witness or earlier copies; the rest holds")
    func erased() throws {
        let snapshot = fixture.directory.path("eegsync.sqlite-before-m0031_deletion")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: snapshot)
        #expect(try found() == Self.secrets + ["values"])
        let uuid = try fixture.read { db in try String.fetchOne(db, sql: "SELECT uuid FROM stream WHERE id = 1") ?? "" }
        let store = try fixture.open()
        let erasure = try store.forget(subject: "S01", by: "anna", at: Fixture.start + .seconds(900))
        #expect(erasure.recordings == [1] && erasure.mentions.isEmpty && erasure.removedFiles == [snapshot])
        // While the database is open its log is there, and is looked at, too.
        let left = try found()
        #expect(left.isEmpty, "\(left)")
        try store.close()
        #expect(try found() == [])
        #expect(Witness.read(of: fixture.path)?.heads.contains { $0.stream == uuid } == false)
        let report = try fixture.audit()
        #expect(report.holds && Set(report.streams.map(\.recordingID)) == [2], "\(report.findings)")
        let deletion = try #require(try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot).deletions().first)
        #expect(deletion.means == .forget && deletion.rowCount == nil)
    }

    @Test("would be found by a test where rows were deleted and no more: the defect that this one is believed for")
    func plantedDefect() throws {
        let store = try fixture.open()
        try store.control.delete(RecordingID(rawValue: 1), means: .delete, by: "anna", at: Fixture.start)
        try store.close()
        #expect(try !found().isEmpty)
    }

    @Test("is listed where the name still stands in what others said")
    func mentioned() throws {
        let store = try fixture.open()
        try store.control.edit(RecordingID(rawValue: 2), [(.notes, "same room as erika mustermann")], at: Fixture.start)
        let erasure = try store.forget(subject: "Erika Mustermann", by: "anna", at: Fixture.start)
        #expect(erasure.mentions == ["recording_detail.notes of recording 2", "recording_edit.after of recording 2"])
        try store.close()
    }

    @Test("is refused where the room to write the file anew is not there, and nothing has changed")
    func noRoom() throws {
        let reserve = DiskReserve { _ in DiskRoom(freeBytes: 200_500_000, totalBytes: 32_000_000_000) }
        let store = try AcquisitionStore(path: fixture.path, hostBoot: Fixture.boot, reserve: reserve)
        #expect(throws: StorageError.self) { try store.forget(subject: "S01", by: "anna", at: Fixture.start) }
        #expect(throws: StorageError.self) { try store.compact() }
        try store.close()
        #expect(try fixture.audit().streams.count == 4)
    }

    /// Another program, in a transaction that sees the database as it is now.
    private func readerOfOlderState() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try other.inDatabase { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM recording")
        }
        return other
    }

    @Test("is not erased while another program reads an older state: that is said")
    func reader() throws {
        let store = try fixture.open()
        let other = try readerOfOlderState()
        #expect(throws: StorageError.self) { try store.compact() }
        try other.inDatabase { db in try db.execute(sql: "COMMIT") }
        try store.compact()
        try store.close()
    }

    @Test("is erased by the same call again where another program hindered it, the copies beside the database at once")
    func hindered() throws {
        let snapshot = fixture.directory.path("eegsync.sqlite-before-m0031_deletion")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: snapshot)
        let uuid = try fixture.read { db in try String.fetchOne(db, sql: "SELECT uuid FROM stream WHERE id = 1") ?? "" }
        let options = StoreOptions(busyTimeoutSeconds: 0.1)
        let store = try AcquisitionStore(path: fixture.path, hostBoot: Fixture.boot, options: options)
        #expect(try !store.hasForgotten())
        let other = try readerOfOlderState()
        let first = try store.forget(subject: "S01", by: "anna", at: Fixture.start + .seconds(900))
        #expect(first.hindrance != nil && first.recordings == [1] && first.remaining.isEmpty)
        #expect(first.removedFiles == [snapshot])
        #expect(Witness.read(of: fixture.path)?.heads.contains { $0.stream == uuid } == false)
        // The log still has it: the test would find what is left.
        #expect(try !found().isEmpty)
        try other.inDatabase { db in try db.execute(sql: "COMMIT") }
        #expect(try store.recordings(ofSubject: "S01").isEmpty && store.hasForgotten())
        let second = try store.forget(subject: "S01", by: "anna", at: Fixture.start + .seconds(901))
        #expect(second.hindrance == nil && second.recordings.isEmpty)
        try other.close()
        try store.close()
        #expect(try found() == [])
        #expect(try fixture.audit().holds)
    }

    @Test("stays whole where one of the recordings is wanted")
    func wanted() throws {
        let store = try fixture.open()
        let next = try store.control.startRecording(
            headset: "left", model: "buffered-eeg", subject: "S01", at: Fixture.start + .seconds(800))
        #expect(throws: StorageError.self) { try store.forget(subject: "S01", by: "anna", at: Fixture.start + .seconds(900)) }
        #expect(try store.recordings(ofSubject: "S01").map(\.rawValue) == [1, next.rawValue])
        #expect(try store.deletions().isEmpty)
        try store.close()
    }

    @Test("compacting gives free pages back, and the audit holds")
    func compaction() throws {
        let store = try fixture.open()
        let before = try store.pageBytes()
        try store.control.delete(RecordingID(rawValue: 1), means: .delete, by: "anna", at: Fixture.start)
        #expect(try store.pageBytes().used < before.used && store.pageBytes().all == before.all)
        try store.compact()
        let after = try store.pageBytes()
        #expect(after.used == after.all && after.all < before.all)
        try store.close()
        #expect(try fixture.audit().holds)
    }
}
