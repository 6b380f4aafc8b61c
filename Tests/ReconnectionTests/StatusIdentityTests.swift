import Bluetooth
import Headsets
import Testing

@testable import Reconnection

/// Headsets that send their serial number in their status, as a Muse does.
struct StatusIdentityTests {
    private static let serial = "2031-TZRW-1301"

    /// A machine whose link to the peripheral has just asked for the status.
    private static func asked(
        _ peripheral: PeripheralIdentifier, known: [PeripheralIdentifier], proof: String?
    ) -> MachineUnderTest {
        var test = MachineUnderTest()
        test.machine = ConnectionMachine(
            profile: MuseProfile(), identifiers: known, identityProof: proof,
            seed: 1)
        test.fire(.adapterChanged(.poweredOn))
        test.fire(.start)
        test.fire(.restored([], attempt: test.attempt))
        if !known.contains(peripheral) {
            if !known.isEmpty { test.fire(.connectFailed(.unknownPeripheral, attempt: test.attempt)) }
            test.fire(.retrievedConnected([peripheral], attempt: test.attempt))
        }
        test.fire(.connected(peripheral, attempt: test.attempt))
        test.fire(.servicesDiscovered(attempt: test.attempt))
        test.fire(.controlSubscribed(attempt: test.attempt))
        test.effects.removeAll()
        return test
    }

    private static func status(_ serial: String?, _ condition: HeadsetStatus.Condition = .idle) -> ConnectionEvent {
        .statusReceived(HeadsetStatus(condition: condition, serialNumber: serial))
    }

    private static func purposes(_ test: MachineUnderTest) -> [CommandPurpose] {
        test.effects.compactMap { if case .run(let purpose, _, _) = $0 { purpose } else { nil } }
    }

    private static func isRejected(_ test: MachineUnderTest) -> Bool {
        test.effects.contains { if case .identifierRejected = $0 { true } else { false } }
    }

    @Test("The expected serial number is enough at any address")
    func expected() {
        for peripheral in [MachineUnderTest.known, MachineUnderTest.stranger] {
            var test = Self.asked(peripheral, known: [MachineUnderTest.known], proof: Self.serial)
            test.fire(Self.status(Self.serial))
            #expect(Self.purposes(test) == [.initialise])
        }
    }

    @Test("Another serial number turns a headset away once it was sent twice; a damaged one does not")
    func other() {
        var test = Self.asked(MachineUnderTest.known, known: [MachineUnderTest.known], proof: Self.serial)
        test.fire(Self.status("2031-TZ5-da-b0"))
        #expect(Self.purposes(test) == [.queryStatus])
        test.fire(Self.status(Self.serial))
        #expect(Self.purposes(test) == [.queryStatus, .initialise])
        #expect(!Self.isRejected(test))

        test = Self.asked(MachineUnderTest.stranger, known: [MachineUnderTest.known], proof: Self.serial)
        test.fire(Self.status("3054-GDSZ-0001"))
        test.fire(Self.status("3054-GDSZ-0001"))
        #expect(Self.isRejected(test))
        #expect(Self.purposes(test) == [.queryStatus])
    }

    @Test("The first serial number ever is believed once it was sent twice")
    func first() {
        var test = Self.asked(MachineUnderTest.stranger, known: [], proof: nil)
        test.fire(Self.status(Self.serial))
        #expect(test.machine.identityProof == nil)
        test.fire(Self.status(Self.serial))
        #expect(test.machine.identityProof == Self.serial)
        #expect(Self.purposes(test) == [.queryStatus, .initialise])
    }

    @Test("A headset that sends another serial number each time is let go")
    func changing() {
        var test = Self.asked(MachineUnderTest.stranger, known: [], proof: nil)
        for number in 0..<10 { test.fire(Self.status("damaged \(number)")) }
        #expect(Self.purposes(test).count == ReconnectionLimits().proofTries)
        #expect(test.effects.contains { if case .cancelConnection = $0 { true } else { false } })
    }

    @Test("At an unknown address, a status without a serial number proves nothing, but a sleeping headset is woken")
    func unsent() {
        var test = Self.asked(MachineUnderTest.stranger, known: [MachineUnderTest.known], proof: Self.serial)
        test.fire(Self.status(nil, .bootloader))
        #expect(Self.purposes(test) == [.wake])
        test = Self.asked(MachineUnderTest.stranger, known: [MachineUnderTest.known], proof: Self.serial)
        test.fire(Self.status(nil))
        #expect(Self.purposes(test).isEmpty)
        test = Self.asked(MachineUnderTest.known, known: [MachineUnderTest.known], proof: Self.serial)
        test.fire(Self.status(nil))
        #expect(Self.purposes(test) == [.initialise])
    }
}
