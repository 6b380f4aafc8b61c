import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The audit")
struct AuditTests {
    let store: AcquisitionStore
    let recording: RecordingID

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    @Test("holds on a recording with a partly recovered gap and a lost channel")
    func holds() throws {
        let report = try store.audit(recording: recording)
        #expect(report.findings == [])
        let eeg = try #require(report.streams.first)
        #expect(eeg.rows == 2404)
        #expect(eeg.missing == 156)
        #expect(eeg.recovered == 100)
        #expect(eeg.expected == 2560)
        #expect(eeg.residual == 0)
    }

    @Test("holds while a gap's end is not known yet")
    func holdsWithOpenGap() throws {
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .ledger(.open(stream: Fixture.eeg, firstN: 2560, channel: 0, count: nil, cause: .linkLost, noticed: Fixture.start))
        ]
        try store.commit(batch)
        let report = try store.audit(recording: recording)
        #expect(report.findings == [])
        #expect(report.streams.first?.openGapFirstN == 2560)
    }

    /// A defect of each kind, planted behind the schema's back, and the check that must see it.
    static let defects: [(sql: String, check: AuditReport.Check, n: Int64?)] = [
        ("DELETE FROM sample WHERE stream_id = 1 AND n = 2000", .rowsAndGapsAddUp, 2000),
        ("DELETE FROM sample WHERE stream_id = 1 AND n = 700", .recoveredMatchesRows, 512),
        ("UPDATE gap SET recovered = 99 WHERE channel = 0", .recoveredMatchesRows, 512),
        ("UPDATE gap SET recovered = 101 WHERE channel = 0", .rowsAndGapsAddUp, nil),
        (
            """
            DROP TRIGGER gap_overlap_on_insert;
            INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)
            VALUES (1, 600, 0, 10, 'linkLost', 0, 1, 1)
            """, .gapsDoNotOverlap, 600
        ),
        (
            """
            INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)
            VALUES (1, 2500, 0, NULL, 'linkLost', 0, 1, 1)
            """, .noRowInOpenGap, 2500
        ),
        ("UPDATE sample SET c3 = NULL WHERE stream_id = 1 AND n = 77", .missingChannelsAreLedgered, 77),
        ("UPDATE sample SET c2 = 5 WHERE stream_id = 1 AND n = 1000", .missingChannelsAreLedgered, 1000),
        ("UPDATE sample SET c5 = 5 WHERE stream_id = 1 AND n = 3", .noValueBeyondChannels, 3),
        (
            """
            UPDATE segment SET last_n = 1499 WHERE stream_id = 1;
            INSERT INTO segment SELECT 1, 1500, 2559, 0, host_boot_id, 1500, reference_boottime_ns, period_ns, 0, 1, NULL
            FROM segment WHERE stream_id = 1
            """, .timesAscend, 1500
        ),
        (
            """
            INSERT INTO segment SELECT 1, 1500, 2559, 0, host_boot_id, 0, reference_boottime_ns, period_ns, 0, 1, NULL
            FROM segment WHERE stream_id = 1
            """, .segmentsTile, 1500
        ),
        ("DELETE FROM segment WHERE stream_id = 2", .segmentsTile, 0),
        (
            "INSERT INTO epoch SELECT 1, 1, NULL, -5, 0, host_boot_id, boottime_ns FROM epoch WHERE stream_id = 1",
            .epochsAscend, -5
        ),
        ("INSERT INTO sample (stream_id, n, c1) VALUES (99, 0, 1)", .nothingOrphaned, nil),
        ("UPDATE stream SET recording_id = 77 WHERE id = 2", .nothingOrphaned, nil),
        ("UPDATE annotation SET recording_id = 77", .nothingOrphaned, nil),
        ("DELETE FROM channel WHERE stream_id = 1 AND number = 4", .nothingOrphaned, nil),
    ]

    @Test(
        "takes rows of a later boot for earlier ones only beyond what two synchronised clocks may differ by",
        arguments: [(99, true, true), (110, true, false), (110, false, true)])
    func twoBoots(milliseconds: Int, isSynchronised: Bool, holds: Bool) throws {
        try store.database.writer.write { db in
            try db.execute(
                sql: """
                    UPDATE segment SET last_n = 1499, uncertainty_ns = 0 WHERE stream_id = 1;
                    INSERT INTO host_boot (id, uuid) SELECT max(id) + 1, 'later' FROM host_boot;
                    UPDATE clock_offset SET is_synchronised = 1;
                    INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
                    SELECT (SELECT max(id) FROM host_boot), 1, offset_ns - ?1 * 1000000, 0, ?2 FROM clock_offset;
                    INSERT INTO segment
                    SELECT 1, 1500, 2559, epoch, (SELECT max(id) FROM host_boot), reference_n, reference_boottime_ns, period_ns,
                        0, 1, 0
                    FROM segment WHERE stream_id = 1
                    """, arguments: [milliseconds, isSynchronised])
        }
        #expect(try store.audit().findings.filter { $0.check == .timesAscend }.isEmpty == holds)
    }

    @Test("finds every planted defect", arguments: defects)
    func findsDefect(sql: String, check: AuditReport.Check, n: Int64?) throws {
        try store.database.writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: sql)
        }
        let report = try store.audit()
        #expect(!report.holds)
        let found = report.findings.filter { $0.check == check }
        #expect(!found.isEmpty, "\(report.findings)")
        if let n { #expect(found.first?.n == n, "\(found)") }
    }

    /// A second lost at n 1500, of which clocks have said that it took so many samples.
    private func gapByClocks(count: Int64, uncertainty: Int64) throws {
        try store.database.writer.write { db in
            try db.execute(
                sql: """
                    DELETE FROM sample WHERE stream_id = 1 AND n BETWEEN 1500 AND 1499 + \(count);
                    UPDATE segment SET last_n = 1499, uncertainty_ns = 0 WHERE stream_id = 1;
                    INSERT INTO segment
                    SELECT 1, 1500 + \(count), 2559, epoch, host_boot_id, 1756,
                        reference_boottime_ns + (1756 - reference_n) * period_ns, period_ns, 0, 1, 0
                    FROM segment WHERE stream_id = 1;
                    DELETE FROM arrival WHERE stream_id = 1;
                    INSERT INTO gap
                        (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty, uncertainty)
                    SELECT 1, 1500, 0, \(count), 'linkLost', max(id), 1, 'timed', \(uncertainty) FROM host_boot
                    """)
        }
    }

    @Test(
        "compares the length of a gap that clocks have said with the times around it",
        arguments: [(256, 2, true), (556, 2, false), (556, 200, true)] as [(Int64, Int64, Bool)])
    func timedGap(count: Int64, uncertainty: Int64, holds: Bool) throws {
        try gapByClocks(count: count, uncertainty: uncertainty)
        if count != 256 {
            // The samples behind it are as late as before.
            try store.database.writer.write { db in
                try db.execute(
                    sql: "UPDATE segment SET reference_n = 2056 WHERE stream_id = 1 AND first_n = 1500 + ?", arguments: [count])
            }
        }
        #expect(try store.audit().findings.filter { $0.check == .timedGapsAgree }.map(\.n) == (holds ? [] : [1500]))
    }

    @Test("finds a stream without counter whose last samples before a gap came late", arguments: [true, false])
    func lateEnd(isCounted: Bool) throws {
        try gapByClocks(count: 256, uncertainty: 2)
        try store.database.writer.write { db in
            try db.execute(
                sql: """
                    INSERT INTO arrival (stream_id, n, boottime_ns)
                    SELECT 1, 1499, CAST(reference_boottime_ns + (1499 - reference_n) * period_ns AS INTEGER) + 1000000000
                    FROM segment WHERE stream_id = 1 AND first_n = 0
                    """)
            if !isCounted {
                try db.execute(sql: "INSERT INTO loss_detection (stream_id, first_n, means) VALUES (1, 0, 'clock')")
            }
        }
        let found = try store.audit().findings.filter { $0.check == .arrivalsAgree }
        #expect(found.map(\.n) == (isCounted ? [] : [1499]), "\(found)")
    }

    @Test("takes a pause of the headset that the ledger has for no fault of its numbers", arguments: [true, false])
    func pause(isLedgered: Bool) throws {
        try store.database.writer.write { db in
            // A sample a second; after 100 of them the headset paused for 3.4 s, and counted on by one.
            try db.execute(
                sql: """
                    UPDATE stream SET sampling_frequency = 1 WHERE id = 1;
                    DELETE FROM arrival WHERE stream_id = 1;
                    UPDATE segment SET last_n = 99, reference_n = 0, reference_boottime_ns = 0, period_ns = 1e9
                    WHERE stream_id = 1;
                    INSERT INTO segment SELECT 1, 100, 2559, epoch, host_boot_id, 100, 103400000000, period_ns, 0, 1, 0
                    FROM segment WHERE stream_id = 1;
                    INSERT INTO arrival (stream_id, n, boottime_ns, device_ticks)
                    WITH RECURSIVE i (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 400)
                    SELECT 1, n, n * 1000000000 + (n >= 100) * 3400000000, n * 1000 + (n >= 100) * 3400 FROM i
                    """)
            if isLedgered {
                try db.execute(
                    sql: """
                        INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
                        SELECT 1, 100, 0, 0, 'silence', max(id), 1 FROM host_boot
                        """)
            }
        }
        #expect(try store.audit().findings.contains { $0.check == .deviceClockAgrees } == !isLedgered)
        // A refit divides the evidence where the audit does.
        #expect(try store.evidence(of: Fixture.eeg).gapsOfNoCount == (isLedgered ? [100] : []))
    }

    @Test("lists no more than ten rows of a kind")
    func listsFirstRows() throws {
        try store.database.writer.write { db in
            try db.execute(sql: "DELETE FROM sample WHERE stream_id = 1 AND n >= 2000 AND n % 2 = 0")
        }
        let report = try store.audit(recording: recording)
        let holes = report.findings.filter { $0.check == .rowsAndGapsAddUp }
        #expect(holes.count == AuditReport.findingLimit)
        #expect(holes.map(\.n).first == 2000)
        #expect(report.streams.first?.residual == 280)
    }

    @Test("of a recording that does not exist is an error")
    func unknownRecording() {
        #expect(throws: StorageError.notFound(what: "recording 9")) {
            try store.audit(recording: RecordingID(rawValue: 9))
        }
    }
}
