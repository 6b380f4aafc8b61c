import Bluetooth
import Evidence
import Foundation
import GRDB
import Headsets
import Testing

@testable import Storage

/// Each kind of corruption is planted into a file by another program, and the evidence that should notice it does.
@Suite("A corruption is noticed:")
struct CorruptionTests {
    /// What is done to the file, and which evidence must contradict it.
    struct Corruption: Sendable, CustomTestStringConvertible {
        var name: String
        var sql: String
        var evidence: Set<AuditReport.Evidence>
        /// Where: the lowest n of a finding by content; nil where there is no such.
        var n: Int64?
        var testDescription: String { name }

        init(_ name: String, _ evidence: Set<AuditReport.Evidence>, n: Int64? = nil, _ sql: String) {
            (self.name, self.evidence, self.n, self.sql) = (name, evidence, n, sql)
        }
    }

    static let rows = [
        Corruption(
            "the last 3000 rows are deleted", [.content, .extent], "DELETE FROM sample WHERE stream_id = 1 AND n >= 7240"),
        Corruption(
            "the last 3000 rows are deleted, and the times cut with them", [.content, .extent],
            """
            DELETE FROM sample WHERE stream_id = 1 AND n >= 7240; UPDATE segment SET last_n = 7239 WHERE stream_id = 1
                AND last_n > 7239; DELETE FROM arrival WHERE stream_id = 1 AND n >= 7240
            """),
        Corruption(
            "the first 2000 rows are deleted", [.content, .extent], "DELETE FROM sample WHERE stream_id = 1 AND n < 2000"),
        Corruption(
            "101 values are overwritten", [.content], n: 0,
            "UPDATE sample SET c1 = 0 WHERE stream_id = 1 AND n BETWEEN 100 AND 200"),
        Corruption(
            "one value is one less", [.content], n: 4608, "UPDATE sample SET c4 = c4 - 1 WHERE stream_id = 1 AND n = 6000"),
        Corruption(
            "two values of a row are exchanged", [.content], "UPDATE sample SET c1 = c2, c2 = c1 WHERE stream_id = 3 AND n = 77"
        ),
        Corruption(
            "two rows are exchanged", [.content],
            """
            UPDATE sample SET n = -1 WHERE stream_id = 1 AND n = 10; UPDATE sample SET n = 10 WHERE stream_id = 1 AND n = 11;
            UPDATE sample SET n = 11 WHERE stream_id = 1 AND n = -1
            """),
        Corruption("a row is deleted", [.arithmetic, .content], "DELETE FROM sample WHERE stream_id = 1 AND n = 9000"),
        Corruption(
            "a row is deleted and entered as lost", [.content],
            """
            DELETE FROM sample WHERE stream_id = 1 AND n = 9000;
            INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty)
            VALUES (1, 9000, 0, 1, 'packetLost', 1, 1, 'counted')
            """),
        Corruption(
            "a row is added at the end", [.content, .extent], n: 10240,
            "INSERT INTO sample (stream_id, n, c1) VALUES (1, 10240, 5)"),
        Corruption(
            "a row is added into the gap", [.content, .arithmetic],
            "INSERT INTO sample (stream_id, n, c1, c2, c3, c4) VALUES (1, 2600, 5, 5, 5, 5)"),
        Corruption(
            "a value is removed and entered as lost", [.content],
            """
            UPDATE sample SET c3 = NULL WHERE stream_id = 1 AND n = 9000;
            INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty)
            VALUES (1, 9000, 3, 1, 'packetLost', 1, 1, 'counted')
            """),
        Corruption(
            "a value is removed", [.content, .arithmetic], "UPDATE sample SET c3 = NULL WHERE stream_id = 1 AND n = 9000"),
        Corruption(
            "a zero is written where a channel is missing", [.content, .arithmetic],
            "UPDATE sample SET c2 = 0 WHERE stream_id = 1 AND n = 5001"),
        Corruption(
            "a recovered row is changed", [.content], n: 2700, "UPDATE sample SET c1 = 0 WHERE stream_id = 1 AND n = 2750"),
        Corruption(
            "a value that came late is changed", [.content], n: 5002,
            "UPDATE sample SET c2 = 99 WHERE stream_id = 1 AND n = 5004"),
        Corruption(
            "a value that came late to a recovered row is changed", [.content], n: 2810,
            "UPDATE sample SET c1 = 99 WHERE stream_id = 1 AND n = 2810"),
        Corruption(
            "rows are shifted by one", [.content, .extent],
            """
            UPDATE sample SET n = -n WHERE stream_id = 1 AND n > 9000;
            UPDATE sample SET n = 1 - n WHERE stream_id = 1 AND n < 0
            """
        ),
        Corruption(
            "two recordings' rows are exchanged", [.content],
            """
            UPDATE sample SET c1 = c1 + 1 WHERE stream_id = 3;
            UPDATE sample SET stream_id = -1 WHERE stream_id = 1; UPDATE sample SET stream_id = 1 WHERE stream_id = 3;
            UPDATE sample SET stream_id = 3 WHERE stream_id = -1
            """),
        Corruption(
            "two recordings' rows are exchanged with their blocks", [.content],
            """
            UPDATE sample SET stream_id = -1 WHERE stream_id = 1; UPDATE sample SET stream_id = 1 WHERE stream_id = 3;
            UPDATE sample SET stream_id = 3 WHERE stream_id = -1;
            UPDATE block SET stream_id = -1 WHERE stream_id = 1; UPDATE block SET stream_id = 1 WHERE stream_id = 3;
            UPDATE block SET stream_id = 3 WHERE stream_id = -1
            """),
        Corruption(
            "a value is larger than a headset sends", [.content],
            "UPDATE sample SET c1 = c1 + 4294967296 WHERE stream_id = 1 AND n = 3"),
    ]

    static let facts = [
        Corruption("a gap is deleted", [.arithmetic, .content], "DELETE FROM gap WHERE stream_id = 1 AND first_n = 2560"),
        Corruption(
            "a gap is longer", [.content, .arithmetic], "UPDATE gap SET count = 513 WHERE stream_id = 1 AND first_n = 2560"),
        Corruption(
            "a gap has another cause", [.content], "UPDATE gap SET cause = 'operator' WHERE stream_id = 1 AND first_n = 2560"),
        Corruption(
            "a gap is known in another way", [.content],
            "UPDATE gap SET certainty = 'timed' WHERE stream_id = 1 AND first_n = 2560"),
        Corruption(
            "a gap says that more was recovered", [.arithmetic, .content],
            "UPDATE gap SET recovered = 201 WHERE stream_id = 1 AND first_n = 2560"),
        Corruption(
            "a gap of a second is planted behind the end", [.content, .arithmetic],
            """
            INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty)
            VALUES (1, 20000, 0, 256, 'linkLost', 1, 1, 'counted')
            """),
        Corruption("an epoch begins elsewhere", [.content], "UPDATE epoch SET first_index = 5 WHERE stream_id = 1"),
        Corruption("an epoch begins behind rows", [.extent, .content], "UPDATE epoch SET first_n = 500 WHERE stream_id = 1"),
        Corruption("an epoch is deleted", [.content], "DELETE FROM epoch WHERE stream_id = 1"),
        Corruption("another headset's boot", [.content], "UPDATE epoch SET boot_identifier = 8 WHERE stream_id = 1"),
        Corruption(
            "a segment's period is half as much again", [.clock, .content],
            "UPDATE segment SET period_ns = period_ns * 1.5 WHERE stream_id = 1 AND first_n = 0"),
        Corruption(
            "a segment's period is a little longer", [.content],
            "UPDATE segment SET period_ns = period_ns * 1.0001 WHERE stream_id = 1 AND first_n = 0"),
        Corruption(
            "a segment begins a minute earlier", [.clock, .content],
            "UPDATE segment SET reference_boottime_ns = reference_boottime_ns - 60000000000 WHERE stream_id = 1 AND first_n = 0"
        ),
        Corruption(
            "a segment begins a minute later", [.clock, .content],
            "UPDATE segment SET reference_boottime_ns = reference_boottime_ns + 60000000000 WHERE stream_id = 1"),
        Corruption(
            "a segment is deleted", [.content, .extent],
            "DELETE FROM segment WHERE stream_id = 1 AND first_n = (SELECT max(first_n) FROM segment WHERE stream_id = 1)"),
        Corruption("all segments are deleted", [.extent, .content], "DELETE FROM segment WHERE stream_id = 1"),
        Corruption(
            "the wall clock is an hour off", [.content], "UPDATE clock_offset SET offset_ns = offset_ns + 3600000000000"),
        Corruption("a clock offset is deleted", [.content], "DELETE FROM clock_offset WHERE id = 1"),
        Corruption(
            "an arrival is moved", [.content],
            "UPDATE arrival SET boottime_ns = boottime_ns + 7 WHERE stream_id = 1 AND n = 255"),
        Corruption("arrivals are deleted", [.content], "DELETE FROM arrival WHERE stream_id = 1 AND n > 2000"),
        Corruption(
            "a headset's clock runs on", [.content],
            "UPDATE arrival SET device_ticks = device_ticks + 1 WHERE stream_id = 1 AND n = 255"),
        Corruption(
            "a channel's scale is doubled", [.content],
            "UPDATE channel SET scale = scale * 2 WHERE stream_id = 1 AND number = 1"),
        Corruption(
            "a channel's unit is another", [.content], "UPDATE channel SET unit = 'V' WHERE stream_id = 1 AND number = 1"),
        Corruption(
            "two channels' names are exchanged", [.content],
            """
            UPDATE channel SET name = CASE number WHEN 1 THEN 'AF7' ELSE 'TP9' END WHERE stream_id = 1 AND number IN (1, 2);
            UPDATE channel_declaration SET name = CASE number WHEN 1 THEN 'AF7' ELSE 'TP9' END
                WHERE stream_id = 1 AND number IN (1, 2)
            """),
        Corruption(
            "a channel's range is another", [.content],
            "UPDATE channel SET raw_maximum = 9 WHERE stream_id = 2 AND number = 3"),
        Corruption("a channel is deleted", [.content, .file], "DELETE FROM channel WHERE stream_id = 1 AND number = 4"),
        Corruption("an annotation is edited", [.content], "UPDATE annotation SET description = 'eyes closedx' WHERE id = 1"),
        Corruption(
            "an annotation is moved", [.content], "UPDATE annotation SET boottime_ns = boottime_ns + 1000000 WHERE id = 1"),
        Corruption("an annotation is deleted", [.content], "DELETE FROM annotation WHERE id = 2"),
        Corruption(
            "an annotation is added in the operator's name", [.content],
            """
            INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, description, source)
            VALUES (1, 1, 5, 'seizure', 'operator')
            """),
        Corruption("a stream has another frequency", [.content], "UPDATE stream SET sampling_frequency = 128 WHERE id = 1"),
        Corruption(
            "two recordings' streams are exchanged", [.content],
            """
            UPDATE stream SET recording_id = recording_id + 100 WHERE name = 'eeg';
            UPDATE stream SET recording_id = 103 - recording_id WHERE name = 'eeg'
            """),
        Corruption("a recording is of another subject", [.content], "UPDATE recording SET subject = 'S99' WHERE id = 1"),
        Corruption("a headset is another one", [.content], "UPDATE headset SET serial_number = 'X' WHERE id = 1"),
        Corruption(
            "a whole stream is removed with everything that is said of it", [.content],
            (["sample", "block", "gap", "segment", "arrival", "epoch", "channel_declaration", "channel"]
                .map { "DELETE FROM \($0) WHERE stream_id = 2;" } + ["DELETE FROM stream WHERE id = 2"]).joined()),
        Corruption(
            "a link was made with another firmware", [.content],
            "UPDATE provenance SET facts = '{\"firmware_revision\":\"9\"}' WHERE id = 1"),
        Corruption("a link is deleted", [.content], "DELETE FROM link WHERE id = 1"),
        Corruption(
            "a subject is another sex", [.content], "UPDATE recording_detail SET subject_sex = 'male' WHERE recording_id = 1"),
        Corruption("a property is deleted", [.content], "DELETE FROM recording_property WHERE recording_id = 1"),
        Corruption("a stream of no recording", [.file, .content], "UPDATE stream SET recording_id = 77 WHERE id = 2"),
    ]

    /// What people read through, what they said before, and what headsets said.
    static let views = [
        Corruption(
            "a view of a stream doubles a channel", [.content],
            """
            DROP VIEW eeg_1;
            CREATE VIEW "eeg_1" AS SELECT n, NULL AS time, NULL AS unix_ns, c1 * 2 AS "TP9" FROM sample WHERE stream_id = 1
            """),
        Corruption("a view of a stream is deleted", [.content], "DROP VIEW eeg_2"),
        Corruption(
            "a stream's view by the minute is another's", [.content],
            """
            DROP VIEW eeg_1_minute; CREATE VIEW "eeg_1_minute" AS SELECT * FROM eeg_2_minute
            """),
        Corruption(
            "the times of annotations are read an hour late", [.content],
            """
            PRAGMA writable_schema = 1;
            UPDATE sqlite_schema SET sql = replace(
                sql, 'k.offset_ns + o.boottime_ns', 'k.offset_ns + 3600000000000 + o.boottime_ns')
            WHERE name = 'annotation_time'
            """),
        Corruption("corrections have no effect any more", [.content], "DROP TRIGGER channel_is_corrected"),
        Corruption(
            "what was said of a subject before is changed", [.content],
            "UPDATE recording_edit SET before = 'male' WHERE recording_id = 1 AND field = 'subject_sex'"),
        Corruption("what was said before is deleted", [.content], "DELETE FROM recording_edit WHERE recording_id = 1"),
        Corruption("a headset's words are changed", [.content], "UPDATE headset_message SET text = 'ok' WHERE link_id = 1"),
        Corruption("a headset's refusal is deleted", [.content], "DELETE FROM headset_message WHERE kind = 'refused'"),
    ]

    static let evidence = [
        Corruption("a block is deleted", [.content], "DELETE FROM block WHERE stream_id = 1 AND chain = 'live' AND number = 1"),
        Corruption(
            "the last block is deleted", [.content, .extent],
            "DELETE FROM block WHERE stream_id = 1 AND chain = 'live' AND number = 2"),
        Corruption(
            "a late block is deleted", [.content], "DELETE FROM block WHERE stream_id = 1 AND chain = 'late' AND number = 0"),
        Corruption(
            "a digest is another", [.content],
            "UPDATE block SET digest = zeroblob(32) WHERE stream_id = 1 AND chain = 'live' AND number = 0"),
        Corruption(
            "a sum of digests is deleted", [.content], "DELETE FROM digest_sum WHERE table_name = 'gap' AND owner_id = 1"),
        Corruption(
            "a row is passed off as one of an earlier version", [.content],
            """
            INSERT INTO sample (stream_id, n, c1, c2, c3, c4) VALUES (1, -1, 1, 1, 1, 1);
            INSERT INTO undigested_rows VALUES (1, -1, -1)
            """),
    ]

    @Test("by another program", arguments: rows + facts + views + evidence)
    func isNoticed(corruption: Corruption) throws {
        let fixture = try EvidenceFixture()
        try fixture.write(corruption.sql)
        let report = try fixture.audit()
        let noticed = Set(report.findings.map(\.check.evidence))
        #expect(corruption.evidence.isSubset(of: noticed), "\(report.findings)")
        if let n = corruption.n {
            let found = report.findings.filter { $0.check.evidence == .content }
            #expect(found.compactMap(\.n).min() == n, "\(found)")
        }
        // What a quick audit is to notice, it notices.
        let quick = Set(try fixture.audit(isQuick: true).findings.map(\.check.evidence))
        #expect(quick.isSubset(of: [.arithmetic, .extent, .clock]))
        #expect(quick.isSuperset(of: corruption.evidence.intersection([.extent, .clock])))
    }

    @Test("there are more than thirty kinds")
    func count() {
        #expect((Self.rows + Self.facts + Self.views + Self.evidence).count >= 75)
    }

    // MARK: The file

    @Test("a page of the file", arguments: [3, 20, 60, 120])
    func damagedPage(number: Int) throws {
        let fixture = try EvidenceFixture()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path))
        try file.seek(toOffset: UInt64(number) * 4096 + 2048)
        try file.write(contentsOf: Data((0..<2048).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }))
        try file.close()
        #expect(try !fixture.audit().holds)
    }

    @Test("the file is cut", arguments: [1, 7, 40])
    func cut(pages: Int) throws {
        let fixture = try EvidenceFixture()
        let size = try #require(try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? UInt64)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path))
        try file.truncate(atOffset: size - UInt64(pages) * 4096)
        try file.close()
        let report = try fixture.audit()
        #expect(report.findings.contains { $0.check.evidence == .file }, "\(report.findings)")
    }

    @Test("another database is put in its place, which has more rows in the same blocks")
    func anotherDatabase() throws {
        let fixture = try EvidenceFixture()
        let witness = fixture.path + "-witness"
        let store = try fixture.open()
        func commit(_ range: Range<Int64>) throws {
            var batch = WriteBatch(number: UInt64(range.lowerBound))
            let segment = Fixture.segment(
                StreamID(rawValue: 1), 5120...range.upperBound - 1, frequency: 256, reference: Fixture.start + .seconds(1))
            batch.samples = [Fixture.rows(StreamID(rawValue: 1), range, channels: 4)]
            batch.changes = [.segment(segment)]
            try store.commit(batch)
            try store.synchronise()
        }
        // The block is not full when the witness is written, and goes on.
        try commit(10240..<10300)
        let kept = try String(contentsOfFile: witness, encoding: .utf8)
        try commit(10300..<10400)
        try store.close()
        try kept.write(toFile: witness, atomically: true, encoding: .utf8)
        #expect(try fixture.audit().findings == [])
        // A database that is consistent in itself, with another row than the witness saw: its digest is the one of its rows.
        let digest = try BlockUnderTest.digest(
            in: fixture, after: "UPDATE sample SET c1 = c1 + 1 WHERE stream_id = 1 AND n = 10250")
        try fixture.write("UPDATE block SET digest = x'\(digest)' WHERE stream_id = 1 AND chain = 'live' AND first_n = 10240")
        #expect(try fixture.audit().findings.map(\.check) == [.nothingIsOlder])
    }

    /// What a forger would write.
    private enum BlockUnderTest {
        static func digest(in fixture: EvidenceFixture, after sql: String) throws -> String {
            try fixture.write(sql)
            let queue = try DatabaseQueue(path: fixture.path)
            defer { try? queue.close() }
            return try queue.read { db in
                let number = try Int.fetchOne(db, sql: "SELECT number FROM block WHERE stream_id = 1 AND first_n = 10240")
                let block = BlockBeginning(stream: 1, chain: "live", number: try #require(number))
                return try #require(try block.digest(rows: 160, in: db)).hexadecimal
            }
        }
    }

    @Test("an older copy is put in its place")
    func olderCopy() throws {
        let fixture = try EvidenceFixture()
        let copy = fixture.directory.path("copy.sqlite")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
        let store = try fixture.open()
        var batch = WriteBatch(number: 90)
        batch.samples = [Fixture.rows(StreamID(rawValue: 1), 10240..<10300, channels: 4)]
        batch.changes = [
            .segment(
                Fixture.segment(StreamID(rawValue: 1), 5120...10299, frequency: 256, reference: Fixture.start + .seconds(1)))
        ]
        try store.commit(batch)
        try store.synchronise()
        try store.close()
        #expect(try fixture.audit().findings == [])
        try FileManager.default.removeItem(atPath: fixture.path)
        try FileManager.default.copyItem(atPath: copy, toPath: fixture.path)
        let report = try fixture.audit()
        #expect(report.findings.map(\.check) == [.nothingIsOlder], "\(report.findings)")
        // On purpose: the witness goes with it.
        try FileManager.default.removeItem(atPath: fixture.path + "-witness")
        #expect(try fixture.audit().holds)
    }
}
