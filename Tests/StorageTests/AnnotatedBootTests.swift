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
}
