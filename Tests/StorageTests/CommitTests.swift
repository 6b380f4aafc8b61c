import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("A commit")
struct CommitTests {
    let store: AcquisitionStore
    let recording: RecordingID

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    func contents(_ table: String) throws -> [Row] {
        try store.database.writer.read { db in try Row.fetchAll(db, sql: "SELECT * FROM \(table)") }
    }

    func isConstraint(_ body: () throws -> Void) -> Bool {
        do { try body() } catch StorageError.constraint { return true } catch { return false }
        return false
    }

    @Test("refuses a row that is there already, and nothing of its batch is stored")
    func duplicateRow() throws {
        let before = try contents("sample")
        var batch = WriteBatch(number: 3)
        batch.samples = [
            Fixture.rows(Fixture.eeg, 2560..<2600, channels: 4), Fixture.rows(Fixture.eeg, 2559..<2560, channels: 4),
        ]
        batch.changes += [
            .connectionEvent(
                ConnectionEventRecord(headset: HeadsetID(rawValue: 1), at: Fixture.start, state: "streaming", detail: nil))
        ]
        #expect(isConstraint { try store.commit(batch) })
        #expect(try contents("sample") == before)
        #expect(try contents("connection_event").isEmpty)
        batch.samples.removeLast()
        try store.commit(batch)
        #expect(try contents("sample").count == before.count + 40)
    }

    /// Batches that must fail after their samples were inserted.
    static let failing: [@Sendable (inout WriteBatch) -> Void] = [
        { $0.changes += [.ledger(.close(stream: Fixture.eeg, firstN: 99, channel: 0, count: 3))] },
        { $0.changes += [.ledger(.recover(stream: Fixture.eeg, firstN: 512, channel: 0, count: 157))] },
        { $0.changes += [.ledger(.withdraw(stream: Fixture.eeg, firstN: 512, channel: 0))] },
        {
            $0.changes += [
                .ledger(.open(stream: Fixture.eeg, firstN: 700, channel: 0, count: 5, cause: .silence, noticed: Fixture.start))
            ]
        },
        { $0.changes += [.segment(Fixture.segment(Fixture.eeg, 2560...2570, frequency: 256, epoch: 9))] },
        { $0.changes += [.segment(Fixture.segment(Fixture.eeg, 2560...2570, frequency: .infinity))] },
        { $0.changes += [.fill(ChannelFill(stream: Fixture.eeg, channel: 1, firstN: 0, values: [1]))] },
        { $0.changes += [.fill(ChannelFill(stream: Fixture.eeg, channel: 9, firstN: 0, values: [1]))] },
        { $0.samples.append(SampleRows(stream: Fixture.eeg, channelCount: 0, firstN: 9000, values: [1])) },
        { $0.samples.append(SampleRows(stream: Fixture.eeg, channelCount: 4, firstN: 9000, values: [1])) },
        { $0.samples.append(Fixture.rows(StreamID(rawValue: 50), 0..<1, channels: 1)) },
        { $0.changes += [.epoch(Fixture.epoch(StreamID(rawValue: 50)))] },
        {
            $0.changes += [.preservedState(PreservedStateRecord(headset: HeadsetID(rawValue: 1), json: "{", at: Fixture.start))]
        },
        { $0.changes += [.recording(.stopped(RecordingID(rawValue: 1), at: Fixture.start))] },
    ]

    @Test("is undone whole when one part fails", arguments: failing)
    func atomicity(spoil: @Sendable (inout WriteBatch) -> Void) throws {
        let tables = ["sample", "gap", "segment", "epoch", "recording", "preserved_state"]
        let before = try tables.map(contents)
        var batch = WriteBatch(number: 3)
        batch.samples = [Fixture.rows(Fixture.eeg, 2560..<2600, channels: 4)]
        spoil(&batch)
        #expect(isConstraint { try store.commit(batch) })
        #expect(try tables.map(contents) == before)
        #expect(try store.audit().holds)
    }

    @Test("fills a lost channel once")
    func fillsChannel() throws {
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .fill(ChannelFill(stream: Fixture.eeg, channel: 2, firstN: 1000, values: [1, 2, 3])),
            .ledger(.recover(stream: Fixture.eeg, firstN: 1000, channel: 2, count: 3)),
        ]
        try store.commit(batch)
        #expect(try store.audit().holds)
        #expect(isConstraint { try store.commit(batch) })
        let state = try store.resumeState(of: recording).streams[0]
        #expect(state.missingChannels == [.init(firstN: 1003, count: 9, channel: 2, gapFirstN: 1000)])
    }

    @Test("withdraws a gap in which nothing was missing")
    func withdraws() throws {
        var batch = WriteBatch(number: 3)
        batch.changes += [
            .ledger(.open(stream: Fixture.eeg, firstN: 2560, channel: 0, count: nil, cause: .silence, noticed: Fixture.start)),
            .ledger(.withdraw(stream: Fixture.eeg, firstN: 2560, channel: 0)),
        ]
        try store.commit(batch)
        #expect(try store.gaps(of: recording).count == 2)
    }

    @Test("on a full disk says so, harms nothing, and works again when there is room")
    func fullDisk() throws {
        let directory = try TemporaryDirectory()
        let store = try AcquisitionStore(
            path: directory.path("eeg.sqlite"), hostBoot: Fixture.boot,
            options: StoreOptions(maximumPageCount: 500))
        try Fixture.record(into: store)
        var batch = WriteBatch(number: 3)
        batch.samples = [Fixture.rows(Fixture.eeg, 2560..<30_000, channels: 4)]
        do {
            try store.commit(batch)
            Issue.record("the disk was not full")
        } catch {
            guard case .diskFull = error else { throw error }
            #expect(error.disposition == .retry)
        }
        #expect(try store.audit().holds)
        #expect(try store.resumeState(of: RecordingID(rawValue: 1)).streams[0].nextN == 2560)
        try store.database.writer.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA max_page_count = 100000") }
        try store.commit(batch)
        #expect(try store.resumeState(of: RecordingID(rawValue: 1)).streams[0].nextN == 30_000)
    }

    @Test("writes changes in the order in which they happened, whatever of the rows and streams they refer to is apart")
    func order() throws {
        let stream = StreamID(rawValue: 7)
        var description = Fixture.eegDescription()
        description.name = "eeg_7"
        var batch = WriteBatch(number: 3)
        batch.samples = [Fixture.rows(stream, 0..<10, channels: 4)]
        let open = Change.ledger(
            .open(stream: stream, firstN: 10, channel: 0, count: nil, cause: .silence, noticed: Fixture.start))
        batch.changes = [
            .epoch(Fixture.epoch(stream)), .segment(Fixture.segment(stream, 0...9, frequency: 256)), open,
            .ledger(.withdraw(stream: stream, firstN: 10, channel: 0)),
            .quarantine(QuarantineRecord(stream: stream, at: Fixture.start)),
            .stream(
                NewStream(id: stream, recording: RecordingID(rawValue: 1), position: 2, description: description)),
        ]
        var reversed = batch
        reversed.changes.swapAt(2, 3)
        #expect(throws: StorageError.self) { try store.commit(reversed) }
        try store.commit(batch)
        let gaps = try store.gaps(of: RecordingID(rawValue: 1)).filter { $0.count == nil }
        #expect(gaps.map(\.cause) == ["quarantined"] && gaps.first?.firstN == 10)
    }

    @Test("keeps identifiers by last success, and a proven one belongs to one headset only")
    func identifiers() throws {
        let other = try store.control.startRecording(headset: "muse-2", model: "buffered-eeg", at: Fixture.start)
        let second = try store.resumeState(of: other).headset
        let first = HeadsetID(rawValue: 1)
        let ids = (1...20).map { PeripheralIdentifier(address: $0, type: .random) }
        var batch = WriteBatch(number: 3)
        batch.changes += ids.enumerated().map { index, id in
            .identifierUse(
                IdentifierUse(headset: first, identifier: id, at: Fixture.start + .seconds(index), succeeded: true))
        }
        batch.changes += [
            .identifierUse(
                IdentifierUse(headset: first, identifier: ids[19], at: Fixture.start + .seconds(90), succeeded: false)),
            .identifierUse(
                IdentifierUse(headset: first, identifier: ids[10], at: Fixture.start + .seconds(91), succeeded: true)),
            .identifierUse(
                IdentifierUse(headset: second, identifier: ids[15], at: Fixture.start + .seconds(92), succeeded: true)),
        ]
        try store.commit(batch)
        let known = try store.identifiers(of: first)
        #expect(known.count == IdentifierUse.kept - 1)
        #expect(known.prefix(3) == [ids[10], ids[19], ids[18]])
        #expect(!known.contains(ids[15]))
        #expect(try store.resumeState(of: other).identifiers == [ids[15]])
    }
}
