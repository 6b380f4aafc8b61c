import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

/// Another program may write any number into the database: an audit says so, and nothing traps.
@Suite("A number that no recording comes to")
struct SurprisingNumberTests {
    private static let one = RecordingID(rawValue: 1)

    static let changes = [
        "UPDATE segment SET reference_n = -9223372036854775000",
        "UPDATE gap SET first_n = 9223372036854775800, count = 300",
        "UPDATE segment SET period_ns = 9e17",
        "UPDATE segment SET reference_boottime_ns = 9223372036854775807",
        "UPDATE clock_offset SET offset_ns = 9223372036854775807",
        "UPDATE channel SET raw_minimum = -9223372036854775807, raw_maximum = 9223372036854775807",
        "INSERT INTO sample (stream_id, n, c1) VALUES (1, 9223372036854775807, 1), (3, -9223372036854775807, 1)",
    ]

    @Test("is a finding of the audit", arguments: changes)
    func audit(sql: String) throws {
        let fixture = try EvidenceFixture()
        let before = try fixture.audit()
        #expect(before.holds, "\(before.findings)")
        try fixture.write(sql)
        for isQuick in [true, false] {
            let report = try fixture.audit(isQuick: isQuick)
            #expect(report.findings.contains { $0.check == .numbersAreInRange }, "\(report.findings)")
        }
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        var scope = AuditScope(recording: Self.one, since: Fixture.startUnixNanoseconds + 5_000_000_000)
        #expect(try !store.audit(scope).holds)
        scope.since = nil
        scope.earlier = before.extent
        #expect(try !store.audit(scope).holds)
        try store.close()
    }

    @Test("leaves what commands show, and is no number to compute times with", arguments: changes)
    func reading(sql: String) throws {
        let fixture = try EvidenceFixture()
        try fixture.write(sql)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let now = Fixture.start + .seconds(45)
        #expect(try store.recordings().map(\.id) == [1, 2])
        #expect(try store.recording(Self.one).headset == "left")
        #expect(try store.headsets(at: now).map(\.name) == ["left", "right"])
        #expect(try store.watchedRecordings(at: now, window: .seconds(60)).count == 2)
        #expect(try store.openRecordings().count == 2)
        #expect(try store.gaps(of: Self.one).count == 3)
        #expect(try store.missingByCause(of: Self.one).count == 1)
        #expect(try store.annotations(of: Self.one).count == 2)
        let eeg = StreamID(rawValue: 1)
        let times = try store.timeSegments(of: eeg)
        for segment in times {
            for n in [Int64.min, 0, .max] { _ = segment.unixNanoseconds(ofSample: n) }
        }
        #expect(try store.signalGaps(of: eeg, in: 0...20_000, limit: 10).count <= 1)
        _ = try store.history(limit: 10)
        let contents = try store.database.read { db in try RecordingContents.read(Self.one, in: db) }
        #expect(contents.streams.map(\.id.rawValue) == [1, 2])
        for stream in contents.streams {
            for n in [Int64.min, 0, .max] { _ = stream.unixNanoseconds(ofSample: n) }
        }
        if sql.contains("channel") {
            let channel = try store.reader(of: Self.one).contents.streams.first?.description.channels.first
            #expect(channel?.rawMinimum == -2_147_483_648 && channel?.rawMaximum == 2_147_483_647)
        } else {
            let refusal = #expect(throws: StorageError.self) { try store.reader(of: Self.one) }
            // A matter of the file, and not of what was asked.
            guard case .corrupt? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
        }
        try store.close()
    }

    @Test(
        "of a description is a finding of the audit, and no recording to read",
        arguments: [
            "UPDATE stream SET sampling_frequency = 9e8", "UPDATE stream SET channel_count = 1000000000000000",
            "UPDATE stream SET channel_count = 0", "UPDATE channel SET raw_minimum = 5, raw_maximum = 4",
        ])
    func descriptions(sql: String) throws {
        let fixture = try EvidenceFixture()
        try fixture.write("PRAGMA ignore_check_constraints = ON; \(sql)")
        for isQuick in [true, false] {
            let report = try fixture.audit(isQuick: isQuick)
            #expect(report.findings.contains { $0.check == .numbersAreInRange }, "\(report.findings)")
        }
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let refusal = #expect(throws: StorageError.self) { try store.reader(of: Self.one) }
        guard case .corrupt? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        try store.close()
    }

    @Test("is none where a time of another host boot is spoiled that did not time the recording")
    func otherBoot() throws {
        let fixture = try EvidenceFixture()
        try fixture.write(
            """
            INSERT INTO host_boot (id, uuid) VALUES (99, 'other');
            INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
            VALUES (99, 1, 9223372036854775807, 0, 0)
            """)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        #expect(try store.reader(of: Self.one).contents.streams.count == 2)
        #expect(try store.audit().findings.contains { $0.check == .numbersAreInRange })
        try store.close()
    }

    @Test("of seconds is a year at most, where an annotation has it")
    func durations() throws {
        let fixture = try EvidenceFixture()
        try fixture.write(
            """
            INSERT INTO annotation_time (recording_id, onset, description, duration_seconds)
            VALUES (1, '2026-03-01T10:00:10Z', 'long', 9e999), (1, '2026-03-01T10:00:11Z', 'long', 1e300)
            """)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        let found = try store.reader(of: Self.one).contents.annotations.filter { $0.description == "long" }
        #expect(found.map(\.durationSeconds) == [31_536_000, 31_536_000])
        let shown = try store.annotations(of: Self.one).filter { $0.description == "long" }
        #expect(shown.map(\.durationSeconds) == [31_536_000, 31_536_000])
        try store.close()
    }
}
