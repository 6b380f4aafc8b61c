import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// Addresses at which a headset that proves nothing about itself was never reached.
struct AdoptionTests {
    private static let known = MachineUnderTest.known
    private static let other = PeripheralIdentifier(address: 0xC1_00_00_00_00_01, type: .random)
    private static let third = PeripheralIdentifier(address: 0xC1_00_00_00_00_02, type: .random)

    /// A Ganglion that is looked for, in its first scan.
    private func scanning(
        _ identifiers: [PeripheralIdentifier] = [known], _ policy: Adoption.Policy = .automatic,
        profile: any HeadsetProfile = GanglionProfile()
    ) -> MachineUnderTest {
        var test = MachineUnderTest(identifiers: identifiers, proof: nil, knownBoot: nil, profile: profile)
        test.machine.adoption = Adoption(policy, after: .seconds(60))
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        scan(&test)
        return test
    }

    /// Lets the layers before the scan fail.
    private func scan(_ test: inout MachineUnderTest) {
        for _ in 0..<20 {
            switch test.machine.state {
            case .connecting: test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
            case .retrieving: test.fire(.retrievedConnected([], attempt: test.attempt))
            case .scanning: return
            default: test.reachDeadline()
            }
        }
    }

    /// Scans for a while in which these are heard once a second.
    private func hear(_ heard: [PeripheralIdentifier], for duration: Duration, _ test: inout MachineUnderTest) {
        let end = test.now + duration
        while test.now < end {
            if let deadline = test.machine.deadline, deadline <= test.now { test.fire(.deadlineReached) }
            if case .scanning = test.machine.state {
                for identifier in heard { test.fire(.discovered(identifier)) }
            } else if test.machine.peripheral.map(heard.contains) ?? false {
                return
            } else {
                scan(&test)
            }
            test.wait(.seconds(1))
        }
    }

    private func establish(_ test: inout MachineUnderTest) {
        if let peripheral = test.machine.peripheral { test.fire(.connected(peripheral, attempt: test.attempt)) }
        for _ in 0..<10 {
            switch test.machine.state.name {
            case "discovering": test.fire(.servicesDiscovered(attempt: test.attempt))
            case "subscribingControl": test.fire(.controlSubscribed(attempt: test.attempt))
            case "queryingStatus": test.fire(.statusReceived(HeadsetStatus(condition: .sampling)))
            case "subscribingData": test.fire(.dataSubscribed(attempt: test.attempt))
            case "initialising", "starting": test.fire(.commandsCompleted(attempt: test.attempt))
            default: return
            }
        }
    }

    @Test("The only one in sight is adopted once the known address was silent for the set time, provisionally")
    func automatic() {
        var test = scanning()
        let began = test.now
        hear([Self.other], for: .seconds(50), &test)
        #expect(test.machine.peripheral == nil || test.machine.peripheral == Self.known)
        hear([Self.other], for: .seconds(30), &test)
        #expect(test.machine.peripheral == Self.other)
        #expect(test.now - began >= .seconds(59))
        establish(&test)
        #expect(test.machine.state.name == "streaming")
        #expect(test.effects.contains(.adopted(Self.other, replacing: Self.known, isAutomatic: true)))
        #expect(test.machine.provisional == Self.other && test.machine.identifiers == [Self.other, Self.known])
    }

    @Test("Nobody is adopted where a person is to be asked, where nobody may be, or where two are in sight")
    func refused() {
        for (policy, heard) in [
            (Adoption.Policy.ask, [Self.other]), (.never, [Self.other]), (.automatic, [Self.other, Self.third]),
        ] {
            var test = scanning([Self.known], policy)
            hear(heard, for: .seconds(200), &test)
            #expect(!test.effects.contains { if case .connect(Self.other, _) = $0 { true } else { false } }, "\(policy)")
            #expect(test.machine.candidates(at: test.now - .seconds(1)) == heard)
        }
    }

    @Test("A known address that is heard is not silent")
    func heard() {
        var test = scanning()
        for _ in 0..<20 {
            hear([Self.other], for: .seconds(8), &test)
            if case .scanning = test.machine.state { test.fire(.discovered(Self.known)) }
        }
        #expect(!test.effects.contains { if case .connect(Self.other, _) = $0 { true } else { false } })
    }

    @Test("Who was in sight before the headset itself was is a neighbour, and never adopted by itself")
    func neighbour() {
        var test = scanning()
        hear([Self.other], for: .seconds(5), &test)
        if case .scanning = test.machine.state {} else { scan(&test) }
        test.fire(.discovered(Self.known))
        establish(&test)
        guard case .streaming(let link, _) = test.machine.state else { return #expect(Bool(false), "does not stream") }
        test.fire(.disconnected(.linkLost, attempt: link.connectAttempt))
        hear([Self.other], for: .seconds(300), &test)
        #expect(!test.effects.contains { if case .connect(Self.other, _) = $0 { true } else { false } })
    }

    @Test("What a person adopts is connected to at once, also in place of another, and is not provisional")
    func byAPerson() {
        var test = scanning([Self.known], .ask)
        #expect(test.machine.adopt(Self.other, at: test.now).isEmpty)
        test.fire(.discovered(Self.other))
        establish(&test)
        #expect(test.effects.contains(.adopted(Self.other, replacing: Self.known, isAutomatic: false)))
        #expect(test.machine.provisional == nil)
        let effects = test.machine.adopt(Self.third, at: test.now)
        #expect(effects.contains(.streamingEnded(.linkLost)))
        #expect(test.machine.identifiers.first == Self.third)
    }

    @Test("One that was adopted by itself is let go for good where the headset streams at its old address again")
    func withdrawn() {
        var test = scanning()
        hear([Self.other], for: .seconds(80), &test)
        establish(&test)
        guard case .streaming(let link, _) = test.machine.state else { return #expect(Bool(false), "does not stream") }
        test.fire(.disconnected(.linkLost, attempt: link.connectAttempt))
        test.reachDeadline()
        test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
        #expect(test.machine.peripheral == Self.known)
        establish(&test)
        #expect(test.effects.contains(.adoptionWithdrawn(Self.other, for: Self.known)))
        #expect(test.machine.identifiers == [Self.known] && test.machine.provisional == nil)
        #expect(!test.machine.isUnrecognised(Self.other, at: test.now + .seconds(100_000)))
    }

    @Test("One that was never reached is bound where it is the only one in sight, and not where several are")
    func ambiguous() {
        for profile in [GanglionProfile() as any HeadsetProfile, BufferedEEGProfile()] {
            var test = scanning([], profile: profile)
            hear([Self.other], for: .seconds(4), &test)
            #expect(test.machine.peripheral == Self.other)
            test = scanning([], profile: profile)
            hear([Self.other, Self.third], for: .seconds(60), &test)
            #expect(test.machine.peripheral == nil)
            // The other one leaves.
            hear([Self.other], for: .seconds(60), &test)
            #expect(test.machine.peripheral == Self.other)
        }
    }

    @Test("Service retrieval accepts a sole candidate, and of several none")
    func retrieved() {
        for (found, state) in [([Self.other], "connecting"), ([Self.other, Self.third], "scanning")] {
            var test = MachineUnderTest(identifiers: [], proof: nil, knownBoot: nil, profile: HermesProfile())
            test.fire(.start)
            test.fire(.restored([], attempt: test.attempt))
            test.fire(.retrievedConnected(found, attempt: test.attempt))
            #expect(test.machine.state.name == state)
        }
    }

    @Test("A headset with a serial port that was silent for the set time is scanned for, too")
    func serialPort() {
        let former = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)
        let other = PeripheralIdentifier(address: 0x2068_9D00_0002, type: .classic)
        var test = scanning([former], profile: ThinkGearProfile())
        test.effects.removeAll()
        test.wait(.seconds(70))
        scan(&test)
        hear([other], for: .seconds(5), &test)
        #expect(test.machine.peripheral == other)
    }
}
