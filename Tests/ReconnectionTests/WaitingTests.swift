import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// What a person is waited for, and how long a pairing may take.
struct WaitingTests {
    @Test("What a person is waited for is tried again after a minute, and after twice as long each time, up to 15 minutes")
    func rarely() {
        var test = MachineUnderTest.inState("scanning")
        test.fire(.scanFailed(.notPermitted(what: "test")))
        for pause in [60, 120, 240, 480, 900, 900] {
            #expect(test.machine.state.name == "waitingForOperator")
            #expect(test.machine.deadline == test.now + .seconds(pause))
            test.wait(Duration.seconds(pause) - .milliseconds(1))
            #expect(test.fire(.deadlineReached).isEmpty)
            test.reachDeadline()
            #expect(test.machine.state.name == "connecting")
            test.fire(.connectFailed(.peripheralBlocked, attempt: test.attempt))
        }
        // After a person's word, or after a success, it is a minute again.
        test.fire(.operatorActed)
        test.fire(.connectFailed(.peripheralBlocked, attempt: test.attempt))
        #expect(test.machine.deadline == test.now + .seconds(60))
    }

    @Test("A headset that does not let itself be paired is left to its central, whose pause is 15 minutes at most")
    func pairingRefused() {
        var test = MachineUnderTest.inState("connecting")
        test.fire(.connectFailed(.pairingRefused, attempt: test.attempt))
        test.wait(.seconds(900))
        test.fire(.deadlineReached)
        #expect(test.machine.state == .waitingForOperator(.pairingRefused))
        test.reachDeadline()
        #expect(test.machine.state.name == "connecting")
    }

    @Test("An adapter that comes on, which may be another one, is reason to try again")
    func anotherAdapter() {
        var test = MachineUnderTest.inState("waitingForOperator")
        test.fire(.adapterChanged(.absent))
        #expect(test.machine.state.name == "waitingForAdapter")
        test.fire(.adapterChanged(.poweredOn))
        #expect(test.machine.state.name == "connecting")
    }

    @Test("Whoever is not wanted is not tried again", arguments: StopReason.allCases)
    func stopped(reason: StopReason) {
        var test = MachineUnderTest.inState("waitingForOperator")
        test.fire(.stop(reason))
        test.wait(.seconds(86_400))
        #expect(test.fire(.deadlineReached).isEmpty)
        #expect(test.machine.state == .stopped && test.machine.deadline == nil)
    }

    @Test("The step that waits for a pairing gets its time, once", arguments: ["connecting", "subscribingControl"])
    func pairing(state: String) {
        var test = MachineUnderTest.inState(state)
        test.fire(.pairingBegan)
        let deadline = test.now + ReconnectionLimits().pairingLimit
        #expect(test.machine.deadline == deadline)
        test.wait(.seconds(6))
        #expect(test.fire(.deadlineReached).isEmpty)
        test.fire(.pairingBegan)
        #expect(test.machine.state.name == state && test.machine.deadline == deadline)
        // The next one has no more than any other.
        if state == "connecting" {
            test.fire(.connected(MachineUnderTest.known, attempt: test.attempt))
        } else {
            test.fire(.controlSubscribed(attempt: test.attempt))
        }
        #expect(test.machine.deadline.map { $0 - test.now < .seconds(5) } == true)
    }

    @Test("A pairing gives no time to a stranger, and none where nothing waits for it")
    func pairingOfNoUse() {
        for state in ["identifying", "streaming", "scanning", "backingOff"] {
            var test = MachineUnderTest.inState(state)
            let deadline = test.machine.deadline
            test.fire(.pairingBegan)
            #expect(test.machine.deadline == deadline, "\(state)")
        }
    }
}
