import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The operator's wishes")
struct ControlTests {
    let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot) }

    func isRefused(_ body: () throws -> Void) -> Bool {
        do { try body() } catch StorageError.refused { return true } catch StorageError.alreadyRecording { return true } catch {
            return false
        }
        return false
    }

    @Test("open one recording a headset, and end it for good")
    func startAndStop() throws {
        let first = try store.control.startRecording(headset: "muse-1", model: "muse", label: "a", at: Fixture.start)
        #expect(throws: StorageError.alreadyRecording(headset: "muse-1", recording: first.rawValue)) {
            try store.control.startRecording(headset: "muse-1", model: "muse", at: Fixture.start)
        }
        #expect(isRefused { try store.control.startRecording(headset: "muse-1", model: "thinkgear", at: Fixture.start) })
        #expect(isRefused { try store.control.startRecording(headset: "", model: "muse", at: Fixture.start) })
        #expect(try store.openRecordings().map(\.isWanted) == [true])
        #expect(try store.recordings().map(\.state) == [.waiting])
        #expect(try store.control.stopRecording(headset: "muse-1", at: Fixture.start + .seconds(5)) == first)
        #expect(try store.openRecordings().map(\.isWanted) == [false])
        #expect(try store.recordings().map(\.state) == [.stopping])
        #expect(throws: StorageError.self) { try store.control.stopRecording(headset: "muse-1", at: Fixture.start) }
        var batch = WriteBatch(number: 1)
        batch.changes += [.recording(.stopped(first, at: Fixture.start + .seconds(6)))]
        try store.commit(batch)
        #expect(try store.openRecordings() == [])
        #expect(try store.recordings().map(\.state) == [.stopped])
        #expect(try store.control.startRecording(headset: "muse-1", model: "muse", at: Fixture.start) > first)
    }

    @Test("change the data version, and commits of the acquisition do not")
    func dataVersion() throws {
        let begin = try store.database.dataVersion()
        try store.control.startRecording(headset: "muse-1", model: "muse", at: Fixture.start)
        let started = try store.database.dataVersion()
        #expect(started != begin)
        try store.commit(WriteBatch(number: 1))
        #expect(try store.database.dataVersion() == started)
    }

    @Test("survive a power cut once the command returns, which each commit of the acquisition need not")
    func synchronous() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("e.sqlite")
        let stores: [(any Store, Int)] = [
            (try AcquisitionStore(path: path, hostBoot: Fixture.boot), 1),
            (try ControlStore(path: path, hostBoot: Fixture.boot), 2),
        ]
        for (store, level) in stores {
            // On the connection that writes.
            let found = try store.database.writer.writeWithoutTransaction { db in
                try Int.fetchOne(db, sql: "PRAGMA synchronous")
            }
            #expect(found == level, "\(type(of: store))")
            try store.close()
        }
    }

    @Test("leave a note beside the database where rows could not be written, and take it away")
    func unstored() throws {
        let directory = try TemporaryDirectory()
        let store = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.boot)
        #expect(!store.hasUnstored)
        for isUnstored in [true, true, false, false] {
            store.noteUnstored(isUnstored)
            #expect(store.hasUnstored == isUnstored)
        }
        #expect(!self.store.hasUnstored, "a database in memory has no file beside it")
    }

    @Test("of another connection to the file change the data version")
    func dataVersionOfFile() throws {
        let directory = try TemporaryDirectory()
        let daemon = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.boot)
        let command = try ControlStore(path: directory.path("e.sqlite"), hostBoot: Fixture.boot)
        let begin = try daemon.database.dataVersion()
        #expect(try daemon.database.dataVersion() == begin)
        let recording = try command.startRecording(headset: "muse-1", model: "muse", at: Fixture.start)
        #expect(try daemon.database.dataVersion() != begin)
        #expect(try daemon.openRecordings().map(\.recording) == [recording])
    }

    @Test("mark instants, also before any daemon told the time")
    func marks() throws {
        let recording = try store.control.startRecording(headset: "muse-1", model: "muse", at: Fixture.start)
        try store.control.noteClockOffset(Fixture.offset)
        try store.control.noteClockOffset(Fixture.offset)
        try store.control.mark(recording, text: "lights off", durationSeconds: 2, at: Fixture.start + .seconds(1))
        let annotations = try store.reader(of: recording).contents.annotations
        #expect(
            annotations == [
                AnnotationContents(
                    onsetUnixNanoseconds: Fixture.startUnixNanoseconds + 1_000_000_000, durationSeconds: 2,
                    description: "lights off")
            ])
        #expect(isRefused { try store.control.mark(recording, text: "x", durationSeconds: .nan, at: Fixture.start) })
        #expect(throws: StorageError.self) { try store.control.mark(RecordingID(rawValue: 9), text: "x", at: Fixture.start) }
    }

    @Test("never make one headset another one")
    func identity() throws {
        let recordings = try ["a", "b"].map { try store.control.startRecording(headset: $0, model: "muse", at: Fixture.start) }
        let headsets = try ["a", "b"].map { try #require(try store.headset(named: $0)) }
        for (headset, proof) in [(0, "SN-1"), (0, "SN-1"), (0, "SN-2"), (1, "SN-1")] {
            var batch = WriteBatch(number: 1)
            batch.changes = [.identityProof(IdentityProofRecord(headset: headsets[headset], proof: proof))]
            try store.commit(batch)
        }
        #expect(try recordings.map { try store.resumeState(of: $0).identityProof } == ["SN-1", nil])
    }

    @Test("are shown with what the headset said and how its streams flow")
    func activity() throws {
        let recording = try Fixture.record(into: store)
        let headset = HeadsetID(rawValue: 1)
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .connectionEvent(
                ConnectionEventRecord(headset: headset, at: Fixture.start, state: "streaming", detail: "Samples flow."))
        ]
        let status = HeadsetStatus(condition: .streaming, batteryPercent: 71.5, raw: [0x01, 0x4A, 0x8F])
        batch.changes += [
            .statusReport(StatusReportRecord(headset: headset, at: Fixture.start, status: status, outcome: "subscribe")),
            .statusReport(
                StatusReportRecord(headset: headset, at: Fixture.start + .seconds(1), status: nil, outcome: "noAnswer")),
        ]
        try store.commit(batch)
        let shown = try #require(try store.headsets(at: Fixture.start + .seconds(10)).first)
        #expect(shown.recording == recording)
        #expect(shown.state == "streaming")
        #expect(shown.batteryPercent == 71.5)
        #expect(shown.statusOutcome == "noAnswer")
        let raw = try store.database.writer.read { db in
            try String.fetchAll(db, sql: "SELECT iif(raw IS NULL, 'none', hex(raw)) FROM status_report ORDER BY id")
        }
        #expect(raw == ["014A8F", "none"])
        #expect(shown.stateEntered?.unixNanoseconds == Fixture.startUnixNanoseconds)
        // 2404 rows of 10 s; the last row is one period old.
        #expect(abs(shown.streams[0].rowsPerSecond - 240.4) < 0.2)
        #expect(abs(shown.streams[1].rowsPerSecond - 52) < 0.2)
        let later = try #require(try store.headsets(at: Fixture.start + .seconds(60)).first)
        #expect(later.streams.map(\.rowsPerSecond) == [0, 0])
    }
}
