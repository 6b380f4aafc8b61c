import Bluetooth
import Foundation
import Testing

@testable import Storage

/// What does not come in, and that nothing is changed then; and recordings of one headset by two machines.
@Suite struct MergeRefusalTests {
    /// A database with a recording that has ended, and another one that is spoiled.
    private static func spoiled(_ sql: String) throws -> MergeFixture {
        let fixture = try MergeFixture("here", "other")
        for name in ["here", "other"] { try fixture.record(name, [100..<300, 310..<400]) }
        try fixture.write(sql, to: "other")
        return fixture
    }

    private static func refusal(_ fixture: MergeFixture) throws -> MergeError? {
        let (here, other) = (try fixture.everything("here"), try Data(contentsOf: URL(fileURLWithPath: fixture.path("other"))))
        var refusal: MergeError?
        do {
            _ = try fixture.merge("other", into: "here")
        } catch let error as MergeError {
            refusal = error
        }
        #expect(try fixture.everything("here") == here)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("other"))) == other)
        return refusal
    }

    @Test(arguments: [
        "UPDATE sample SET c1 = 1 WHERE n = 150", "UPDATE gap SET count = 9", "DELETE FROM sample WHERE n > 380",
        "UPDATE segment SET period_ns = 1", "UPDATE recording SET label = 'x'", "DROP VIEW gap_time",
        "UPDATE headset SET model = 'muse'", "DELETE FROM host_boot",
    ])
    func whatContradictsItsEvidenceDoesNotComeIn(sql: String) throws {
        let refusal = try Self.refusal(Self.spoiled(sql))
        guard case .auditFails = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    @Test(arguments: [
        "CREATE TABLE other AS SELECT * FROM sample; DROP TABLE sample; ALTER TABLE other RENAME TO sample",
        "ALTER TABLE annotation RENAME TO mine; CREATE VIEW annotation AS SELECT * FROM mine", "DROP TABLE impedance",
        "ALTER TABLE gap ADD COLUMN x INTEGER GENERATED ALWAYS AS (first_n) VIRTUAL",
    ])
    func whatIsNoTableOfEegsyncDoesNotComeIn(sql: String) throws {
        let refusal = try Self.refusal(Self.spoiled("PRAGMA legacy_alter_table = ON; " + sql))
        guard case .foreignSchema = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    @Test(arguments: [
        "UPDATE gap SET first_n = 9223372036854775800", "UPDATE segment SET period_ns = 9e17",
        "PRAGMA ignore_check_constraints = ON; UPDATE epoch SET first_index = -9223372036854775807",
        "PRAGMA ignore_check_constraints = ON; UPDATE recording SET desired_state = 'x'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name IN ('gap', 'segment')",
    ])
    func whatIsDamagedDoesNotComeIn(sql: String) throws {
        #expect(try Self.refusal(Self.spoiled(sql)) != nil)
    }

    @Test func aFileWithSpoiledPagesDoesNotComeIn() throws {
        let fixture = try Self.spoiled("SELECT 1")
        let file = URL(fileURLWithPath: fixture.path("other"))
        let whole = try Data(contentsOf: file)
        let pages = whole.count / StoreOptions.pageSize
        for page in [1, pages / 3, pages / 2, pages - 1] {
            var data = whole
            for offset in stride(from: 0, to: StoreOptions.pageSize, by: 3) {
                data[page * StoreOptions.pageSize + offset] ^= 0x5A
            }
            try data.write(to: file)
            let here = try fixture.everything("here")
            // A page that is used for nothing may be anything.
            do {
                let report = try fixture.merge("other", into: "here")
                #expect(report.differing == 0)
            } catch {
                #expect(try fixture.everything("here") == here)
            }
            #expect(try fixture.audit("here").holds)
        }
        try whole.prefix(whole.count / 2).write(to: file)
        #expect(throws: (any Error).self) { try fixture.merge("other", into: "here") }
    }

    @Test func aNewerSchemaIsRefusedAndAnOlderOneToo() throws {
        let newer = try Self.spoiled("INSERT INTO grdb_migrations VALUES ('m9999_future')")
        #expect(throws: StorageError.self) { try newer.merge("other", into: "here") }
        let older = try Self.spoiled("DELETE FROM grdb_migrations WHERE identifier = 'm0037_merge'")
        guard case .olderSchema = try Self.refusal(older) else {
            Issue.record("it was not refused")
            return
        }
    }

    @Test func aTriggerOfAnotherProgramIsNotRun() throws {
        let fixture = try Self.spoiled("CREATE TRIGGER mine AFTER INSERT ON annotation BEGIN DELETE FROM gap; END")
        let other = try Data(contentsOf: URL(fileURLWithPath: fixture.path("other")))
        #expect(try fixture.merge("other", into: "here").recordings.first?.annotations == 1)
        #expect(try fixture.rows("here", "SELECT first_n FROM gap") == ["[300]"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("other"))) == other)
    }

    @Test func theDatabaseItselfAndARecordingThatGoesOnAreRefused() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("other", [100..<200])
        #expect(throws: MergeError.sameDatabase(path: fixture.path("here"))) { try fixture.merge("here", into: "here") }
        #expect(throws: MergeError.goesOn(recording: 1)) { try fixture.merge("other", into: "here") }
    }

    @Test func whatContradictsTheEvidenceTogetherDoesNotComeIn() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<200])
        try fixture.record("other", [100..<300])
        // What is here was changed by another program: the ledger of both would not prove itself.
        try fixture.write("INSERT INTO gap VALUES (99, 1, 50, 0, 10, 'linkLost', 0, 1, 0, 'counted', NULL)", to: "here")
        guard case .contradiction = try Self.refusal(fixture) else {
            Issue.record("it came in")
            return
        }
    }

    @Test func aRehearsalSaysTheSameAndChangesNothing() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<200])
        try fixture.record("other", [100..<300], change: [150: 1])
        let before = try fixture.everything("here")
        let rehearsed = try fixture.merge("other", into: "here", isRehearsal: true)
        #expect(try fixture.everything("here") == before)
        #expect(try fixture.merge("other", into: "here") == rehearsed)
    }

    // MARK: One headset, two machines

    /// Two recordings of one headset, each begun in a database of its own.
    private static func twins(change: [Int64: Int32] = [:], boot: Int = 7, index: Int64 = 0) throws -> MergeFixture {
        let (fixture, stranger) = (try MergeFixture("here"), try MergeFixture("other"))
        try fixture.record("here", [100..<300])
        try stranger.record("other", [200..<400], change: change)
        try FileManager.default.copyItem(atPath: stranger.path("other"), toPath: fixture.path("other"))
        for name in ["here", "other"] {
            let store = try AcquisitionStore(path: fixture.path(name), hostBoot: Fixture.boot)
            var batch = WriteBatch(number: 99)
            batch.changes = [.identityProof(IdentityProofRecord(headset: HeadsetID(rawValue: 1), proof: "SN1"))]
            if name == "other", boot != 7 || index != 0 {
                batch.changes.append(
                    .epoch(
                        EpochRecord(
                            stream: Fixture.eeg, number: 0, bootIdentifier: UInt32(boot), firstN: 0, firstIndex: index,
                            began: Fixture.start)))
            }
            try store.commit(batch)
            try store.close()
        }
        return fixture
    }

    @Test func whatTwoMachinesHaveOfOneHeadsetIsCompared() throws {
        let fixture = try Self.twins(change: [250: -1])
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.first?.headset == "left" && report.recordings.first?.isNewHeadset == false)
        let twin = try #require(report.twins.first)
        #expect((report.twins.count, twin.recording, twin.other) == (1, 2, 1))
        #expect((twin.shared, twin.differing, twin.firstDiffering) == (200, 1, 250))
        #expect(report.differing == 1)
        // Each machine's truth stays.
        #expect(
            try fixture.rows("here", "SELECT count(*), min(n), max(n) FROM sample WHERE stream_id = 1") == ["[300, 0, 299]"])
        #expect(try fixture.audit("here").holds)
    }

    @Test func samplesAreComparedByTheHeadsetsIndexAndNotByN() throws {
        let report = try Self.twins(index: 20).merge("other", into: "here")
        // Row n there is the headset's index n + 20: 0 to 99 and 200 to 279 of it are here, too.
        #expect(report.twins.first?.shared == 180)
        #expect(report.twins.first?.differing == 180)
    }

    @Test func anotherBootOfTheHeadsetProvesNothing() throws {
        #expect(try Self.twins(boot: 8).merge("other", into: "here").twins.isEmpty)
    }

    @Test func aCounterThatHasWrappedProvesNothing() throws {
        #expect(try Self.twins(index: 65_300).merge("other", into: "here").twins.isEmpty)
    }
}
