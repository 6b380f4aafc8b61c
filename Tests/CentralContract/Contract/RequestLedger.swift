import Bluetooth

/// What was asked of a central and what it emitted, held against what must be true of every event in every case.
struct RequestLedger {
    /// In what the contract was broken, each in a sentence; at most ``findingLimit``.
    private(set) var findings: [String] = []
    /// What is scanned for.
    var scanFilter: ScanFilter?

    /// A broken central could fill the memory with what is wrong with it.
    private static let findingLimit = 20

    private struct Entry {
        let attempt: Attempt
        let request: Request
        let time: MonotonicTime
        var isAnswered = false
        /// True once nothing may answer it: a connect that was cancelled.
        var isVoid = false
    }

    private struct Link {
        let identifier: PeripheralIdentifier
        let attempt: Attempt
    }

    private struct Subscription {
        let characteristic: BluetoothUUID
        let identifier: PeripheralIdentifier
        /// When notifications were asked for.
        let since: MonotonicTime
        var lastArrival = MonotonicTime.boot
    }

    private var entries: [Entry] = []
    private var links: [Link] = []
    private var subscriptions: [Subscription] = []
    private var emittedState = AdapterState.unknown

    /// True while the central says that the peripheral is connected.
    func isLinked(_ identifier: PeripheralIdentifier) -> Bool { links.contains { $0.identifier == identifier } }

    /// A request is about to be made.
    mutating func asked(_ request: Request, _ attempt: Attempt, at now: MonotonicTime) {
        entries.append(Entry(attempt: attempt, request: request, time: now))
        guard case .setNotify(true, let uuid, let identifier) = request,
            !subscriptions.contains(where: { $0.characteristic == uuid && $0.identifier == identifier })
        else { return }
        subscriptions.append(Subscription(characteristic: uuid, identifier: identifier, since: now))
    }

    /// The process is gone; nothing that it was asked will be answered.
    mutating func processEnded() {
        entries = []
        links = []
        subscriptions = []
        scanFilter = nil
        emittedState = .unknown
    }

    /// `state` is what was emitted last, after every call.
    mutating func check(state: AdapterState, after call: String) {
        if state != emittedState { find("after \(call), state is \(state) while \(emittedState) was emitted last") }
    }

    /// The central emitted something.
    mutating func took(_ events: [CentralEvent], at now: MonotonicTime) {
        for event in events { take(event, at: now) }
    }

    private mutating func take(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state):
            if state == emittedState { find("the state \(state) was emitted again") }
            emittedState = state
        case .willRestoreState(let restored, let attempt):
            answer(event, attempt)
            for peripheral in restored where peripheral.isConnected && !isLinked(peripheral.identifier) {
                links.append(Link(identifier: peripheral.identifier, attempt: .none))
            }
        case .didRetrieveConnected(_, let attempt): answer(event, attempt)
        case .didDiscover(_, let advertisement, _):
            guard let scanFilter else { return find("an advertisement was emitted although nothing is scanned for") }
            if !scanFilter.matches(advertisement) { find("an advertisement was emitted that the filter does not match") }
        case .didFailToScan:
            if scanFilter == nil { find("a scan failed that was not asked for") }
            scanFilter = nil
        case .didConnect(let identifier, let attempt):
            answer(event, attempt)
            links.removeAll { $0.identifier == identifier }
            links.append(Link(identifier: identifier, attempt: attempt))
        case .didFailToConnect(_, _, let attempt): answer(event, attempt)
        case .didDisconnect(let identifier, let error, let attempt): disconnect(event, identifier, error, attempt)
        case .didDiscoverServices(let identifier, let result, let attempt):
            answer(event, attempt)
            if case .success = result, !isLinked(identifier) { find("services were discovered without a link") }
        case .didUpdateNotificationState(let uuid, let identifier, let error, let attempt):
            updateNotificationState(event, uuid, identifier, error, attempt)
        case .didUpdateValue(let uuid, let identifier, _, let arrival): takeValue(uuid, identifier, arrival, now)
        case .didReadValue(_, let identifier, let result, let attempt):
            answer(event, attempt)
            if case .success = result, !isLinked(identifier) { find("a value was read without a link") }
        case .didWriteValue(_, let identifier, let error, let attempt):
            answer(event, attempt)
            if error == nil, !isLinked(identifier) { find("a value was written without a link") }
        case .didModifyServices(let identifier): find("\(identifier) is said to have changed its services, and did not")
        case .didTransferPacket(_, let identifier, _, let time):
            if !isLinked(identifier) { find("a packet of \(identifier) was emitted without a link") }
            if time > now { find("a packet is said to have been transferred in the future") }
        case .didReadRSSI(_, let identifier):
            if !isLinked(identifier) { find("the strength of a link to \(identifier) was emitted without a link") }
        case .didNoticeHungRadio: find("the radio is said to hang, and does not")
        case .didBeginPairing: break  // Some headset may want to be paired.
        case .didUnblock(let identifier): find("\(identifier) is said to be unblocked, and never was blocked")
        }
    }

    // MARK: Answers

    /// Each request has at most one answer, of its kind and with its attempt.
    private mutating func answer(_ event: CentralEvent, _ attempt: Attempt) {
        guard let index = entries.firstIndex(where: { $0.attempt == attempt }) else {
            return find("emitted with an attempt that no call had: \(event)")
        }
        let entry = entries[index]
        if entry.isAnswered { find("\(entry.request) was answered again: \(event)") }
        if entry.isVoid { find("\(entry.request) was answered although it had been cancelled: \(event)") }
        if !entry.request.isAnswered(by: event) { find("\(entry.request) cannot be answered by \(event)") }
        entries[index].isAnswered = true
    }

    private mutating func disconnect(
        _ event: CentralEvent, _ identifier: PeripheralIdentifier, _ error: CentralError?, _ attempt: Attempt
    ) {
        let link = links.first { $0.identifier == identifier }
        if error == nil {
            answer(event, attempt)
            voidConnects(to: identifier, before: attempt)
        } else if let link {
            if attempt != link.attempt { find("a link of attempt \(link.attempt) ended with \(event)") }
        } else {
            find("a link ended that was not up: \(event)")
        }
        links.removeAll { $0.identifier == identifier }
        subscriptions.removeAll { $0.identifier == identifier }
    }

    /// A connect that was cancelled while it was pending has no answer of its own.
    private mutating func voidConnects(to identifier: PeripheralIdentifier, before attempt: Attempt) {
        for index in entries.indices
        where entries[index].request == .connect(identifier) && entries[index].attempt.number < attempt.number
            && !entries[index].isAnswered
        {
            entries[index].isVoid = true
        }
    }

    // MARK: Notifications

    private mutating func updateNotificationState(
        _ event: CentralEvent, _ uuid: BluetoothUUID, _ identifier: PeripheralIdentifier, _ error: CentralError?,
        _ attempt: Attempt
    ) {
        answer(event, attempt)
        if error == nil, !isLinked(identifier) { find("notifications were set without a link") }
        let request = entries.first { $0.attempt == attempt }?.request
        let isAskedAgain = entries.contains {
            $0.attempt.number > attempt.number && $0.request == .setNotify(true, uuid, identifier)
        }
        guard error == nil, request == .setNotify(false, uuid, identifier), !isAskedAgain else { return }
        subscriptions.removeAll { $0.characteristic == uuid && $0.identifier == identifier }
    }

    private mutating func takeValue(
        _ uuid: BluetoothUUID, _ identifier: PeripheralIdentifier, _ arrival: MonotonicTime, _ now: MonotonicTime
    ) {
        if !isLinked(identifier) { find("\(uuid) notified without a link") }
        guard
            let index = subscriptions.firstIndex(where: { $0.characteristic == uuid && $0.identifier == identifier })
        else { return find("\(uuid) notified although its notifications are off") }
        let subscription = subscriptions[index]
        if arrival > now { find("a notification arrived \(arrival - now) after it was emitted") }
        if arrival < subscription.since { find("a notification arrived before notifications were asked for") }
        if arrival < subscription.lastArrival { find("a notification was emitted after one that arrived later") }
        subscriptions[index].lastArrival = arrival
    }

    private mutating func find(_ finding: String) {
        if findings.count < Self.findingLimit { findings.append(finding) }
    }
}
