import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// Addresses that were connected to before the headset ever streamed there: worth a try, never a proof.
struct UnprovenAddressTests {
    private static let stranger = MachineUnderTest.stranger

    /// A machine of a process that begins, with what the one before it left.
    private func machine(
        _ preserved: PreservedState, profile: any HeadsetProfile, identifiers: [PeripheralIdentifier] = [],
        proof: String? = nil
    ) -> MachineUnderTest {
        var test = MachineUnderTest(identifiers: identifiers, proof: proof, knownBoot: nil, profile: profile)
        test.machine = ConnectionMachine(
            profile: profile, identifiers: identifiers, identityProof: proof, preserved: preserved, seed: 1)
        test.fire(.adapterChanged(.poweredOn))
        test.fire(.start)
        return test
    }

    private func restored(_ identifier: PeripheralIdentifier, _ test: MachineUnderTest) -> ConnectionEvent {
        .restored(
            [RestoredPeripheral(identifier: identifier, isConnected: true, database: nil, notifying: [])],
            attempt: test.attempt)
    }

    /// A link that a scan found, up to a state of the establish flow.
    private func scanned(_ profile: any HeadsetProfile, isDiscovered: Bool) -> MachineUnderTest {
        var test = machine(PreservedState(), profile: profile)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.retrievedConnected([], attempt: test.attempt))
        test.fire(.discovered(Self.stranger))
        test.reachDeadline()
        test.fire(.connected(Self.stranger, attempt: test.attempt))
        if isDiscovered { test.fire(.servicesDiscovered(attempt: test.attempt)) }
        return test
    }

    @Test("A link that a process left which died before the headset streamed is taken over by the next one")
    func restoredLink() {
        var test = scanned(GanglionProfile(), isDiscovered: true)
        let left = test.machine.preservedState
        #expect(left == PreservedState(peripheral: Self.stranger, unproven: Self.stranger))
        test = machine(left, profile: GanglionProfile())
        #expect(test.effects.contains { if case .restoreState([Self.stranger], _) = $0 { true } else { false } })
        test.fire(restored(Self.stranger, test))
        #expect(test.machine.state.name == "discovering")
    }

    @Test("The address is kept while nothing is connected, too, by this process and the next, and tried before a scan; once")
    func triedOnce() {
        var first = scanned(GanglionProfile(), isDiscovered: true)
        guard case .establishing(let link, _) = first.machine.state else { return #expect(Bool(false), "no link") }
        first.fire(.disconnected(.linkLost, attempt: link.connectAttempt))
        let left = first.machine.preservedState
        #expect(left.peripheral == nil && left.unproven == Self.stranger)
        first.reachDeadline()
        var next = machine(left, profile: GanglionProfile())
        next.fire(.restored([], attempt: next.attempt))
        for var test in [first, next] {
            #expect(test.machine.state.name == "connecting" && test.machine.peripheral == Self.stranger)
            test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
            #expect(test.machine.state.name == "retrieving" && test.machine.unproven == nil)
        }
    }

    @Test("An address whose services were never seen is nothing to go by once its link is gone")
    func neverDiscovered() {
        var test = scanned(GanglionProfile(), isDiscovered: false)
        #expect(test.machine.unproven == Self.stranger)
        test.fire(.stepFailed(.noSuchCharacteristic(GanglionService.service), attempt: test.attempt))
        #expect(test.machine.unproven == nil)
    }

    @Test("A link that nobody owns is found by a service that a scan would go by, and by no service that others share")
    func retrievedLink() {
        for (profile, state) in [(GanglionProfile() as any HeadsetProfile, "connecting"), (ThinkGearProfile(), "scanning")] {
            let identifier = profile.usesSerialPort ? PeripheralIdentifier(address: 7, type: .classic) : Self.stranger
            var test = machine(PreservedState(), profile: profile)
            test.fire(.restored([], attempt: test.attempt))
            test.fire(.retrievedConnected([identifier], attempt: test.attempt))
            #expect(test.machine.state.name == state, "\(profile.model)")
            // With the address an earlier process had tried, both are found.
            test = machine(PreservedState(peripheral: identifier), profile: profile)
            test.fire(.restored([], attempt: test.attempt))
            test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
            #expect(test.machine.state.name == "retrieving")
        }
    }

    @Test("A headset that was reached before is not looked for among strangers that prove nothing")
    func knownElsewhere() {
        var test = machine(
            PreservedState(peripheral: Self.stranger), profile: GanglionProfile(),
            identifiers: [MachineUnderTest.known])
        test.fire(restored(Self.stranger, test))
        #expect(test.machine.peripheral == MachineUnderTest.known)
        test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
        test.fire(.retrievedConnected([Self.stranger], attempt: test.attempt))
        #expect(test.machine.state.name == "scanning")
    }

    @Test("Where a proof is known it still decides: another headset's link is let go, and its address forgotten")
    func proofDecides() {
        for (proof, state) in [(MachineUnderTest.serial, "subscribingControl"), ("BE-0002", "cancelling")] {
            var test = machine(
                PreservedState(peripheral: Self.stranger),
                profile: BufferedEEGProfile(), identifiers: [MachineUnderTest.known], proof: MachineUnderTest.serial)
            test.fire(restored(Self.stranger, test))
            test.fire(.servicesDiscovered(attempt: test.attempt))
            #expect(test.machine.state.name == "identifying")
            test.fire(.identityRead(proof, attempt: test.attempt))
            #expect(test.machine.state.name == state)
            #expect((test.machine.unproven == nil) == (proof != MachineUnderTest.serial))
        }
    }

    @Test("A stranger that answers with an error for a person is left alone, and the search goes on")
    func refusingStranger() {
        for (error, isLinked) in [
            (CentralError.att(.writeNotPermitted), true), (.att(.insufficientAuthentication), true),
            (.peripheralBlocked, false), (.pairingRefused, false), (.repairingForbidden, false),
        ] {
            var test = MachineUnderTest.inState("scanning")
            test.fire(.discovered(Self.stranger))
            test.reachDeadline()
            #expect(test.machine.peripheral == Self.stranger)
            if isLinked {
                test.fire(.connected(Self.stranger, attempt: test.attempt))
                test.fire(.stepFailed(error, attempt: test.attempt))
                test.fire(.disconnected(nil, attempt: test.attempt))
            } else {
                test.fire(.connectFailed(error, attempt: test.attempt))
            }
            #expect(test.machine.state.name == "scanning", "\(error)")
            test.fire(.discovered(Self.stranger))
            test.wait(.seconds(1))
            test.fire(.deadlineReached)
            #expect(test.machine.state.name == "scanning")
            test.fire(.discovered(MachineUnderTest.known))
            #expect(test.machine.peripheral == MachineUnderTest.known)
        }
    }

    @Test("A stranger that a person blocks while it is connected is left alone, and the search goes on")
    func blockedStranger() {
        var test = MachineUnderTest.inState("scanning")
        test.fire(.discovered(Self.stranger))
        test.reachDeadline()
        let link = test.attempt
        test.fire(.connected(Self.stranger, attempt: link))
        test.fire(.disconnected(.peripheralBlocked, attempt: link))
        #expect(test.machine.state.name == "backingOff" && test.machine.deadline != nil)
        test.reachDeadline()
        #expect(test.machine.peripheral == MachineUnderTest.known)
        test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
        test.fire(.retrievedConnected([Self.stranger], attempt: test.attempt))
        #expect(test.machine.state.name == "scanning")
        test.fire(.discovered(Self.stranger))
        test.wait(.seconds(1))
        test.fire(.deadlineReached)
        #expect(test.machine.state.name == "scanning")
        test.fire(.discovered(MachineUnderTest.known))
        let known = test.attempt
        test.fire(.connected(MachineUnderTest.known, attempt: known))
        // Who blocks the headset itself is waited for.
        test.fire(.disconnected(.peripheralBlocked, attempt: known))
        #expect(test.machine.state == .waitingForOperator(.peripheralBlocked))
    }

    @Test("What keeps this machine from connecting is waited for, whomever it was to connect to")
    func heldByBluetoothd() {
        var test = MachineUnderTest.inState("scanning")
        test.fire(.discovered(Self.stranger))
        test.reachDeadline()
        test.fire(.connectFailed(.heldByBluetoothd, attempt: test.attempt))
        #expect(test.machine.state == .waitingForOperator(.heldByBluetoothd))
    }

    @Test("A person who says where the headset is need not do anything else")
    func adoptedWhileWaiting() {
        var test = MachineUnderTest.inState("waitingForOperator")
        test.effects += test.machine.adopt(Self.stranger, at: test.now)
        #expect(test.machine.state.name == "connecting" && test.machine.peripheral == Self.stranger)
    }

    @Test("A headset that streams elsewhere leaves an address it once tried to others")
    func foundElsewhere() {
        var test = machine(
            PreservedState(peripheral: Self.stranger), profile: BufferedEEGProfile(),
            identifiers: [MachineUnderTest.known], proof: MachineUnderTest.serial)
        test.fire(restored(MachineUnderTest.known, test))
        #expect(test.machine.unproven == Self.stranger)
        test.establish(until: "streaming")
        #expect(test.machine.state.name == "streaming" && test.machine.unproven == nil)
    }

    @Test("An address at which the headset streamed is proven, and no more a mere try")
    func proven() {
        var test = scanned(BufferedEEGProfile(), isDiscovered: true)
        test.fire(.identityRead(MachineUnderTest.serial, attempt: test.attempt))
        for _ in 0..<3 where test.machine.state.name != "streaming" {
            test.fire(.controlSubscribed(attempt: test.attempt))
            test.fire(.statusReceived(MachineUnderTest.status()))
            test.fire(.dataSubscribed(attempt: test.attempt))
            test.fire(.commandsCompleted(attempt: test.attempt))
        }
        #expect(test.machine.state.name == "streaming")
        #expect(test.machine.identifiers == [Self.stranger] && test.machine.unproven == nil)
    }
}
