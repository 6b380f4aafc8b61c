import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// Who is not the headset keeps the machine from it for seconds at most.
struct StrangerTests {
    private static let known = MachineUnderTest.known
    private static let stranger = MachineUnderTest.stranger
    private static let serial = "2031-TZRW-1301"

    /// A machine with a link to a stranger, who was found by a scan and has to prove that it is the headset.
    private static func linked(_ profile: any HeadsetProfile) -> MachineUnderTest {
        var test = MachineUnderTest(proof: serial, profile: profile)
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
        test.fire(.retrievedConnected([], attempt: test.attempt))
        test.fire(.discovered(stranger))
        test.reachDeadline()
        #expect(test.machine.peripheral == stranger)
        test.fire(.connected(stranger, attempt: test.attempt))
        return test
    }

    /// Lets the time pass, or less of it where the machine has something to do before.
    private static func pass(_ duration: Duration, _ test: inout MachineUnderTest) {
        let next = test.now + duration
        if let deadline = test.machine.deadline, deadline <= next { test.reachDeadline() } else { test.now = next }
    }

    @Test("A stranger whose services change again and again is let go, whether it lets them be discovered or not")
    func changingServices() {
        for isDiscovered in [true, false] {
            var test = Self.linked(BufferedEEGProfile())
            let began = test.now
            for _ in 0..<60 where test.machine.peripheral == Self.stranger {
                if isDiscovered { test.fire(.servicesDiscovered(attempt: test.attempt)) }
                Self.pass(.seconds(1), &test)
                test.fire(.servicesModified)
                if case .cancelling = test.machine.state { test.fire(.disconnected(nil, attempt: test.attempt)) }
            }
            #expect(test.machine.state.name == "backingOff")
            test.reachDeadline()
            #expect(test.machine.peripheral == Self.known && test.now - began < .seconds(10))
        }
    }

    @Test("A change that is reported once for each characteristic is one change")
    func oneChange() {
        var test = MachineUnderTest.inState("subscribingControl")
        let deadline = test.now + test.machine.profile.timing.stepLimit
        for _ in 0..<20 { test.fire(.servicesModified) }
        #expect(test.machine.state.name == "discovering" && test.machine.deadline == deadline)
        test.establish(until: "streaming")
        #expect(test.machine.state.name == "streaming")
    }

    @Test("A stranger that answers each step just in time has a limit for all of them")
    func slowStranger() {
        var test = Self.linked(MuseProfile(variant: .withPPG))
        let began = test.now
        for _ in 0..<60 where test.machine.state.name != "cancelling" {
            Self.pass(.milliseconds(2900), &test)
            switch test.machine.state.name {
            case "discovering": test.fire(.servicesDiscovered(attempt: test.attempt))
            case "subscribingControl": test.fire(.controlSubscribed(attempt: test.attempt))
            case "queryingStatus": test.fire(.statusReceived(HeadsetStatus(condition: .lowPower)))
            default: test.fire(.commandsCompleted(attempt: test.attempt))
            }
        }
        #expect(test.now - began <= ReconnectionLimits().proofLimit)
        test.fire(.disconnected(nil, attempt: test.attempt))
        test.reachDeadline()
        #expect(test.machine.peripheral == Self.known && test.now - began < .seconds(10))
    }

    // MARK: Posing

    /// A link to the known address, until a status with the serial number was answered; another one is asked for twice.
    private static func answer(_ serial: String, _ test: inout MachineUnderTest) {
        test.fire(.connected(known, attempt: test.attempt))
        test.fire(.servicesDiscovered(attempt: test.attempt))
        test.fire(.controlSubscribed(attempt: test.attempt))
        for _ in 0..<2 where test.machine.state.name == "queryingStatus" {
            test.fire(.statusReceived(HeadsetStatus(condition: .idle, serialNumber: serial)))
        }
    }

    /// From the end of a link to the next connect, while the known address is heard all the time.
    private static func connectAgain(_ test: inout MachineUnderTest) {
        for _ in 0..<200 {
            switch test.machine.state {
            case .connecting: return
            case .cancelling: test.fire(.disconnected(nil, attempt: test.attempt))
            case .retrieving: test.fire(.retrievedConnected([], attempt: test.attempt))
            case .scanning:
                test.fire(.discovered(known))
                if case .scanning = test.machine.state { pass(.milliseconds(500), &test) }
            default: test.reachDeadline()
            }
        }
    }

    private static func connecting() -> MachineUnderTest {
        var test = MachineUnderTest(proof: serial, profile: MuseProfile(variant: .withPPG))
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        return test
    }

    @Test("Whoever poses twice at the headset's address keeps it away for seconds")
    func posing() {
        var test = Self.connecting()
        let began = test.now
        for _ in 0..<2 {
            Self.answer("3054-GDSZ-0001", &test)
            #expect(test.machine.state.name == "cancelling")
            #expect(test.machine.identifiers == [Self.known] && test.machine.claimedIdentifiers.isEmpty)
            Self.connectAgain(&test)
            #expect(test.machine.peripheral == Self.known)
        }
        Self.answer(Self.serial, &test)
        test.fire(.commandsCompleted(attempt: test.attempt))
        test.fire(.dataSubscribed(attempt: test.attempt))
        test.fire(.commandsCompleted(attempt: test.attempt))
        #expect(test.machine.state.name == "streaming" && test.now - began < .seconds(30))
        #expect(test.machine.claimedIdentifiers == [Self.known])
    }

    @Test("An address that a person named, and at which the headset never was, is given up with another headset there")
    func named() {
        var test = Self.connecting()
        test.machine.named = [Self.known]
        Self.answer("3054-GDSZ-0001", &test)
        #expect(test.machine.identifiers.isEmpty)
    }
}
