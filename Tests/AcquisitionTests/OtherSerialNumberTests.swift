import Bluetooth
import Headsets
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// A recording is of one headset: another serial number in the configuration is not recorded into it.
struct OtherSerialNumberTests {
    private static let serial = "BE-\(HeadsetScript.identifier.address)"

    private static func streaming() throws -> (test: EngineUnderTest, recording: RecordingID) {
        let test = try EngineUnderTest()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5), until: .streaming)
        try test.run(.seconds(5))
        return (test, recording)
    }

    private static func stop(_ recording: RecordingID, _ test: EngineUnderTest) throws {
        try test.store.control.stopRecording(recording, at: test.now)
        for _ in 0..<2 {
            try test.reconcile()
            try test.run(.seconds(3))
        }
    }

    @Test("While it is recorded, it is let go with the reload, and goes on in its recording with the one after")
    func reload() throws {
        let (test, recording) = try Self.streaming()
        test.demand(Self.serial)
        test.reload()
        try test.run(.seconds(3))
        #expect(test.phase == .streaming, "what is demanded is what is recorded")
        test.demand("SIM-9")
        test.script.forgetCalls()
        test.reload()
        try test.run(.seconds(60))
        let shown = try #require(try test.store.headsets(at: test.now).first { $0.name == "left" })
        #expect(shown.state == "quarantined" && shown.stateCause == "otherSerialNumber")
        #expect(shown.stateDetail == Self.serial)
        #expect(test.script.calls.contains(.cancel) && !test.script.calls.contains(.connect))
        #expect(try test.store.openRecordings().map(\.recording) == [recording])
        // It is the same as before, with what is demanded then, too.
        test.reload()
        try test.run(.seconds(20))
        #expect(test.phase == .quarantined && !test.script.calls.contains(.connect))
        test.demand(Self.serial)
        test.reload()
        try test.run(.seconds(10), until: .streaming)
        #expect(test.phase == .streaming && test.engine.recordings == [recording])
        try test.run(.seconds(3))
        #expect(try test.store.audit().holds)
    }

    @Test("From the start nothing is connected for it, and its recording can be ended; another name is recorded")
    func start() throws {
        let (test, first) = try Self.streaming()
        try Self.stop(first, test)
        test.demand("SIM-9")
        test.script.forgetCalls()
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(60))
        #expect(test.phase == .quarantined && !test.script.calls.contains(.connect))
        try Self.stop(recording, test)
        #expect(try test.store.openRecordings().isEmpty)
        // The headset that the database knows gets another name: the new one begins a row of its own.
        try test.store.control.renameHeadset("left", to: "former")
        test.demand(Self.serial)
        try test.want()
        try test.reconcile()
        try test.run(.seconds(20))
        #expect(test.phase(of: "left") != .quarantined)
    }

    @Test("Where no serial number is stored, a known address must show the one that is demanded", arguments: [true, false])
    func knownAddress(isRight: Bool) throws {
        let test = try EngineUnderTest()
        let recording = try test.want()
        let headset = try test.store.resumeState(of: recording).headset
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .identifierUse(
                IdentifierUse(headset: headset, identifier: HeadsetScript.identifier, at: test.now, succeeded: true))
        ]
        try test.store.commit(batch)
        test.demand(isRight ? Self.serial : "SIM-9")
        try test.reconcile()
        try test.run(.seconds(30))
        #expect((test.phase == .streaming) == isRight)
        #expect(try test.store.resumeState(of: recording).identityProof == (isRight ? Self.serial : nil))
    }

    @Test("A serial number that is demanded while nothing is stored of the one before is looked for at once")
    func firstDemand() throws {
        let test = try EngineUnderTest()
        test.demand("SIM-9")
        try test.want()
        try test.reconcile()
        try test.run(.seconds(30))
        #expect(test.phase != .streaming)
        test.demand(Self.serial)
        test.reload()
        // The other one was left alone for a while.
        try test.run(.seconds(700), until: .streaming)
        #expect(test.phase == .streaming)
    }

    @Test("A stopped recording of which the configuration has no headset ends; one that is wanted stays open")
    func leftOut() throws {
        let test = try EngineUnderTest()
        var unknown: [String] = []
        test.driver.reported = { report, _ in if case .unknownHeadset(let name, _) = report { unknown.append(name) } }
        test.leaveOut("left")
        let recording = try test.want()
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(try test.store.openRecordings().map(\.recording) == [recording])
        #expect(unknown == ["left"])
        test.reload()
        unknown.removeAll()
        try Self.stop(recording, test)
        #expect(try test.store.openRecordings().isEmpty)
        #expect(unknown.isEmpty && test.script.calls.isEmpty)
        #expect(try test.store.audit().holds)
    }
}
