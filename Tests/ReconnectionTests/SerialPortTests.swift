import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// Headsets of Bluetooth Classic: paged by their address, never advertised.
@Suite struct SerialPortTests {
    private let address = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)

    @Test func aHeadsetKnownByClassicAddressesIsPagedAndNotScannedFor() {
        var test = MachineUnderTest(identifiers: [address], proof: nil, profile: ThinkGearProfile())
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        for _ in 0..<5 {
            test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
            test.fire(.retrievedConnected([], attempt: test.attempt))
            #expect(test.machine.state == .backingOff)
            let pause = (test.machine.deadline ?? test.now) - test.now
            #expect(pause <= ReconnectionLimits().backoffMaximum, "longer than the gate allows")
            test.reachDeadline()
            guard case .connecting = test.machine.state else {
                Issue.record("paging does not go on, but \(test.machine.state)")
                return
            }
        }
        #expect(!test.effects.contains(.startScan))
    }

    @Test func aHeadsetThatWasNeverReachedIsScannedForAndOnlyAClassicAddressWillDo() {
        var test = MachineUnderTest(identifiers: [], proof: nil, profile: ThinkGearProfile())
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.retrievedConnected([], attempt: test.attempt))
        #expect(test.effects.contains(.startScan))
        test.fire(.discovered(MachineUnderTest.known))
        guard case .scanning = test.machine.state else {
            Issue.record("an address of Low Energy has no serial port, but \(test.machine.state)")
            return
        }
        test.fire(.discovered(address))
        test.reachDeadline()
        guard case .connecting = test.machine.state else {
            Issue.record("not connected to, but \(test.machine.state)")
            return
        }
    }

    @Test func whileItIsAwayForLongPagingGoesOnWithShortPauses() {
        var test = MachineUnderTest(identifiers: [address], proof: nil, profile: ThinkGearProfile())
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        let end = test.now + .seconds(300)
        var unpaged: MonotonicTime?
        var longest = Duration.zero
        while test.now < end {
            switch test.machine.state {
            case .connecting:
                if let unpaged { longest = max(longest, test.now - unpaged) }
                unpaged = nil
                test.reachDeadline()
            case .cancelling:
                unpaged = test.now
                test.fire(.disconnected(nil, attempt: test.attempt))
            default: test.reachDeadline()
            }
        }
        #expect(test.effects.contains(.startScan), "it may have another address by now")
        #expect(longest <= .milliseconds(3500), "\(longest)")
    }

    @Test func aConnectToItsOnlyAddressLastsForTurnsAtTheRadio() {
        let other = PeripheralIdentifier(address: 0x2068_9D00_0002, type: .classic)
        for (identifiers, limit) in [([address], 20), ([address, other], 4)] {
            var test = MachineUnderTest(identifiers: identifiers, proof: nil, profile: ThinkGearProfile())
            test.fire(.start)
            test.fire(.restored([], attempt: test.attempt))
            #expect(test.machine.deadline == test.now + .seconds(limit))
        }
    }
}
