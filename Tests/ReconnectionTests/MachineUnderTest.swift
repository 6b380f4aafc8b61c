import Bluetooth
import Headsets

@testable import Reconnection

/// A machine with a clock that the test turns, and ways into each state.
struct MachineUnderTest {
    static let known = PeripheralIdentifier(address: 0xC0_55_DA_B0_13_24, type: .public)
    static let second = PeripheralIdentifier(address: 0xC0_55_DA_B0_13_25, type: .public)
    static let stranger = PeripheralIdentifier(address: 0xC1_00_00_00_00_01, type: .random)
    static let serial = "BE-0001"
    static let boot: UInt32 = 0x5EED_C0DE

    var machine: ConnectionMachine
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var effects: [ConnectionEffect] = []

    init(
        identifiers: [PeripheralIdentifier] = [known], proof: String? = serial, knownBoot: UInt32? = boot, seed: UInt64 = 1,
        profile: any HeadsetProfile = BufferedEEGProfile()
    ) {
        machine = ConnectionMachine(
            profile: profile, identifiers: identifiers, identityProof: proof,
            knownBoot: knownBoot, seed: seed)
        fire(.adapterChanged(.poweredOn))
    }

    /// Sends an event and keeps its effects, which are also appended to all.
    @discardableResult
    mutating func fire(_ event: ConnectionEvent) -> [ConnectionEffect] {
        let new = machine.handle(event, at: now)
        effects += new
        return new
    }

    /// Turns the clock to the machine's deadline and tells it.
    @discardableResult
    mutating func reachDeadline() -> [ConnectionEffect] {
        if let deadline = machine.deadline { now = max(now, deadline) }
        return fire(.deadlineReached)
    }

    mutating func wait(_ duration: Duration) {
        now = now + duration
    }

    var attempt: Attempt { machine.attempt }

    static func status(
        _ condition: HeadsetStatus.Condition = .sampling, boot: UInt32? = boot
    ) -> HeadsetStatus {
        HeadsetStatus(condition: condition, bootIdentifier: boot)
    }

    /// A machine in the state, reached as in life.
    static func inState(_ name: String, profile: any HeadsetProfile = BufferedEEGProfile()) -> MachineUnderTest {
        var test = MachineUnderTest(profile: profile)
        switch name {
        case "stopped": return test
        case "waitingForAdapter":
            test.fire(.adapterChanged(.poweredOff))
            test.fire(.start)
            return test
        case "waitingForOperator":
            test.fire(.start)
            test.fire(.restored([], attempt: test.attempt))
            test.fire(.connectFailed(.peripheralBlocked, attempt: test.attempt))
            return test
        default: break
        }
        test.fire(.start)
        if name == "restoring" { return test }
        test.fire(.restored([], attempt: test.attempt))
        switch name {
        case "connecting": return test
        case "cancelling":
            test.reachDeadline()
            return test
        case "retrieving", "scanning", "backingOff", "identifying":
            test.fire(.connectFailed(.connectionTimedOut, attempt: test.attempt))
            if name == "retrieving" { return test }
            test.fire(.retrievedConnected([], attempt: test.attempt))
            if name == "scanning" { return test }
            if name == "backingOff" {
                test.fire(.scanFailed(.inProgress))
                return test
            }
            test.fire(.discovered(stranger))
            test.reachDeadline()
            test.fire(.connected(stranger, attempt: test.attempt))
            test.fire(.servicesDiscovered(attempt: test.attempt))
            return test
        default: break
        }
        test.fire(.connected(known, attempt: test.attempt))
        test.establish(until: name)
        return test
    }

    /// Answers every step of the establish flow until the state is reached.
    mutating func establish(until name: String) {
        if machine.state.name == name { return }
        fire(.servicesDiscovered(attempt: attempt))
        if machine.state.name == name { return }
        fire(.controlSubscribed(attempt: attempt))
        if machine.state.name == name { return }
        if name == "waking" {
            fire(.statusReceived(Self.status(.lowPower)))
            return
        }
        if name == "initialising" {
            fire(.statusReceived(Self.status(.idle)))
            return
        }
        fire(.statusReceived(Self.status()))
        if machine.state.name == name { return }
        fire(.dataSubscribed(attempt: attempt))
        if machine.state.name == name { return }
        fire(.commandsCompleted(attempt: attempt))
        if name == "stopping" { fire(.stop(.operatorStopped)) }
    }

    static let stateNames = [
        "stopped", "waitingForAdapter", "waitingForOperator", "restoring", "connecting", "cancelling", "retrieving", "scanning",
        "discovering", "identifying", "subscribingControl", "queryingStatus", "waking", "initialising", "subscribingData",
        "starting", "streaming", "stopping", "backingOff",
    ]

    /// Every event once, as it would come in the machine's present state: replies carry the attempt that is waited for.
    var everyEvent: [(name: String, event: ConnectionEvent)] {
        let link: Attempt =
            switch machine.state {
            case .establishing(let link, _), .streaming(let link, _), .stopping(let link): link.connectAttempt
            default: attempt
            }
        return [
            ("start", .start), ("stop (operator)", .stop(.operatorStopped)), ("stop (shutdown)", .stop(.shutdown)),
            ("adapter off", .adapterChanged(.poweredOff)), ("adapter on", .adapterChanged(.poweredOn)),
            ("operator acted", .operatorActed), ("deadline", .deadlineReached),
            (
                "restored",
                .restored(
                    [RestoredPeripheral(identifier: Self.known, isConnected: true, database: nil, notifying: [])],
                    attempt: attempt)
            ),
            ("retrieved", .retrievedConnected([Self.known], attempt: attempt)), ("discovered", .discovered(Self.known)),
            ("scan failed", .scanFailed(.inProgress)), ("connected", .connected(Self.known, attempt: attempt)),
            ("connect failed", .connectFailed(.connectionTimedOut, attempt: attempt)),
            ("disconnected", .disconnected(.linkLost, attempt: link)),
            ("services", .servicesDiscovered(attempt: attempt)), ("identity", .identityRead(Self.serial, attempt: attempt)),
            ("other identity", .identityRead("BE-0002", attempt: attempt)),
            ("control on", .controlSubscribed(attempt: attempt)), ("status", .statusReceived(Self.status())),
            ("status asleep", .statusReceived(Self.status(.lowPower))),
            ("status restarted", .statusReceived(Self.status(.idle, boot: 7))),
            ("data on", .dataSubscribed(attempt: attempt)), ("commands done", .commandsCompleted(attempt: attempt)),
            ("step failed", .stepFailed(.linkLost, attempt: attempt)), ("services modified", .servicesModified),
            ("samples", .samplesReceived(from: BufferedEEGService.data)),
        ]
    }
}
