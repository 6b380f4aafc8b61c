import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

/// Marks on the clock of the present boot, whatever the other clock says.
@Suite("Marks of this boot")
struct AnnotatedBootTests {
    private let directory: TemporaryDirectory
    private let store: AcquisitionStore
    /// The recording of an earlier boot, which goes on.
    private let recording: RecordingID
    private let second: ControlStore

    /// The clock of the second boot begins a quarter of an hour behind: nobody has set it yet.
    init() throws {
        directory = try TemporaryDirectory()
        let path = directory.path("e.sqlite")
        store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        recording = try store.control.startRecording(headset: "muse-1", model: "buffered-eeg", at: Fixture.start)
        try store.commit(Fixture.firstBatch(recording))
        second = try ControlStore(path: path, hostBoot: Fixture.secondBoot)
        try setClock(behind: 900)
    }

    private func setClock(behind seconds: Int64) throws {
        try second.database.write { db in
            let offset = Fixture.startUnixNanoseconds - seconds * 1_000_000_000
            try db.execute(
                sql: """
                    INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
                    SELECT id, 0, ?, 0, 0 FROM host_boot WHERE uuid = ?
                    """, arguments: [offset, Fixture.secondBoot.uuid])
        }
    }

    private func mark(_ text: String, at seconds: Int64, now: Int64 = 60) throws -> [StoredOnset] {
        let onset = StatedOnset.boottime(MonotonicTime(nanoseconds: seconds * 1_000_000_000))
        let now = MonotonicTime(nanoseconds: now * 1_000_000_000)
        let stated = StatedAnnotation(onset: onset, durationSeconds: nil, description: text)
        return try second.recordings(at: onset, of: nil, now: now).map { found in
            let id = try second.annotate(found, with: stated, at: now)
            return try second.database.read { db in
                let row = try Row.fetchOne(db, sql: "SELECT * FROM annotation WHERE id = ?", arguments: [id])
                return StoredOnset(hostBoot: row?["host_boot_id"] ?? 0, boottime: row?["boottime_ns"] ?? 0, sample: nil)
            }
        }
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do { try body() } catch let error as StorageError {
            if case .refused(let reason) = error { return reason }
        } catch {}
        return nil
    }

    @Test("An instant of this boot stays one, though the clock says that the recording has not begun")
    func clockBehind() throws {
        #expect(try mark("stimulus", at: 50) == [StoredOnset(hostBoot: 2, boottime: 50_000_000_000, sample: nil)])
        // And though it says an instant of the earlier boot.
        try setClock(behind: -3600)
        #expect(try mark("stimulus", at: 51) == [StoredOnset(hostBoot: 2, boottime: 51_000_000_000, sample: nil)])
        #expect(try mark("ahead", at: 61) == [])
    }

    @Test("What was asked for in this boot does not begin before that, and what has ended does not hold what came later")
    func extent() throws {
        let other = try second.startRecording(
            headset: "muse-2", model: "muse", at: MonotonicTime(nanoseconds: 40_000_000_000))
        func found(at seconds: Int64) throws -> [RecordingID] {
            try second.recordings(
                at: .boottime(MonotonicTime(nanoseconds: seconds * 1_000_000_000)), of: nil,
                now: MonotonicTime(nanoseconds: 90_000_000_000))
        }
        #expect(try found(at: 39) == [recording])
        #expect(try found(at: 40) == [recording, other])
        try second.database.write { db in
            try db.execute(
                sql: """
                    UPDATE recording SET desired_state = 'stopped', stopped_host_boot_id = iif(id = 1, 1, 2),
                        stopped_boottime_ns = 70000000000
                    """)
        }
        #expect(try found(at: 70) == [other])
        #expect(try found(at: 71) == [])
        let late = StatedAnnotation(
            onset: .boottime(MonotonicTime(nanoseconds: 71_000_000_000)), durationSeconds: nil, description: "late")
        for (recording, words) in [(recording, "before this machine was restarted"), (other, "which ended at")] {
            let reason = refusal {
                _ = try second.annotate(recording, with: late, at: MonotonicTime(nanoseconds: 90_000_000_000))
            }
            #expect(reason?.contains(words) == true)
        }
    }
    @Test("An instant before this boot is one of the boot that it lies in, if what UTC was is known")
    func beforeBoot() throws {
        try setClock(behind: -7200)
        #expect(try mark("seen", at: -3540) == [StoredOnset(hostBoot: 1, boottime: 3_760_000_000_000, sample: nil)])
        // Before the recording was asked for.
        #expect(try mark("early", at: -10_800) == [])
        let now = MonotonicTime(nanoseconds: 60_000_000_000)
        let early = StatedAnnotation(onset: .boottime(now - .seconds(10_860)), durationSeconds: nil, description: "early")
        let reason = refusal { _ = try second.annotate(recording, with: early, at: now) }
        #expect(reason?.contains("is before the recording") == true)
        // One that had ended before the machine was restarted, and one that had not begun.
        try second.database.write { db in
            try db.execute(
                sql: """
                    UPDATE recording SET desired_state = 'stopped', stopped_host_boot_id = 1,
                        stopped_boottime_ns = 5000000000000
                    """)
        }
        _ = try second.startRecording(headset: "muse-2", model: "muse", at: now)
        #expect(try mark("seen", at: -3540) == [StoredOnset(hostBoot: 1, boottime: 3_760_000_000_000, sample: nil)])
        #expect(try mark("late", at: -1000) == [])
        try second.database.write { db in try db.execute(sql: "DELETE FROM clock_offset WHERE host_boot_id = 2") }
        let unknown = refusal { _ = try mark("seen", at: -3540) }
        #expect(unknown?.contains("what UTC is now is not known") == true)
        let other = refusal { _ = try second.annotate(recording, with: early, at: now) }
        #expect(other?.contains("what UTC is now is not known") == true)
    }

    @Test("What a headset had in its memory before it was asked for is of the recording")
    func memory() throws {
        let store = try AcquisitionStore(path: directory.path("memory.sqlite"), hostBoot: Fixture.boot)
        let requested = Fixture.start + .seconds(600)
        let recording = try store.control.startRecording(headset: "muse-1", model: "buffered-eeg", at: requested)
        var batch = WriteBatch(number: 1)
        batch.samples = [Fixture.rows(Fixture.eeg, 0..<512, channels: 4)]
        batch.changes = [
            .stream(NewStream(id: Fixture.eeg, recording: recording, position: 0, description: Fixture.eegDescription())),
            .recording(.started(recording, at: requested + .seconds(1))), .epoch(Fixture.epoch(Fixture.eeg)),
            .clockOffset(Fixture.offset), .segment(Fixture.segment(Fixture.eeg, 0...511, frequency: 256)),
        ]
        try store.commit(batch)
        func found(_ onset: StatedOnset) throws -> [RecordingID] {
            try store.control.recordings(at: onset, of: nil, now: requested + .seconds(60))
        }
        #expect(try found(.boottime(Fixture.start + .seconds(1))) == [recording])
        #expect(try found(.unix(nanoseconds: Fixture.startUnixNanoseconds + 1_000_000_000)) == [recording])
        #expect(try found(.boottime(Fixture.start - .seconds(1))) == [])
    }
}
