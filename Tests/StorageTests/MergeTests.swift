import Bluetooth
import Foundation
import Headsets
import Testing

@testable import Storage

/// Databases that are merged, and what makes them refuse.
@Suite struct MergeTests {
    private static let samples = "SELECT * FROM sample ORDER BY stream_id, n"
    private static let contents = [
        samples, "SELECT * FROM segment ORDER BY 1, 2", "SELECT * FROM epoch ORDER BY 1, 2",
        "SELECT stream_id, first_n, channel, count, cause, recovered, certainty FROM gap ORDER BY 1, 2, 3",
    ]

    // MARK: What is not here

    @Test func aRecordingThatIsNotHereComesInAsItIs() throws {
        let (fixture, other) = (try MergeFixture(), try EvidenceFixture())
        try FileManager.default.copyItem(atPath: other.path, toPath: fixture.path("other"))
        try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot).close()
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.map(\.outcome) == [.taken, .taken])
        #expect(report.recordings.map(\.number) == [1, 2])
        #expect(report.recordings[0].streams.map(\.taken) == [9928, 2080])
        #expect(report.differing == 0 && report.twins.isEmpty)
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        for query in Self.contents + [
            "SELECT stream_id, chain, number, channel, first_n, last_n, row_count, hex(digest) FROM block ORDER BY 1, 2, 3",
            "SELECT uuid, recording_id, boottime_ns, description FROM annotation ORDER BY id",
            "SELECT uuid, view_name FROM stream ORDER BY id", "SELECT uuid, name, model FROM headset ORDER BY id",
            "SELECT * FROM channel_declaration", "SELECT facts FROM provenance ORDER BY id", "SELECT * FROM eeg_1 LIMIT 9",
            "SELECT recording_id, field, before, after FROM recording_edit ORDER BY id", "SELECT * FROM recording_property",
            "SELECT n, boottime_ns, device_ticks FROM arrival ORDER BY stream_id, n", "SELECT text FROM headset_message",
            "SELECT id, uuid, label, subject, started_boottime_ns FROM recording ORDER BY id",
        ] {
            #expect(try fixture.rows("here", query) == fixture.rows("other", query), "\(query)")
        }
        let before = try fixture.everything("here")
        #expect(try fixture.merge("other", into: "here").isNothingNew)
        #expect(try fixture.everything("here") == before)
    }

    @Test func whatGoesOnElsewhereIsNotGoneOnWithHere() throws {
        let fixture = try MergeFixture("other")
        try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.secondBoot).close()
        try fixture.merge("other", into: "here")
        let store = try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot)
        #expect(try store.openRecordings().isEmpty)
        #expect(try store.shippableRecordings().isEmpty)
        try store.close()
        // It has gone on, and has ended there.
        try fixture.record("other", [100..<300])
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.first?.streams.first?.taken == 200)
        let ends = "SELECT desired_state, stop_requested_boottime_ns FROM recording"
        #expect(try fixture.rows("here", ends) == fixture.rows("other", ends))
        #expect(try fixture.audit("here").holds)
        #expect(try fixture.merge("other", into: "here").isNothingNew)
    }

    @Test func namesAndNumbersThatCollideAreMadeDistinct() throws {
        let (fixture, stranger) = (try MergeFixture("here"), try MergeFixture("other"))
        try fixture.record("here", [100..<200])
        try stranger.record("other", [100..<300])
        try FileManager.default.copyItem(atPath: stranger.path("other"), toPath: fixture.path("other"))
        let report = try fixture.merge("other", into: "here")
        let merged = try #require(report.recordings.first)
        #expect(merged.number == 2 && merged.headset == "left-2" && merged.headsetThere == "left" && merged.isNewHeadset)
        #expect(try fixture.audit("here").holds)
        #expect(try fixture.rows("here", "SELECT count(*) FROM eeg_2") == ["[300]"])
        #expect(try fixture.merge("other", into: "here").isNothingNew)
    }

    /// Of three recordings the first takes the number that the second would have, and so on.
    @Test func aRehearsalPromisesEachNumberOnce() throws {
        let (fixture, other) = (try MergeFixture("here"), try EvidenceFixture())
        try fixture.record("here", [100..<200])
        try FileManager.default.copyItem(atPath: other.path, toPath: fixture.path("other"))
        let store = try AcquisitionStore(path: fixture.path("other"), hostBoot: Fixture.boot)
        try store.control.startRecording(headset: "third", model: "buffered-eeg", at: Fixture.start + .seconds(20))
        try store.control.stopRecording(headset: "third", at: Fixture.start + .seconds(21))
        try store.close()
        let before = try fixture.everything("here")
        let rehearsed = try fixture.merge("other", into: "here", isRehearsal: true)
        #expect(rehearsed.recordings.map(\.number) == [2, 3, 4])
        #expect(try fixture.everything("here") == before)
        #expect(try fixture.merge("other", into: "here") == rehearsed)
    }

    @Test func aMachineThatHasOnlyRecordedElsewhereIsNotOneOfThisDatabase() throws {
        let fixture = try MergeFixture("other")
        let identities = ["10000000d0a1b2c3", "10000000d0a1b2c4"].map {
            MachineIdentity(boardSerialNumber: $0, machineID: nil)
        }
        func note(_ index: Int, in name: String, _ boot: HostBoot) throws -> Bool {
            let store = try ControlStore(path: fixture.path(name), hostBoot: boot)
            defer { try? store.close() }
            return try store.note(#require(identities[index]), at: Fixture.start)
        }
        _ = try note(0, in: "here", Fixture.secondBoot)
        _ = try note(1, in: "other", Fixture.boot)
        try fixture.merge("other", into: "here", in: Fixture.secondBoot)
        let store = try ReadOnlyStore(path: fixture.path("here"), hostBoot: Fixture.secondBoot)
        #expect(try store.machines().count == 1)
        let machine = try #require(try fixture.rows("other", "SELECT uuid FROM machine").first)
        #expect(try store.machineUUID(of: RecordingID(rawValue: 1)).map { "[\"\($0)\"]" } == machine)
        #expect(try fixture.audit("here").holds)
        #expect(try fixture.merge("other", into: "here", in: Fixture.secondBoot).isNothingNew)
        // The card of this database moves there: a person is asked, as always.
        #expect(try note(1, in: "here", Fixture.boot))
        #expect(try fixture.rows("here", "SELECT origin FROM machine ORDER BY id") == [#"["created"]"#, "[NULL]"])
    }

    @Test func whatWasDeletedHereStaysDeleted() throws {
        let fixture = try MergeFixture("here", "other")
        for name in ["here", "other"] { try fixture.record(name, [100..<200]) }
        let store = try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot)
        try store.control.delete(RecordingID(rawValue: 1), means: .delete, by: "ada", at: Fixture.start)
        try store.close()
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.map(\.outcome) == [.deleted] && report.isNothingNew)
        #expect(try fixture.rows("here", Self.samples).isEmpty)
    }

    // MARK: What both have

    @Test func twoPiecesOfOneRecordingAreOne() throws {
        let fixture = try MergeFixture("here", "other", "whole")
        try fixture.record("here", [100..<500, 800..<1000])
        try fixture.record("other", [100..<250, 400..<900])
        try fixture.record("whole", [100..<1000])
        let report = try fixture.merge("other", into: "here")
        let stream = try #require(report.recordings.first?.streams.first)
        #expect((stream.taken, stream.equal, stream.differing) == (300, 450, 0))
        #expect(stream.gapsClosed == 1)
        for query in [Self.contents[0], Self.contents[1], Self.contents[2]] {
            #expect(try fixture.rows("here", query) == fixture.rows("whole", query), "\(query)")
        }
        #expect(try fixture.rows("here", "SELECT first_n, count, recovered FROM gap") == ["[500, 300, 300]"])
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        #expect(audit.streams.map(\.missing) == [0, 0])
        let before = try fixture.everything("here")
        #expect(try fixture.merge("other", into: "here").isNothingNew)
        #expect(try fixture.everything("here") == before)
    }

    @Test func whatLiesBeyondTheEndComesWithItsGapsAndTimes() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<150], isOpen: true)
        try fixture.record("other", [100..<120, 200..<300, 350..<400], lacking: 210..<220)
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.first?.streams.first?.taken == 150)
        #expect(
            try fixture.rows("here", Self.contents[3]) == [
                #"[1, 150, 0, 50, "linkLost", 0, "counted"]"#, #"[1, 210, 2, 10, "linkLost", 0, "counted"]"#,
                #"[1, 300, 0, 50, "linkLost", 0, "counted"]"#,
            ])
        #expect(try fixture.rows("here", Self.contents[1]) == fixture.rows("other", Self.contents[1]))
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        // Both have the same now, whichever way round.
        try fixture.merge("here", into: "other")
        #expect(try fixture.rows("here", Self.samples) == fixture.rows("other", Self.samples))
        #expect(try fixture.audit("other").holds)
        for (one, other) in [("here", "other"), ("other", "here")] {
            #expect(try fixture.merge(one, into: other).isNothingNew)
        }
    }

    @Test func aChannelThatIsMissingHereIsFilled() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<300], lacking: 210..<220)
        try fixture.record("other", [100..<300], lacking: 215..<230)
        let report = try fixture.merge("other", into: "here")
        #expect(report.recordings.first?.streams.first?.filled == 5)
        #expect(report.recordings.first?.streams.first?.equal == 300)
        #expect(try fixture.rows("here", "SELECT first_n, count, recovered FROM gap") == ["[210, 10, 5]"])
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        #expect(try fixture.merge("other", into: "here").isNothingNew)
    }

    @Test func aValueThatDiffersIsKeptAsideAndTheOneHereStays() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<300])
        try fixture.record("other", [100..<300], change: [150: -7, 180: 9])
        let before = try fixture.rows("here", Self.samples)
        let report = try fixture.merge("other", into: "here")
        let stream = try #require(report.recordings.first?.streams.first)
        #expect((stream.differing, stream.keptAside, stream.equal) == (2, 2, 298))
        #expect((stream.firstDiffering, stream.lastDiffering) == (150, 180))
        #expect(try fixture.rows("here", Self.samples) == before)
        #expect(
            try fixture.rows("here", "SELECT view_name, n, channel, here, there, source FROM merge_conflict_value") == [
                #"["eeg_1", 150, "TP9", 250, -7, "other.sqlite"]"#, #"["eeg_1", 180, "TP9", 280, 9, "other.sqlite"]"#,
            ])
        #expect(try fixture.audit("here").holds)
        let again = try fixture.merge("other", into: "here")
        #expect(again.isNothingNew && again.differing == 2)
        // They go with their recording.
        let store = try AcquisitionStore(path: fixture.path("here"), hostBoot: Fixture.boot)
        try store.control.delete(RecordingID(rawValue: 1), means: .delete, by: "ada", at: Fixture.start)
        try store.close()
        #expect(try fixture.rows("here", "SELECT * FROM merge_conflict").isEmpty)
    }

    @Test func annotationsAndWordsAreUnitedOnce() throws {
        let fixture = try MergeFixture("here", "other")
        for name in ["here", "other"] { try fixture.record(name, [100..<200]) }
        let recording = RecordingID(rawValue: 1)
        let store = try ControlStore(path: fixture.path("other"), hostBoot: Fixture.boot)
        try store.edit(recording, [(.subject, "P07"), (.property(key: "cap"), "M")], at: Fixture.start)
        try store.close()
        let own = try ControlStore(path: fixture.path("here"), hostBoot: Fixture.boot)
        try own.edit(recording, [(.property(key: "cap"), "L")], at: Fixture.start)
        try own.close()
        #expect(try fixture.merge("other", into: "here").recordings.first?.annotations == 1)
        #expect(
            try fixture.rows("here", "SELECT description FROM annotation ORDER BY 1") == [
                #"["begun"]"#, #"["in here"]"#, #"["in other"]"#,
            ])
        // What goes on from what was said here counts, and what contradicts it does not.
        #expect(try fixture.rows("here", "SELECT subject FROM recording") == [#"["P07"]"#])
        #expect(try fixture.rows("here", "SELECT value FROM recording_property") == [#"["L"]"#])
        #expect(try fixture.audit("here").holds)
        #expect(try fixture.merge("other", into: "here").isNothingNew)
    }

    @Test func whatNothingProvesStaysWhereItIs() throws {
        let fixture = try MergeFixture("here", "other")
        try fixture.record("here", [100..<300], epoch: Self.epoch(firstN: 150, boot: 8), boot: Fixture.secondBoot)
        try fixture.record("other", [100..<400], epoch: Self.epoch(firstN: 150, boot: 9))
        let report = try fixture.merge("other", into: "here")
        let stream = try #require(report.recordings.first?.streams.first)
        #expect(stream.unprovenFrom == 100 && stream.unproven == 300)
        #expect((stream.taken, stream.equal, stream.differing) == (0, 100, 0))
        #expect(try fixture.audit("here").holds)
    }

    private static func epoch(firstN: Int64, boot: UInt32) -> EpochRecord {
        EpochRecord(
            stream: Fixture.eeg, number: 1, bootIdentifier: boot, firstN: 100, firstIndex: 0,
            began: Fixture.start + .seconds(Int64(boot)))
    }

    @Test func theHeadsetsCounterProvesWhatTwoMachinesHaveOfOneEpoch() throws {
        let fixture = try MergeFixture("here", "other", "long")
        try fixture.record("here", [100..<200])
        try fixture.record("other", [150..<300], boot: Fixture.secondBoot)
        let stream = try #require(try fixture.merge("other", into: "here").recordings.first?.streams.first)
        #expect((stream.taken, stream.equal, stream.differing, stream.unproven) == (100, 150, 0, 0))
        #expect(
            try fixture.rows("here", "SELECT first_n, last_n, host_boot_id FROM segment WHERE stream_id = 1") == [
                "[0, 199, 1]", "[200, 299, 2]",
            ])
        let audit = try fixture.audit("here")
        #expect(audit.holds, "\(audit.findings)")
        #expect(try fixture.merge("other", into: "here").isNothingNew)
        // A counter of 65,536 has come round.
        try fixture.record("long", [100..<150, 66_000..<66_100], boot: HostBoot(uuid: "33333333-3333-4333-8333-333333333333"))
        let unproven = try #require(try fixture.merge("long", into: "here").recordings.first?.streams.first)
        #expect((unproven.unprovenFrom, unproven.unproven, unproven.taken) == (100, 150, 0))
    }

    @Test func piecesContradictEachOtherWhereNothingCounts() {
        func piece(_ range: ClosedRange<Int64>, _ epoch: Int64, _ boot: String, isCounted: Bool = false) -> SharedNumbers.Piece
        {
            SharedNumbers.Piece(
                firstN: range.lowerBound, lastN: range.upperBound, epoch: epoch, hostBoot: boot, isCounted: isCounted)
        }
        let here = [piece(0...99, 0, "a"), piece(200...299, 1, "a")]
        #expect(SharedNumbers.firstContradiction(here, here) == nil)
        #expect(SharedNumbers.firstContradiction(here, [piece(0...99, 0, "a"), piece(100...199, 0, "b")]) == nil)
        #expect(SharedNumbers.firstContradiction(here, [piece(0...99, 0, "a"), piece(150...250, 1, "b")]) == 200)
        #expect(SharedNumbers.firstContradiction(here, [piece(0...250, 0, "a")]) == 200)
        let counted = [piece(0...99, 0, "a", isCounted: true)]
        #expect(SharedNumbers.firstContradiction(counted, [piece(0...99, 0, "b", isCounted: true)]) == nil)
        #expect(SharedNumbers.firstContradiction(counted, [piece(50...60, 0, "b")]) == 50)
    }
}
