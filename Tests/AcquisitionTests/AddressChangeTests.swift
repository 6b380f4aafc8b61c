import Bluetooth
import Rehearsal
import Storage
import Testing

@testable import Acquisition

/// A person who says where a headset is, whatever another headset does just then.
struct AddressChangeTests {
    @Test("An address that another headset is connecting to is taken by nobody else, and keeps neither of the two")
    func addressInUse() throws {
        let test = try EngineUnderTest(hasNeighbour: true)
        test.script.change { $0.connectError = .peripheralBlocked }
        test.neighbour.change { $0.answersConnect = false }
        let left = try test.want()
        let right = try test.want("right")
        try test.reconcile()
        try test.run(.seconds(1))
        #expect(test.phase(of: "left") == .waitingForOperator && test.neighbour.calls == [.connect])
        try test.store.control.adopt(test.neighbour.identifier, headset: "left", at: test.now)
        try test.reconcile()
        try test.run(.seconds(1))
        #expect(test.neighbour.calls == [.connect], "it is connected to for the other one")
        #expect(test.engine.acquisitions.allSatisfy { $0.pending.isEmpty })
        try test.store.control.stopRecording(left, at: test.now)
        try test.reconcile()
        try test.run(.seconds(5))
        #expect(test.engine.recordings == [right])
        test.neighbour.change { $0.answersConnect = true }
        try test.run(.seconds(15))
        #expect(test.phase(of: "right") == .streaming)
    }
}
