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
}
