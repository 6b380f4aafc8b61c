/// One central out of two: classic addresses go to one, all others to the other, at once and on the same adapter.
///
/// The serial port's UUID belongs to Bluetooth Classic; every other service is one of Bluetooth Low Energy. What concerns both
/// is asked of both, and answered once. Only the central for Bluetooth Low Energy scans: Bluetooth Classic has no advertising.
///
/// The adapter's state is what the central for Bluetooth Low Energy says, with one exception: while bluetoothd restarts
/// (``AdapterState/resetting``) an adapter that the kernel says is on counts as on, since serial ports work without bluetoothd,
/// and a link that works must not be given up. Requests to the others are refused meanwhile.
public final class RoutedCentral: Central {
    /// How many questions may wait for their second answer: far more than there are headsets, each of which waits for one. A
    /// central may stay silent for ever, and callers have given up long before that many more were asked.
    static let mergesMaximum = 64

    private let lowEnergy: any Central
    private let classic: any Central
    private var merges: [Merge] = []
    public private(set) var state = AdapterState.unknown

    /// A question that both were asked.
    private struct Merge {
        let attempt: Attempt
        /// What the first of them answered; nil before.
        var first: CentralEvent?
    }

    /// Creates a central out of two, which nobody else uses any more.
    public init(lowEnergy: any Central, classic: any Central) {
        self.lowEnergy = lowEnergy
        self.classic = classic
    }

    public var deadline: MonotonicTime? { [lowEnergy.deadline, classic.deadline].compactMap { $0 }.min() }

    public func process(at now: MonotonicTime) -> [CentralEvent] {
        var events = lowEnergy.process(at: now).filter { !isState($0) }
        events += classic.process(at: now).filter { !isState($0) && !isFailedScan($0) }
        events = events.compactMap(merged)
        let common = lowEnergy.state == .resetting && classic.state == .poweredOn ? .poweredOn : lowEnergy.state
        if common != state {
            state = common
            events.append(.didUpdateState(common))
        }
        return events
    }

    private func isState(_ event: CentralEvent) -> Bool {
        if case .didUpdateState = event { true } else { false }
    }

    private func isFailedScan(_ event: CentralEvent) -> Bool {
        if case .didFailToScan = event { true } else { false }
    }

    // MARK: Requests

    public func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(let identifiers, let services, let attempt):
            let (theirs, others) = split(identifiers)
            let (ports, attributes) = split(services)
            ask(
                attempt,
                classic: theirs.isEmpty && ports.isEmpty
                    ? nil : .restoreState(identifiers: theirs, services: ports, attempt: attempt),
                lowEnergy: others.isEmpty && attributes.isEmpty
                    ? nil : .restoreState(identifiers: others, services: attributes, attempt: attempt), otherwise: request)
        case .retrieveConnectedPeripherals(let services, let attempt):
            let (ports, attributes) = split(services)
            ask(
                attempt, classic: ports.isEmpty ? nil : .retrieveConnectedPeripherals(withServices: ports, attempt: attempt),
                lowEnergy: attributes.isEmpty
                    ? nil : .retrieveConnectedPeripherals(withServices: attributes, attempt: attempt), otherwise: request)
        default: (request.peripheral?.addressType == .classic ? classic : lowEnergy).request(request)
        }
    }

    /// Asks those that are concerned; the one for Bluetooth Low Energy where neither is.
    private func ask(
        _ attempt: Attempt, classic ofClassic: CentralRequest?, lowEnergy ofLowEnergy: CentralRequest?,
        otherwise: CentralRequest
    ) {
        if ofClassic != nil, ofLowEnergy != nil { merges.append(Merge(attempt: attempt)) }
        if merges.count > Self.mergesMaximum { merges.removeFirst() }
        if let ofClassic { classic.request(ofClassic) }
        if let ofLowEnergy { lowEnergy.request(ofLowEnergy) }
        if ofClassic == nil, ofLowEnergy == nil { lowEnergy.request(otherwise) }
    }

    /// The event as it is passed on; nil for the first of two answers.
    private func merged(_ event: CentralEvent) -> CentralEvent? {
        switch event {
        case .willRestoreState(let mine, let attempt):
            join(event, attempt) { other in
                guard case .willRestoreState(let theirs, _) = other else { return event }
                return .willRestoreState(theirs + mine, attempt: attempt)
            }
        case .didRetrieveConnected(let mine, let attempt):
            join(event, attempt) { other in
                guard case .didRetrieveConnected(let theirs, _) = other else { return event }
                return .didRetrieveConnected(theirs + mine, attempt: attempt)
            }
        default: event
        }
    }

    private func join(
        _ event: CentralEvent, _ attempt: Attempt, _ both: (CentralEvent) -> CentralEvent
    ) -> CentralEvent? {
        guard let index = merges.firstIndex(where: { $0.attempt == attempt }) else { return event }
        guard let first = merges[index].first else {
            merges[index].first = event
            return nil
        }
        merges.remove(at: index)
        return both(first)
    }

    private func split(
        _ identifiers: [PeripheralIdentifier]
    ) -> (classic: [PeripheralIdentifier], others: [PeripheralIdentifier]) {
        (identifiers.filter { $0.addressType == .classic }, identifiers.filter { $0.addressType != .classic })
    }

    private func split(_ services: [BluetoothUUID]) -> (classic: [BluetoothUUID], others: [BluetoothUUID]) {
        (services.filter { $0 == .serialPort }, services.filter { $0 != .serialPort })
    }
}
