import Bluetooth
import Testing

@testable import Storage

@Suite("Addresses that nothing proves")
struct AdoptionTests {
    private static let first = PeripheralIdentifier(address: 0xC0_00_00_00_00_01, type: .random)
    private static let second = PeripheralIdentifier(address: 0xC0_00_00_00_00_02, type: .random)
    let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot) }

    private func headset(_ name: String) throws -> HeadsetID {
        try store.control.startRecording(headset: name, model: "ganglion", at: Fixture.start)
        return try #require(try store.headset(named: name))
    }

    private func commit(_ change: (inout WriteBatch) -> Void) throws {
        var batch = WriteBatch(number: 1)
        change(&batch)
        #expect(!batch.isEmpty)
        try store.commit(batch)
    }

    private func reached(_ identifiers: [PeripheralIdentifier], _ headset: HeadsetID) throws {
        try commit { batch in
            batch.changes = identifiers.map {
                .identifierUse(IdentifierUse(headset: headset, identifier: $0, at: Fixture.start, succeeded: true))
            }
        }
    }

    private func activity(_ name: String, at time: MonotonicTime = Fixture.start) throws -> AddressActivity? {
        try store.headsets(at: time).first { $0.name == name }?.address
    }

    @Test("a candidate is shown while it is in sight, and no longer once it is the headset's address")
    func candidates() throws {
        let left = try headset("left")
        let seen = CandidateRecord(headset: left, identifier: Self.first, name: "Ganglion-1", rssi: -60, at: Fixture.start)
        try commit { $0.changes = [.candidate(seen)] }
        #expect(try activity("left")?.candidates.map(\.identifier) == [Self.first])
        #expect(try activity("left", at: Fixture.start + .seconds(200))?.candidates == [])
        try reached([Self.first], left)
        #expect(try activity("left")?.candidates == [])
    }

    @Test("a person's decision is a wish that confirms what was adopted by itself, and keeps off another's address")
    func decisions() throws {
        let left = try headset("left")
        _ = try headset("right")
        let recording = try #require(try store.openRecordings().first?.recording)
        let record = AdoptionRecord(
            headset: left, recording: recording, identifier: Self.second, replaced: Self.first, decision: .automatic,
            at: Fixture.start)
        try commit { $0.changes = [.adoption(record)] }
        #expect(try activity("left")?.provisional == Self.second)
        #expect(try store.adoptionHistory(of: left) == [record])
        let version = try store.database.dataVersion()
        try store.control.adopt(Self.second, headset: "left", at: Fixture.start)
        #expect(try store.database.dataVersion() != version)
        #expect(try activity("left")?.provisional == nil)
        let wish = try #require(try store.wishes(unlessVersion: nil).contents?.adoptions.first)
        #expect(wish.headset == left && wish.identifier == Self.second && wish.decision == .operator)
        try reached([Self.second], left)
        #expect(throws: StorageError.self) { try store.control.adopt(Self.second, headset: "right", at: Fixture.start) }
        #expect(throws: StorageError.self) { try store.control.adopt(Self.second, headset: "nobody", at: Fixture.start) }
    }

    @Test("what was withdrawn finds the headset no more")
    func withdrawal() throws {
        let left = try headset("left")
        try reached([Self.first, Self.second], left)
        let record = AdoptionRecord(
            headset: left, recording: nil, identifier: Self.first, replaced: Self.second, decision: .withdrawn,
            at: Fixture.start)
        try commit { $0.changes = [.adoption(record)] }
        #expect(try store.identifiers(of: left) == [Self.first])
    }

    @Test("a headset that gets another name keeps its history, and no name is given twice")
    func rename() throws {
        let left = try headset("left")
        _ = try headset("right")
        try store.control.renameHeadset("left", to: "subject-01")
        #expect(try store.headset(named: "subject-01") == left)
        #expect(try store.recordings().map(\.headset).sorted() == ["right", "subject-01"])
        #expect(throws: StorageError.self) { try store.control.renameHeadset("left", to: "other") }
        #expect(throws: StorageError.self) { try store.control.renameHeadset("right", to: "subject-01") }
        #expect(throws: StorageError.self) { try store.control.renameHeadset("right", to: "") }
    }
}
