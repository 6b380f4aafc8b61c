import Bluetooth
import Evidence
import Foundation
import GRDB
import Synchronization
import Testing

@testable import Storage

/// Files that an older version has written, which come in through a copy.
@Suite struct OlderMergeTests {
    private static let samples = "SELECT * FROM sample ORDER BY stream_id, n"
    private static let descriptions = "SELECT description FROM annotation ORDER BY 1"
    /// The last step before recordings had UUIDs, and one before there was evidence.
    private static let (withoutUUIDs, withoutEvidence) = ("m0034_process_death", "m0022_annotation")

    /// A database of two recordings, and the same as an older version had it.
    private static func older(_ step: String) throws -> MergeFixture {
        let (fixture, other) = (try MergeFixture(), try EvidenceFixture())
        try FileManager.default.copyItem(atPath: other.path, toPath: fixture.path("present"))
        try FileManager.default.copyItem(atPath: other.path, toPath: fixture.path("other"))
        try fixture.makeOlder("other", upTo: step)
        return fixture
    }

    @Test(arguments: [
        "m0003_not_sent", "m0011_changed_streams", "m0014_quarantine", "m0020_pause", "m0022_annotation", "m0023_evidence",
        "m0026_digested_tables", "m0031_deletion", "m0034_process_death", "m0035_identity", "m0037_merge",
    ])
    func aFileOfAnOlderVersionComesInOnce(step: String) throws {
        let fixture = try Self.older(step)
        let rehearsed = try fixture.mergeOlder("other", into: "here", isRehearsal: true)
        #expect(try fixture.rows("here", Self.samples).isEmpty)
        let report = try fixture.mergeOlder("other", into: "here")
        #expect(report == rehearsed)
        #expect(report.recordings.map(\.outcome) == [.taken, .taken])
        for query in [Self.samples, Self.descriptions, "SELECT name, model FROM headset ORDER BY id"] {
            #expect(try fixture.rows("here", query) == fixture.rows("present", query), "\(query)")
        }
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        let before = try fixture.everything("here")
        let again = try fixture.mergeOlder("other", into: "here")
        #expect(again.isNothingNew && again.recordings.map(\.outcome) == [.united, .united])
        #expect(try fixture.everything("here") == before)
    }

    @Test func whatNamesRowsIsDerivedAndDiffers() throws {
        let fixture = try Self.older(Self.withoutUUIDs)
        for name in ["one", "two"] { try fixture.mergeOlder("other", into: name) }
        let version8 = #/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
        for table in ["headset", "recording", "annotation", "link"] {
            let uuids = try ["one", "two"].map { try fixture.rows($0, "SELECT uuid FROM \(table) ORDER BY id") }
            #expect(!uuids[0].isEmpty && uuids[0] == uuids[1], "\(table)")
            #expect(Set(uuids[0]).count == uuids[0].count, "\(table)")
            #expect(uuids[0].allSatisfy { $0.dropFirst(2).dropLast(2).wholeMatch(of: version8) != nil }, "\(uuids[0])")
        }
    }

    @Test func aFileThatHasUUIDsKeepsThem() throws {
        let fixture = try Self.older("m0035_identity")
        try fixture.mergeOlder("other", into: "here")
        for table in ["headset", "recording", "annotation", "link"] {
            let query = "SELECT uuid FROM \(table) ORDER BY 1"
            #expect(try fixture.rows("here", query) == fixture.rows("present", query), "\(table)")
        }
    }

    /// A card that was pulled, and one whose files were copied without the shared memory.
    @Test(arguments: [["", "-wal", "-shm"], ["", "-wal"]]) func whatStandsInTheLogComesInToo(suffixes: [String]) throws {
        let fixture = try MergeFixture("other")
        try fixture.record("other", [100..<300])
        try fixture.makeOlder("other", upTo: Self.withoutEvidence)
        let queue = try DatabaseQueue(path: fixture.path("other"))
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, description, source)
                    VALUES (1, 1, 5, 'in the log', 'operator')
                    """)
        }
        for suffix in suffixes {
            try FileManager.default.copyItem(
                atPath: fixture.path("other") + suffix, toPath: fixture.path("pulled") + suffix)
        }
        try queue.close()
        try fixture.mergeOlder("pulled", into: "here")
        #expect(
            try fixture.rows("here", Self.descriptions) == [#"["begun"]"#, #"["in other"]"#, #"["in the log"]"#])
        #expect(try fixture.mergeOlder("pulled", into: "here").isNothingNew)
    }

    @Test func aFileThatHasGrownBringsWhatIsNew() throws {
        let fixture = try MergeFixture("short", "long")
        try fixture.record("short", [100..<200, 210..<300])
        try fixture.record("long", [100..<200, 210..<400])
        for name in ["short", "long"] { try fixture.makeOlder(name, upTo: Self.withoutEvidence) }
        try fixture.mergeOlder("short", into: "here")
        let report = try fixture.mergeOlder("long", into: "here")
        #expect(report.recordings.map(\.outcome) == [.united])
        #expect(report.recordings.first?.streams.first?.taken == 100)
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
    }

    // MARK: Copies that were brought up to date apart from each other

    @Test func aCopyOfWhatWasBroughtUpToDateHereIsUnitedWithIt() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<200])
        try fixture.record("other", [100..<300])
        for name in ["here", "other"] { try fixture.makeOlder(name, upTo: Self.withoutEvidence) }
        // At random, as in every database that is opened for writing.
        try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot).close()
        let own = try fixture.rows("here", "SELECT uuid FROM recording")
        let report = try fixture.mergeOlder("other", into: "here")
        #expect(report.recordings.map(\.outcome) == [.united] && report.recordings.first?.annotations == 1)
        #expect(report.recordings.first?.streams.first?.taken == 100)
        #expect(try fixture.rows("here", "SELECT uuid FROM recording") == own)
        #expect(try fixture.rows("here", "SELECT count(*) FROM headset") == ["[1]"])
        #expect(
            try fixture.rows("here", Self.descriptions) == [#"["begun"]"#, #"["in here"]"#, #"["in other"]"#])
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        let before = try fixture.everything("here")
        #expect(try fixture.mergeOlder("other", into: "here").isNothingNew)
        try AcquisitionStore(path: fixture.path("other"), hostBoot: Fixture.boot).close()
        #expect(try fixture.merge("other", into: "here").isNothingNew)
        #expect(try fixture.everything("here") == before)
    }

    @Test func aFileThatIsBroughtUpToDateLaterIsTheSame() throws {
        let fixture = try MergeFixture("other")
        try fixture.record("other", [100..<300])
        // One without a sample, of a headset of its own.
        let store = try AcquisitionStore(path: fixture.path("other"), hostBoot: Fixture.boot)
        try store.control.startRecording(headset: "third", model: "buffered-eeg", at: Fixture.start + .seconds(20))
        try store.control.stopRecording(headset: "third", at: Fixture.start + .seconds(21))
        try store.close()
        try fixture.makeOlder("other", upTo: Self.withoutUUIDs)
        #expect(try fixture.mergeOlder("other", into: "here").recordings.map(\.outcome) == [.taken, .taken])
        let later = try ControlStore(path: fixture.path("other"), hostBoot: Fixture.boot)
        try later.mark(RecordingID(rawValue: 1), text: "later", durationSeconds: nil, at: Fixture.start + .seconds(3))
        try later.close()
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.map(\.outcome) == [.united, .united])
        #expect(report.recordings.map(\.annotations) == [1, 0])
        #expect(try fixture.rows("here", "SELECT name FROM headset ORDER BY id") == [#"["left"]"#, #"["third"]"#])
        #expect(try fixture.rows("here", "SELECT count(*) FROM recording") == ["[2]"])
        #expect(try fixture.merge("other", into: "here").isNothingNew)
        #expect(try fixture.audit("here").holds)
    }

    /// An annotation that was corrected, and corrected back, says twice what only the second one of the two says still.
    @Test func annotationsWithTheSameWordsStayDistinct() throws {
        let fixture = try MergeFixture("here", "other")
        for name in ["here", "other"] {
            try fixture.record(name, [100..<200])
            try fixture.write(
                """
                DELETE FROM annotation WHERE description LIKE 'in %';
                UPDATE annotation SET withdrawn_host_boot_id = 1, withdrawn_boottime_ns = 7 WHERE description = 'begun';
                INSERT INTO annotation (id, recording_id, host_boot_id, boottime_ns, description, source, replaces,
                    withdrawn_host_boot_id, withdrawn_boottime_ns)
                SELECT 11, 1, host_boot_id, boottime_ns, 'ended', source, id, 1, 8 FROM annotation;
                INSERT INTO annotation (id, recording_id, host_boot_id, boottime_ns, description, source, replaces)
                SELECT 12, 1, host_boot_id, boottime_ns, 'begun', source, 11 FROM annotation WHERE id = 11
                """, to: name)
            try fixture.makeOlder(name, upTo: Self.withoutEvidence)
        }
        try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot).close()
        #expect(try fixture.mergeOlder("other", into: "here").isNothingNew)
        #expect(
            try fixture.rows("here", "SELECT description, withdrawn_boottime_ns FROM annotation ORDER BY id") == [
                #"["begun", 7]"#, #"["ended", 8]"#, #"["begun", NULL]"#,
            ])
    }

    @Test func theMachineOfAnOlderFileIsNotThisOne() throws {
        let fixture = try MergeFixture("other")
        try fixture.record("other", [100..<300])
        try fixture.makeOlder("other", upTo: Self.withoutUUIDs)
        let control = try ControlStore(path: fixture.path("here"), hostBoot: Fixture.secondBoot)
        let identity = MachineIdentity(boardSerialNumber: "10000000d0a1b2c3", machineID: nil)
        _ = try control.note(#require(identity), at: Fixture.start)
        try control.close()
        try fixture.mergeOlder("other", into: "here")
        let store = try ReadOnlyStore(path: fixture.path("here"), hostBoot: Fixture.secondBoot)
        #expect(try store.machines().map(\.recordings) == [0])
        #expect(try store.machineUUID(of: RecordingID(rawValue: 1)) == nil)
    }

    // MARK: What does not come in

    @Test(arguments: [
        ("UPDATE sample SET c1 = 1 WHERE n = 150", "auditFails"), ("DELETE FROM gap", "auditFails"),
        ("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name IN ('gap', 'segment')", "damaged"),
        ("PRAGMA ignore_check_constraints = ON; UPDATE recording SET desired_state = 'x'", "damaged"),
        ("DROP TABLE impedance", "foreignSchema"), ("ALTER TABLE gap ADD COLUMN x INTEGER", "foreignSchema"),
        ("DELETE FROM grdb_migrations WHERE identifier = 'm0005_capture'", "foreignSchema"),
    ])
    func aSpoiledFileDoesNotComeIn(sql: String, error: String) throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("other", [100..<300, 310..<400])
        try fixture.makeOlder("other", upTo: Self.withoutUUIDs)
        try fixture.write(sql, to: "other")
        let before = try fixture.everything("here")
        do {
            try fixture.mergeOlder("other", into: "here")
            Issue.record("it came in")
        } catch let refusal as MergeError {
            #expect("\(refusal)".hasPrefix(error), "\(refusal)")
        }
        #expect(try fixture.everything("here") == before)
    }

    @Test func aFileWithSpoiledPagesDoesNotComeIn() throws {
        let fixture = try MergeFixture("other")
        try fixture.record("other", [100..<300])
        try fixture.makeOlder("other", upTo: Self.withoutUUIDs)
        let file = URL(fileURLWithPath: fixture.path("other"))
        let whole = try Data(contentsOf: file)
        for part in 1..<12 {
            var data = whole
            for offset in stride(from: 0, to: 1024, by: 3) { data[whole.count / 12 * part + offset] ^= 0x5A }
            try data.write(to: file)
            // Where the schema cannot be read, it is refused as any other file.
            if try OlderDatabase(path: file.path) == nil { continue }
            // A page that is used for nothing may be anything.
            do {
                try fixture.mergeOlder("other", into: "here\(part)")
            } catch {
                #expect(try fixture.rows("here\(part)", Self.samples).isEmpty)
            }
            #expect(try fixture.audit("here\(part)").holds)
        }
    }

    @Test func aTriggerOfAnotherProgramIsNotRun() throws {
        let fixture = try Self.older(Self.withoutUUIDs)
        try fixture.write("CREATE TRIGGER mine AFTER UPDATE ON annotation BEGIN DELETE FROM gap; END", to: "other")
        #expect(try fixture.mergeOlder("other", into: "here").recordings.count == 2)
        let gaps = "SELECT stream_id, first_n, count FROM gap ORDER BY 1, 2"
        #expect(try fixture.rows("here", gaps) == fixture.rows("present", gaps))
    }

    @Test func anotherVersionIsNoOlderOne() throws {
        let fixture = try Self.older("m0037_merge")
        #expect(try OlderDatabase(path: fixture.path("present")) == nil)
        #expect(try OlderDatabase(path: fixture.path("absent")) == nil)
        try Data("a text".utf8).write(to: URL(fileURLWithPath: fixture.path("text")))
        #expect(try OlderDatabase(path: fixture.path("text")) == nil)
        try fixture.write("INSERT INTO grdb_migrations VALUES ('m9999_future')", to: "other")
        let before = try fixture.bytes(of: "other")
        #expect(
            throws: StorageError.newerSchema(path: fixture.path("other"), unknownMigrations: ["m9999_future"])
        ) { try OlderDatabase(path: fixture.path("other")) }
        #expect(try fixture.bytes(of: "other") == before)
    }

    @Test func whereThereIsNoRoomNothingIsWritten() throws {
        let fixture = try Self.older(Self.withoutUUIDs)
        let older = try #require(try OlderDatabase(path: fixture.path("other")))
        let home = try TemporaryDirectory()
        let full = DiskReserve { _ in DiskRoom(freeBytes: 200_000_000, totalBytes: 8_000_000_000) }
        do {
            _ = try older.broughtUpToDate(in: home.url.path, reserve: full)
            Issue.record("it was copied")
        } catch StorageError.diskFull(let detail) {
            #expect(detail.contains("other.sqlite, of an older version, through a copy needs"), "\(detail)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path).isEmpty)
    }

    @Test func aDiskThatFillsMeanwhileEndsTheCopy() throws {
        let fixture = try Self.older(Self.withoutUUIDs)
        try fixture.write("CREATE TABLE ballast AS SELECT zeroblob(20000000)", to: "other")
        let older = try #require(try OlderDatabase(path: fixture.path("other")))
        let home = try TemporaryDirectory()
        let looks = Mutex(0)
        let filling = DiskReserve { _ in
            let look = looks.withLock { count in
                count += 1
                return count
            }
            return DiskRoom(freeBytes: look < 3 ? 8_000_000_000 : 1, totalBytes: 8_000_000_000)
        }
        do {
            _ = try older.broughtUpToDate(in: home.url.path, reserve: filling)
            Issue.record("it was copied")
        } catch StorageError.diskFull {
            // One before it begins, and one after each 8 MiB.
            #expect(looks.withLock(\.self) == 3)
        }
    }

    @Test func whatTheWitnessOfAnOlderFileSaysCounts() throws {
        let fixture = try Self.older(Self.withoutUUIDs)
        let head = Witness.Head(
            stream: try #require(try fixture.rows("other", "SELECT uuid FROM stream WHERE id = 1").first)
                .filter { !#"[]""#.contains($0) },
            chain: .live, number: 99, rowCount: 1, digest: Digest(of: "what was cut off"))
        Witness(heads: [head]).write(beside: fixture.path("other"))
        do {
            try fixture.mergeOlder("other", into: "here")
            Issue.record("it came in")
        } catch MergeError.auditFails(_, let findings) {
            #expect(findings.contains { $0.contains("older copy") }, "\(findings)")
        }
    }
}
