import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// `eegsync headsets adopt` and `rename`, and what `eegsync status` says of addresses that nothing proves.
@Suite struct AddressCommandTests {
    private static let heard = PeripheralIdentifier(address: 0xC0_EE_60_00_02_01, type: .random)

    /// A headset that is wanted, and one of its model that was heard.
    private func database() throws -> (RecordedDatabase, AcquisitionStore) {
        let database = try RecordedDatabase()
        let store = try database.acquisitionStore()
        try store.control.startRecording(headset: "left", model: "ganglion", at: HostClock.now)
        let left = try #require(try store.headset(named: "left"))
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .candidate(
                CandidateRecord(
                    headset: left, identifier: Self.heard, name: "Ganglion-1\u{1B}[2J", rssi: -60, at: HostClock.now))
        ]
        try store.commit(batch)
        return (database, store)
    }

    private func status(_ database: RecordedDatabase) throws -> String {
        try ProgramRun(["status", "--database", database.path]).output
    }

    @Test func statusNamesACandidateAndWhatItOffersWorks() throws {
        let (database, store) = try database()
        let before = try status(database)
        #expect(before.contains("one of its model is in sight at C0:EE:60:00:02:01/random (Ganglion-1"))
        #expect(!before.contains("\u{1B}"))
        #expect(before.contains("eegsync headsets adopt left ADDRESS"))
        // The type is that of the candidate.
        let run = try ProgramRun(["headsets", "adopt", "left", "C0:EE:60:00:02:01", "--database", database.path])
        #expect(run.exitCode == 0, "\(run.errors)")
        let left = try #require(try store.headset(named: "left"))
        let decision = try #require(try store.adoptionHistory(of: left).first)
        #expect(decision.identifier == Self.heard && decision.decision == .operator && decision.recording != nil)
    }

    @Test func anAddressThatNobodyHeardNeedsItsType() throws {
        let (database, _) = try database()
        func adopt(_ address: String) throws -> Int32 {
            try ProgramRun(["headsets", "adopt", "left", address, "--database", database.path]).exitCode
        }
        #expect(try adopt("C0:00:00:00:00:01") == 66)
        #expect(try adopt("nonsense") == 64)
        #expect(try adopt("C0:00:00:00:00:01/classic") == 64)
        #expect(try adopt("C0:00:00:00:00:01/public") == 0)
        #expect(
            try ProgramRun(["headsets", "adopt", "nobody", "C0:EE:60:00:02:01", "--database", database.path]).exitCode != 0)
    }

    @Test func aHeadsetThatProvesItselfNeedsNoAddress() throws {
        let database = try RecordedDatabase()
        let store = try database.acquisitionStore()
        func adopt() throws -> ProgramRun {
            try ProgramRun(["headsets", "adopt", "left", "C0:EE:60:00:02:01/random", "--database", database.path])
        }
        try store.control.startRecording(headset: "left", model: "buffered-eeg", at: HostClock.now)
        let left = try #require(try store.headset(named: "left"))
        // Before it ever did, a person may say where it is.
        #expect(try adopt().exitCode == 0)
        var batch = WriteBatch(number: 1)
        batch.changes = [.identityProof(IdentityProofRecord(headset: left, proof: "B-17"))]
        try store.commit(batch)
        let refused = try adopt()
        #expect(refused.exitCode == 64 && refused.errors.contains("proves by its serial number B-17"), "\(refused.errors)")
        #expect(try store.adoptionHistory(of: left).count == 1)
    }

    @Test func whatWasAdoptedByItselfIsShownUntilItIsConfirmed() throws {
        let (database, store) = try database()
        let left = try #require(try store.headset(named: "left"))
        var batch = WriteBatch(number: 2)
        batch.changes = [
            .adoption(
                AdoptionRecord(
                    headset: left, recording: nil, identifier: Self.heard, replaced: nil, decision: .automatic,
                    at: HostClock.now))
        ]
        try store.commit(batch)
        #expect(try status(database).contains("provisionally"))
        _ = try ProgramRun(["headsets", "adopt", "left", "\(Self.heard)", "--database", database.path])
        #expect(try !status(database).contains("provisionally"))
    }

    @Test func aHeadsetGetsAnotherNameAndTheConfigurationIsAskedToFollow() throws {
        let (database, store) = try database()
        let file = try database.configure("headsets: [{name: left, model: ganglion}]")
        let run = try ProgramRun(["headsets", "rename", "left", "right", "--config", file])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("does not name right yet"))
        #expect(try store.recordings().map(\.headset) == ["right"])
        #expect(try ProgramRun(["headsets", "rename", "right", "a b", "--config", file]).exitCode == 64)
        #expect(try ProgramRun(["headsets", "rename", "nobody", "left", "--config", file]).exitCode == 66)
    }
}
