import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

/// A batch of which the database refuses what it holds of one headset.
@Suite("A commit by headset")
struct CommitByHeadsetTests {
    let store: AcquisitionStore
    let left: HeadsetPart
    let right: HeadsetPart

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        let recording = try Fixture.record(into: store)
        left = HeadsetPart(
            headset: HeadsetID(rawValue: 1), recording: recording, streams: [Fixture.eeg, Fixture.accelerometer],
            presentStreams: [Fixture.eeg, Fixture.accelerometer])
        let other = try store.control.startRecording(headset: "muse-2", model: "buffered-eeg", at: Fixture.start)
        right = HeadsetPart(
            headset: try #require(try store.headset(named: "muse-2")), recording: other, streams: [StreamID(rawValue: 3)],
            presentStreams: [StreamID(rawValue: 3)])
    }

    /// A second of both headsets.
    private var batch: WriteBatch {
        var batch = WriteBatch(number: 9)
        batch.parts = [left, right]
        batch.changes += [
            .stream(
                NewStream(
                    id: right.streams[0], recording: right.recording, position: 0, description: Fixture.eegDescription())),
            .epoch(Fixture.epoch(right.streams[0])),
            .segment(Fixture.segment(Fixture.eeg, 0...2815, frequency: 256)),
            .segment(Fixture.segment(right.streams[0], 0...255, frequency: 256)),
        ]
        batch.samples = [
            Fixture.rows(Fixture.eeg, 2560..<2816, channels: 4), Fixture.rows(right.streams[0], 0..<256, channels: 4),
        ]
        batch.changes +=
            [left, right].map {
                .connectionEvent(
                    ConnectionEventRecord(headset: $0.headset, at: Fixture.start, state: "streaming", detail: nil))
            }
        return batch
    }

    private func count(_ table: String, _ condition: String = "TRUE") throws -> Int {
        try store.database.writer.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
        }
    }

    @Test("stores all of the others and nothing of the one that breaks a rule, whose gaps open")
    func refusal() throws {
        var spoiled = batch
        spoiled.samples.append(Fixture.rows(Fixture.eeg, 0..<1, channels: 4))
        #expect(throws: StorageError.self) { try store.commit(spoiled) }
        let refused = try store.commitByHeadset(spoiled, at: Fixture.start)
        #expect(refused.map(\.part) == [left])
        #expect(refused.allSatisfy { $0.error.isRefusal })
        #expect(try count("sample", "stream_id = 3") == 256)
        #expect(try count("sample", "stream_id = 1 AND n >= 2560") == 0)
        #expect(try count("connection_event") == 1)
        let open = try store.gaps(of: left.recording).filter { $0.count == nil }
        #expect(open.map(\.cause) == ["quarantined", "quarantined"])
        #expect(open.map(\.firstN).sorted() == [520, 2560])
        #expect(try store.audit().holds)
    }

    @Test("stores everything where nothing is refused")
    func nothing() throws {
        #expect(try store.commitByHeadset(batch, at: Fixture.start).isEmpty)
        #expect(try count("sample", "stream_id = 1 AND n >= 2560") == 256)
        #expect(try store.audit().holds)
    }

    @Test("writes nothing where what concerns all headsets is refused")
    func shared() throws {
        var spoiled = batch
        // Of a stream that is no headset's.
        spoiled.changes.append(.epoch(Fixture.epoch(StreamID(rawValue: 77))))
        let rows = try count("sample")
        #expect(throws: StorageError.self) { try store.commitByHeadset(spoiled, at: Fixture.start) }
        #expect(try count("sample") == rows)
    }

    @Test("forgets nothing that a batch can hold: each record is in one part, or is shared")
    func split() throws {
        var whole = batch
        let (headset, at) = (right.headset, Fixture.start)
        whole.changes += [
            .recording(.started(right.recording, at: at)),
            .recording(.stopped(right.recording, at: at)),
            .fill(ChannelFill(stream: Fixture.eeg, channel: 2, firstN: 1000, values: [1])),
            .ledger(.recover(stream: Fixture.eeg, firstN: 1000, channel: 2, count: 1)),
            .annotation(
                AnnotationRecord(
                    recording: left.recording, onset: at, durationSeconds: nil, description: "d", source: "headset")),
            .statusReport(StatusReportRecord(headset: headset, at: at, status: nil, outcome: "noAnswer")),
            .identityProof(IdentityProofRecord(headset: headset, proof: "7")),
            .preservedState(PreservedStateRecord(headset: headset, json: "{}", at: at)),
            .clockObservation(
                ClockObservationRecord(headset: headset, bootIdentifier: nil, deviceTicks: 1, tickFrequency: 1, at: at)),
            .clockOffset(Fixture.offset),
            .signalCheck(Fixture.check(3, 0...9, .good)),
            .impedance(ImpedanceRecord(recording: left.recording, at: at, electrode: "TP9", kilohms: 5)),
            .quarantine(QuarantineRecord(stream: Fixture.eeg, at: at)),
            .completed(.capture(CaptureID(rawValue: 1))),
        ]
        let parts = [whole.records(of: left), whole.records(of: right), whole.sharedRecords()]
        for change in whole.changes {
            #expect(parts.count { $0.changes.contains(change) } == 1, "\(change)")
        }
        for rows in whole.samples { #expect(parts.count { $0.samples.contains(rows) } == 1, "\(rows.stream)") }
        for part in parts {
            #expect(part.changes == whole.changes.filter(part.changes.contains), "in the order in which they happened")
        }
        #expect(parts.last?.changes == [.clockOffset(Fixture.offset), .completed(.capture(CaptureID(rawValue: 1)))])
    }
}
