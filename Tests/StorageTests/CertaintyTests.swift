import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("What detects losses, and how what is missing is known")
struct CertaintyTests {
    let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot) }

    private func fetch(_ sql: String) throws -> [Row] {
        try store.database.writer.read { db in try Row.fetchAll(db, sql: sql) }
    }

    private func commit(_ change: (inout WriteBatch) -> Void) throws {
        var batch = WriteBatch(number: 9)
        change(&batch)
        try store.commit(batch)
    }

    private func open(_ firstN: Int64, _ count: Int64?, _ certainty: GapCertainty) -> LedgerEntry {
        .open(
            stream: Fixture.eeg, firstN: firstN, channel: 0, count: count, cause: .linkLost, noticed: Fixture.start,
            certainty: certainty)
    }

    @Test("the audit sums what is counted, timed and unknown, and the uncertainty of what is timed")
    func sums() throws {
        let recording = try Fixture.record(into: store)
        try commit {
            $0.changes += [
                .ledger(open(2560, 40, .counted)), .ledger(open(2700, 100, .timed(uncertainty: 5))),
                .ledger(open(2900, 10, .timed(uncertainty: 2))), .ledger(open(3000, nil, .unknown)),
            ]
            $0.samples = [
                Fixture.rows(Fixture.eeg, 2600..<2700, channels: 4), Fixture.rows(Fixture.eeg, 2800..<2900, channels: 4),
                Fixture.rows(Fixture.eeg, 2910..<3000, channels: 4),
            ]
            $0.changes.append(.segment(Fixture.segment(Fixture.eeg, 0...2999, frequency: 256)))
        }
        let report = try store.audit(recording: recording)
        #expect(report.holds, "\(report.findings)")
        let sums = try #require(report.streams.first)
        let certainty = sums.certainty
        #expect(certainty.lossDetection == "counter")
        // With the gap of the fixture, of which 156 are missing.
        #expect((certainty.counted, certainty.timed, certainty.uncertainty) == (40 + 156, 110, 7))
        #expect((certainty.unknown, certainty.unknownGaps) == (0, 1))
        #expect(sums.missing == 306)
        try store.database.writer.write { try $0.execute(sql: "UPDATE gap SET uncertainty = NULL WHERE first_n = 2900") }
        #expect(try store.audit(recording: recording).streams.first?.certainty.uncertainty == nil)
    }

    @Test("a stream without counter says what tells its losses; what is said again is not written again")
    func lossDetection() throws {
        let recording = try store.control.startRecording(headset: "h", model: "m", at: Fixture.start)
        var description = Fixture.accelerometerDescription
        description.counterModulus = nil
        try commit { batch in
            batch.changes += [.stream(NewStream(id: Fixture.eeg, recording: recording, position: 0, description: description))]
        }
        func detection() throws -> String? { try fetch("SELECT loss_detection FROM stream_overview").first?[0] }
        #expect(try detection() == "nothing")
        for (n, means) in [(0, .nothing), (700, .clock), (900, .clock), (1500, .mark)] as [(Int64, LossDetection)] {
            try commit { $0.changes += [.lossDetection(LossDetectionRecord(stream: Fixture.eeg, firstN: n, means: means))] }
            #expect(try detection() == means.rawValue)
        }
        #expect(try fetch("SELECT first_n FROM loss_detection").map { $0[0] as Int64 } == [0, 700, 1500])
    }

    /// A recording over two boots, of which the second one's clock is not known.
    @Test("rows and gaps of a boot without a clock have no time, instead of one by another boot's clock")
    func unknownClock() throws {
        try Fixture.record(into: store)
        try store.database.writer.write { db in
            try db.execute(
                sql: """
                    INSERT INTO host_boot (id, uuid) VALUES (77, 'no clock');
                    INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                        period_ns, observation_count) VALUES (1, 2560, 2600, 0, 77, 2560, 5, 1e9 / 256, 3);
                    INSERT INTO sample (stream_id, n, c1) VALUES (1, 2560, 1);
                    INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
                        VALUES (1, 2570, 0, 5, 'linkLost', 77, 5);
                    """)
        }
        #expect(try fetch("SELECT unix_ns FROM sample_long WHERE stream = 'eeg' AND n = 2560").allSatisfy { $0[0] == nil })
        #expect(try fetch("SELECT unix_ns FROM eeg_1 WHERE n = 2560").map { $0[0] as Int64? } == [nil])
        #expect(try fetch("SELECT start_unix_ns FROM gap_time WHERE first_n = 2570").map { $0[0] as Int64? } == [nil])
        let long = try fetch("SELECT DISTINCT n, unix_ns FROM sample_long WHERE stream = 'eeg' AND n < 400 ORDER BY n")
        let wide = try fetch("SELECT n, unix_ns FROM eeg_1 WHERE n < 400 ORDER BY n")
        #expect(long.map { $0[1] as Int64? } == wide.map { $0[1] as Int64? })
    }

    @Test("of streams of earlier versions only a counter told what was missing")
    func migration() throws {
        let queue = try DatabaseQueue()
        try DatabaseSchema.migrator.migrate(queue, upTo: "m0011_changed_streams")
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO host_boot (id, uuid) VALUES (1, 'boot');
                    INSERT INTO headset (id, name, model) VALUES (1, 'a', 'mindwave');
                    INSERT INTO recording (id, headset_id, desired_state, requested_host_boot_id, requested_boottime_ns)
                        VALUES (1, 1, 'recording', 1, 0);
                    INSERT INTO stream VALUES (1, 1, 0, 'eeg', 0, 512, 1, NULL, 1, 'eeg_1'),
                        (2, 1, 1, 'counted', 0, 100, 1, 256, 1, 'counted_2');
                    INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
                        VALUES (1, 5, 0, 3, 'packetLost', 1, 9), (2, 5, 0, 3, 'packetLost', 1, 9),
                        (2, 20, 0, 30, 'linkLost', 1, 9), (2, 60, 0, NULL, 'linkLost', 1, 9);
                    """)
        }
        try DatabaseSchema.migrator.migrate(queue)
        let means = try queue.read {
            try String.fetchAll($0, sql: "SELECT loss_detection FROM stream_overview ORDER BY stream_id")
        }
        #expect(means == ["nothing", "counter"])
        let certainties = try queue.read {
            try String.fetchAll($0, sql: "SELECT certainty FROM gap ORDER BY stream_id, first_n")
        }
        #expect(certainties == ["timed", "counted", "timed", "unknown"])
    }
}
