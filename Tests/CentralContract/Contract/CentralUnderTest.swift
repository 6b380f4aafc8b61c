import Bluetooth
import Headsets

/// A central that is driven as the daemon drives it, and watched by a ``RequestLedger``.
final class CentralUnderTest {
    /// After so many calls of `process(at:)` at one instant a central counts as spinning.
    private static let turnLimit = 10_000

    let bench: any ContractBench
    private(set) var ledger = RequestLedger()
    private let spoil: (any Central) -> any Central
    /// Nil only between two processes: the old one must be gone before the next begins.
    private var central: (any Central)?
    private var inbox: [CentralEvent] = []
    private var lastAttempt = Attempt.none
    private var turnsAtThisInstant = 0
    private var lastTurn = MonotonicTime.boot

    init(on bench: any ContractBench, spoil: @escaping (any Central) -> any Central) {
        self.bench = bench
        self.spoil = spoil
        central = spoil(bench.makeCentral())
    }

    var headset: PeripheralIdentifier { bench.headset.identifier }
    var state: AdapterState { central?.state ?? .unknown }

    /// The process dies, and the next one begins.
    func restart() {
        central = nil
        inbox = []
        ledger.processEnded()
        central = spoil(bench.makeCentral())
    }

    // MARK: Calls

    /// Makes a request with a new attempt.
    @discardableResult
    func ask(_ request: Request) -> Attempt {
        lastAttempt = lastAttempt.next
        ledger.asked(request, lastAttempt, at: bench.now)
        if let central { request.make(of: central, attempt: lastAttempt) }
        ledger.check(state: state, after: "\(request)")
        return lastAttempt
    }

    func scan(_ filter: ScanFilter) {
        ledger.scanFilter = filter
        central?.request(.scanForPeripherals(matching: filter))
        ledger.check(state: state, after: "scanForPeripherals")
    }

    func stopScan() {
        ledger.scanFilter = nil
        central?.request(.stopScan)
        ledger.check(state: state, after: "stopScan")
        // What was emitted before is of no interest any more.
        inbox.removeAll(where: \.isDiscovery)
    }

    // MARK: Time

    /// Takes what the central emits now.
    private func turn() throws(Breach) {
        guard let central else { return }
        let began = bench.now
        turnsAtThisInstant = began == lastTurn ? turnsAtThisInstant + 1 : 0
        lastTurn = began
        let events = central.process(at: began)
        ledger.took(events, at: bench.now)
        ledger.check(state: central.state, after: "process(at:)")
        // Packets answer nothing, and come with everything; what is wrong with them the ledger has found.
        inbox += events.filter { if case .didTransferPacket = $0 { false } else { true } }
        guard turnsAtThisInstant < Self.turnLimit else {
            throw Breach(finding: "the deadline lies in the past again and again, and nothing is emitted")
        }
    }

    /// Rests as the daemon does: until something may have happened, or the central's deadline.
    private func rest(until instant: MonotonicTime) {
        bench.pass(until: min(instant, central?.deadline ?? instant))
    }

    /// Waits for an event and takes it. Others stay for later, and the ledger has seen all of them.
    func wait<Found>(
        _ limit: Duration, for what: String, _ match: (CentralEvent) -> Found?
    ) throws(Breach) -> Found {
        let end = bench.now + limit
        while true {
            try turn()
            for (index, event) in inbox.enumerated() {
                guard let found = match(event) else { continue }
                inbox.remove(at: index)
                return found
            }
            // What comes only now was not emitted by the deadline that the central itself has named.
            guard bench.now < end else { break }
            rest(until: end)
            if bench.now >= end { break }
        }
        throw Breach(finding: "waited \(limit) for \(what); emitted instead: \(tail(inbox))")
    }

    /// Lets time pass and returns everything that was emitted and not taken.
    @discardableResult
    func watch(_ duration: Duration) throws(Breach) -> [CentralEvent] {
        let end = bench.now + duration
        try turn()
        while bench.now < end {
            rest(until: end)
            try turn()
        }
        defer { inbox = [] }
        return inbox
    }

    /// Forgets what was emitted so far.
    func forget() { inbox = [] }

    /// Ends everything that a case may have begun. What goes wrong here is in the ledger.
    func leave() {
        stopScan()
        _ = try? watch(.seconds(1))
        if (try? restoreAdapter()) != nil { _ = try? cancel() }
        central = nil
    }

    private func restoreAdapter() throws(Breach) {
        if state == .poweredOn { return }
        try waitForState(.poweredOn, within: .seconds(90))
    }

    private func tail(_ events: [CentralEvent]) -> String {
        if events.isEmpty { return "nothing" }
        return events.suffix(6).map { "\($0)" }.joined(separator: "; ")
    }
}
