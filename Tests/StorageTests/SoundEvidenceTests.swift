import Bluetooth
import Foundation
import GRDB
import Headsets
import Testing

@testable import Storage

/// What happens to a sound database leaves its evidence whole.
@Suite("The evidence holds")
struct SoundEvidenceTests {
    private let fixture: EvidenceFixture
    private let eeg = StreamID(rawValue: EvidenceFixture.first.eeg)
    private let start = Fixture.start + .seconds(EvidenceFixture.first.recording)

    init() throws { fixture = try EvidenceFixture() }

    /// A second of rows behind those of the fixture, with their time.
    private func batch(_ range: Range<Int64>) -> WriteBatch {
        var batch = WriteBatch(number: 100)
        batch.samples = [Fixture.rows(eeg, range, channels: 4)]
        batch.changes = [
            .segment(Fixture.segment(eeg, 5120...range.upperBound - 1, frequency: 256, reference: start))
        ]
        return batch
    }

    @Test("and says how much it covers")
    func covers() throws {
        let report = try fixture.audit()
        #expect(report.findings == [])
        #expect(report.checked == Set(AuditReport.Evidence.allCases))
        let content = try #require(report.streams.first?.content)
        // Three live blocks, rows that were recovered in one block, and values of two channels.
        #expect(content.blocks == 3 + 1 + 2)
        #expect(content.rows == 10240 - 512 + 200)
        #expect(Set(content.heads.keys) == ["live", "late"])
        #expect(report.unprotected == 0)
    }

    @Test("from any instant on", arguments: -1...50)
    func since(second: Int) throws {
        let since = Fixture.startUnixNanoseconds + Int64(second) * 1_000_000_000 + 300_000_000
        let report = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
            .audit(AuditScope(since: since, readerCount: 1))
        #expect(report.findings == [])
        let quick = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot).audit(AuditScope(isQuick: true, since: since))
        #expect(quick.streams.map(\.residual) == report.streams.map(\.residual))
    }

    @Test("with any number of readers", arguments: [0, 1, 3])
    func readers(count: Int) throws {
        #expect(try fixture.audit(readerCount: count) == fixture.audit())
    }

    @Test("after each of five processes that ended anyhow, in two boots of the host")
    func processes() throws {
        for process in 0..<5 {
            let store = try fixture.open()
            try store.commit(batch(10240 + Int64(process) * 100..<10340 + Int64(process) * 100))
            // Not closed in order: the file is left as it is.
            #expect(try fixture.audit().findings == [])
            try store.close()
        }
        #expect(try fixture.audit().streams.first?.content?.blocks == 6 + 5)
        let store = try fixture.open(Fixture.secondBoot)
        var later = WriteBatch(number: 7)
        later.samples = [Fixture.rows(eeg, 10740..<10800, channels: 4)]
        later.changes = [
            .clockOffset(Fixture.offset), .segment(Fixture.segment(eeg, 10740...10799, frequency: 256, reference: start)),
        ]
        try store.commit(later)
        try store.close()
        #expect(try fixture.audit().findings == [])
    }

    @Test("after a batch that the database refused, and its repetition")
    func refused() throws {
        let store = try fixture.open()
        try store.commit(batch(10240..<10300))
        // 10300 ... 10320 are new, and a gap that is not there cannot be closed.
        var wrong = batch(10300..<10320)
        wrong.changes.append(.ledger(.close(stream: eeg, firstN: 77, channel: 0, count: 5)))
        #expect(throws: StorageError.self) { try store.commit(wrong) }
        wrong.parts = [
            HeadsetPart(
                headset: HeadsetID(rawValue: 1), recording: RecordingID(rawValue: 1), streams: [eeg], presentStreams: [])
        ]
        #expect(try store.commitByHeadset(wrong, at: start).count == 1)
        #expect(try fixture.audit().findings == [])
        try store.commit(batch(10300..<10330))
        try store.close()
        #expect(try fixture.audit().findings == [])
    }

    @Test("after corrections and annotations by SQL, and says that they are")
    func expectedWrites() throws {
        try fixture.write(
            """
            INSERT INTO channel_correction (stream_id, number, scale, reason) VALUES (1, 2, 0.25, 'gain');
            INSERT INTO channel_correction (stream_id, number, name) VALUES (1, 2, 'Fp1');
            INSERT INTO annotation_time (recording_id, onset, description) VALUES (1, '2026-03-01T10:00:05.250Z', 'blink');
            VACUUM
            """)
        let report = try fixture.audit()
        #expect(report.findings == [])
        #expect(report.unprotected == 3)
        let store = try fixture.open()
        let rows = try store.database.read { db in
            try Row.fetchAll(db, sql: "SELECT name, scale, \"offset\" FROM channel WHERE stream_id = 1 AND number = 2")
                + Row.fetchAll(db, sql: "SELECT onset, source FROM annotation_time WHERE description = 'blink'")
        }
        #expect(rows[0]["name"] as String == "Fp1")
        #expect(rows[0]["scale"] as Double == 0.25)
        #expect(rows[0]["offset"] as Double == 1)
        #expect(rows[1]["onset"] as String == "2026-03-01T10:00:05.250Z")
        #expect(rows[1]["source"] as String == "sql")
        try store.close()
    }

    @Test("in a copy of one recording, with the same heads")
    func copy() throws {
        try fixture.write("INSERT INTO channel_correction (stream_id, number, scale) VALUES (3, 2, 0.25)")
        let path = fixture.directory.path("copy.sqlite")
        let recording = RecordingID(rawValue: EvidenceFixture.second.recording)
        let store = try fixture.open()
        try store.reader(of: recording).copy(to: path)
        let original = try store.audit(recording: recording)
        try store.close()
        let copied = try ReadOnlyStore(path: path, hostBoot: Fixture.boot).audit()
        #expect(copied.findings == [])
        #expect(copied.streams.map(\.content?.heads) == original.streams.map(\.content?.heads))
    }

    @Test("in a copy not, where the original was changed before")
    func copyOfAChangedOne() throws {
        let sql = [
            "UPDATE sample SET c1 = 0 WHERE stream_id = 3 AND n = 5", "UPDATE segment SET period_ns = 1e6 WHERE stream_id = 3",
        ]
        for (index, sql) in sql.enumerated() {
            try fixture.write(sql)
            let path = fixture.directory.path("copy\(index).sqlite")
            let store = try fixture.open()
            try store.reader(of: RecordingID(rawValue: EvidenceFixture.second.recording)).copy(to: path)
            try store.close()
            #expect(try !ReadOnlyStore(path: path, hostBoot: Fixture.boot).audit().holds)
        }
    }

    @Test("from the migration on, and says which rows have no digest")
    func migrated() throws {
        let path = fixture.directory.path("old.sqlite")
        let old = try DatabaseQueue(path: path)
        try DatabaseSchema.migrator.migrate(old, upTo: "m0021_history")
        try old.write { db in
            try db.execute(
                sql: """
                    INSERT INTO host_boot (id, uuid) VALUES (1, '\(Fixture.boot.uuid)');
                    INSERT INTO headset (id, name, model) VALUES (1, 'left', 'muse');
                    INSERT INTO recording (id, headset_id, desired_state, requested_host_boot_id, requested_boottime_ns)
                        VALUES (1, 1, 'recording', 1, 0);
                    INSERT INTO stream VALUES (1, 1, 0, 'eeg', 0, 256, 1, 65536, 2, 'eeg_1');
                    INSERT INTO channel VALUES (1, 1, 'A', 'EEG', 'uV', 1, 0, 0, 9), (1, 2, 'B', 'EEG', 'uV', 1, 0, 0, 9);
                    INSERT INTO epoch VALUES (1, 0, NULL, 0, 0, 1, 0);
                    INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                        period_ns, observation_count) VALUES (1, 0, 99, 0, 1, 0, 0, 4e6, 1);
                    WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 99)
                    INSERT INTO sample (stream_id, n, c1, c2) SELECT 1, n, n, n FROM n WHERE n NOT BETWEEN 40 AND 49;
                    INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty)
                        VALUES (1, 40, 0, 10, 'linkLost', 1, 1, 'counted');
                    INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, description, source)
                        VALUES (1, 1, 5, 'before', 'operator');
                    """)
            try StreamView.create("eeg_1", recording: RecordingID(rawValue: 1), in: db)
            // A name that a person has corrected since; the view was made before.
            try db.execute(sql: "UPDATE channel SET name = 'Z' WHERE number = 2")
        }
        try old.close()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        #expect(try store.audit().findings == [])
        // What comes late to rows without digest, and what follows them.
        var batch = WriteBatch(number: 1)
        batch.samples = [
            Fixture.rows(StreamID(rawValue: 1), 40..<45, channels: 2),
            Fixture.rows(StreamID(rawValue: 1), 100..<110, channels: 2),
        ]
        batch.changes = [
            .ledger(.recover(stream: StreamID(rawValue: 1), firstN: 40, channel: 0, count: 5)),
            .segment(Fixture.segment(StreamID(rawValue: 1), 100...109, frequency: 256)),
        ]
        try store.commit(batch)
        let report = try store.audit()
        #expect(report.findings == [])
        #expect(report.streams.first?.content?.undigested == 90)
        #expect(report.streams.first?.content?.rows == 15)
        try store.close()
    }

    @Test("An audit that goes on from an earlier one looks at what came since, and holds wherever the earlier one ended")
    func continued() throws {
        let directory = try TemporaryDirectory()
        let store = try AcquisitionStore(path: directory.path("a.sqlite"), hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        var earlier = try store.audit().extent
        let stream = Fixture.eeg
        for second in 0..<60 {
            var batch = WriteBatch(number: UInt64(second) + 10)
            let first = Int64(2560 + second * 256)
            batch.samples = [Fixture.rows(stream, first..<first + 256, channels: 4)]
            if second == 40 {
                // Came late, and lies in blocks that were audited long ago.
                batch.changes = [
                    .fill(ChannelFill(stream: stream, channel: 2, firstN: 1000, values: [1, 2, 3])),
                    .ledger(.recover(stream: stream, firstN: 1000, channel: 2, count: 3)),
                ]
            }
            try store.commit(batch)
            let report = try store.audit(AuditScope(earlier: earlier))
            #expect(report.findings == [], "second \(second)")
            let rows = try #require(report.streams.first { $0.streamID == stream.rawValue }).rows
            if !(40...42).contains(second) { #expect(rows <= 2 * 4096) }
            if second.isMultiple(of: 3) { earlier = report.extent }
        }
    }

    @Test(
        "An audit that goes on from an earlier one finds what is not as it was, or not as it was written since",
        arguments: [
            "DELETE FROM sample WHERE stream_id = 1 AND n > 10000",
            "UPDATE sample SET c1 = c1 + 1 WHERE stream_id = 1 AND n = 10100",
            "DELETE FROM block WHERE stream_id = 1 AND chain = 'live' AND number = 2",
            "UPDATE block SET digest = zeroblob(32) WHERE stream_id = 3 AND chain = 'live' AND number = 2",
            "DELETE FROM sample WHERE stream_id = 3; DELETE FROM block WHERE stream_id = 3; DELETE FROM stream WHERE id = 3",
        ])
    func continuedAndFails(sql: String) throws {
        let fixture = try EvidenceFixture()
        let earlier = try fixture.audit().extent
        #expect(earlier.streams.count == 4)
        let scope = AuditScope(earlier: earlier)
        #expect(try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot).audit(scope).holds)
        try fixture.write(sql)
        #expect(try !ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot).audit(scope).holds)
    }
}
