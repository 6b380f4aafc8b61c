import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The resume state")
struct ResumeStateTests {
    let store: AcquisitionStore
    let recording: RecordingID

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    @Test("has what is missing after a partial recovery, to the sample")
    func missingRanges() throws {
        var batch = WriteBatch(number: 3)
        batch.samples = [Fixture.rows(Fixture.eeg, 520..<530, channels: 4), Fixture.rows(Fixture.eeg, 512..<513, channels: 4)]
        batch.changes += [.ledger(.recover(stream: Fixture.eeg, firstN: 512, channel: 0, count: 11))]
        try store.commit(batch)
        let stream = try store.resumeState(of: recording).streams[0]
        #expect(
            stream.missing == [
                .init(firstN: 513, count: 7, channel: 0, gapFirstN: 512),
                .init(firstN: 530, count: 138, channel: 0, gapFirstN: 512),
            ])
        #expect(stream.missingChannels == [.init(firstN: 1000, count: 12, channel: 2, gapFirstN: 1000)])
    }

    @Test("has the channels as they were when the stream began, besides what people have corrected since")
    func declaredChannels() throws {
        try store.database.write { db in
            try db.execute(
                sql: """
                    UPDATE channel SET scale = scale * 2, "offset" = 1, name = 'x' || number, unit = 'mV' WHERE stream_id = 1
                    """)
        }
        let stream = try store.resumeState(of: recording).streams[0]
        #expect(stream.declaredChannels == Fixture.eegDescription().channels)
        #expect(stream.description.channels.map(\.name) == ["x1", "x2", "x3", "x4"])
        #expect(stream.description.channels.allSatisfy { $0.offset == 1 && $0.unit == "mV" })
    }

    @Test("has streams, epochs, segments and the next keys")
    func streams() throws {
        let state = try store.resumeState(of: recording)
        #expect(state.headset == HeadsetID(rawValue: 1))
        #expect(state.nextStreamID == 3)
        #expect(state.streams.map(\.description) == [Fixture.eegDescription(), Fixture.accelerometerDescription])
        let eeg = state.streams[0]
        #expect(eeg.nextN == 2560)
        #expect(eeg.hasSamples)
        #expect(eeg.epoch == Fixture.epoch(Fixture.eeg))
        #expect(eeg.segment == Fixture.segment(Fixture.eeg, 0...2559, frequency: 256))
        #expect(eeg.isSameHostBoot)
        #expect(eeg.openGap == nil)
    }

    @Test("has the streams that follow others at their place, and those others with the same place", arguments: [1, 3])
    func followingStreams(count: Int) throws {
        for number in 1...count {
            var description = Fixture.eegDescription(["A\(number)", "B", "C", "D"])
            description.name = "eeg_\(number + 2)"
            var batch = WriteBatch(number: UInt64(number) + 100)
            batch.changes += [
                .stream(
                    NewStream(
                        id: StreamID(rawValue: Int64(number) + 2), recording: recording, position: 0, description: description))
            ]
            try store.commit(batch)
        }
        let streams = try store.resumeState(of: recording).streams
        #expect(streams.filter { $0.position == 0 }.map(\.id).max() == StreamID(rawValue: Int64(count) + 2))
        #expect(streams.filter { $0.position == 0 }.count == count + 1)
        #expect(streams.first { $0.id == Fixture.eeg }?.nextN == 2560)
        #expect(streams.filter { $0.position == 1 }.map(\.id) == [Fixture.accelerometer])
    }

    @Test("has the open gap, and knows another host boot")
    func afterReboot() throws {
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .ledger(
                .open(
                    stream: Fixture.eeg, firstN: 2560, channel: 0, count: nil, cause: .hostRestarted, noticed: Fixture.start)),
            .preservedState(
                PreservedStateRecord(headset: HeadsetID(rawValue: 1), json: #"{"pending":true}"#, at: Fixture.start)),
            .identityProof(IdentityProofRecord(headset: HeadsetID(rawValue: 1), proof: "SN-1")),
        ]
        try store.commit(batch)
        let state = try store.reopened(hostBoot: Fixture.secondBoot).resumeState(of: recording)
        #expect(state.streams[0].openGap == .init(firstN: 2560, count: 0, channel: 0, gapFirstN: 2560))
        #expect(!state.streams[0].isSameHostBoot)
        #expect(state.streams[0].nextN == 2560)
        #expect(state.preservedJSON == #"{"pending":true}"#)
        #expect(state.identityProof == "SN-1")
    }

    @Test("of a recording without a stream is empty, and of none is an error")
    func empty() throws {
        let fresh = try store.control.startRecording(headset: "other", model: "thinkgear", at: Fixture.start)
        #expect(try store.resumeState(of: fresh).streams == [])
        #expect(throws: StorageError.notFound(what: "recording 44")) {
            try store.resumeState(of: RecordingID(rawValue: 44))
        }
    }
}
