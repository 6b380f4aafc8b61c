import Bluetooth
import Headsets
import Simulation

/// A simple host that never gives up: connects, discovers, subscribes, configures, starts; begins anew where something takes
/// longer than five seconds or breaks. Keeps account of the answers.
final class PersistentHost {
    let world: SimulatedWorld
    private var central: SimulatedCentral
    private var attempt: UInt64 = 0
    private var isScanning = false
    private var wanted: PeripheralIdentifier?
    private var giveUpAt = MonotonicTime.boot
    private var answeredAttempts: Set<Attempt> = []
    private(set) var notificationCount = 0
    private(set) var lastNotification = MonotonicTime.boot
    /// Answers to connects that were answered already.
    private(set) var secondAnswers: [CentralEvent] = []

    init(_ world: SimulatedWorld) {
        self.world = world
        central = world.makeCentral()
    }

    private func next() -> Attempt {
        attempt += 1
        return Attempt(number: attempt)
    }

    func run(until end: MonotonicTime) {
        while world.now < end {
            for event in central.process(at: min(end, central.deadline ?? end, world.now + .seconds(1))) { handle(event) }
            for fault in world.takeHostFaults() where fault.fault == .daemonKilled {
                world.kill()
                world.advance(to: world.now + fault.duration)
                central = world.makeCentral()
                (isScanning, wanted) = (false, nil)
                central.request(.restoreState(identifiers: [], services: [BufferedEEGService.service], attempt: next()))
            }
            if world.now >= giveUpAt { startOver() }
        }
    }

    /// Cancels what is under way and scans; two cancelled connects are never outstanding at once.
    private func startOver() {
        giveUpAt = world.now + .seconds(5)
        if let wanted { central.request(.cancelPeripheralConnection(wanted, attempt: next())) }
        wanted = nil
        central.request(.retrieveConnectedPeripherals(withServices: [BufferedEEGService.service], attempt: next()))
        central.request(.scanForPeripherals(matching: BufferedEEGProfile().recognition.scanFilter))
        isScanning = true
    }

    private func connect(_ identifier: PeripheralIdentifier) {
        guard wanted == nil, isScanning else { return }
        central.request(.stopScan)
        isScanning = false
        wanted = identifier
        giveUpAt = world.now + .seconds(5)
        central.request(.connect(identifier, attempt: next()))
    }

    private func handle(_ event: CentralEvent) {
        switch event {
        case .didUpdateState(.poweredOn): startOver()
        case .didDiscover(let identifier, _, _): connect(identifier)
        case .didRetrieveConnected(let found, _): found.first.map(connect)
        case .didConnect(let identifier, let attempt):
            answered(attempt, event)
            guard identifier == wanted else { return }
            central.request(.discoverServices(on: identifier, attempt: next()))
        case .didFailToConnect(_, _, let attempt):
            answered(attempt, event)
            giveUpAt = min(giveUpAt, world.now + .seconds(1))
        case .didDiscoverServices(let identifier, .success, _):
            for uuid in [BufferedEEGService.control, BufferedEEGService.data] {
                central.request(.setNotifyValue(true, for: uuid, on: identifier, attempt: next()))
            }
            for command in [BufferedEEGCommand.status, .wake, .configure, .start, .status] {
                central.request(
                    .writeValue(
                        command.encoded(), to: BufferedEEGService.control, type: .withResponse, on: identifier, attempt: next())
                )
            }
        case .didUpdateValue(let uuid, let identifier, _, let time):
            notificationCount += 1
            lastNotification = time
            if identifier == wanted, uuid == BufferedEEGService.data { giveUpAt = time + .seconds(5) }
        default: break
        }
    }

    private func answered(_ attempt: Attempt, _ event: CentralEvent) {
        if answeredAttempts.contains(attempt) { secondAnswers.append(event) }
        answeredAttempts.insert(attempt)
    }
}
