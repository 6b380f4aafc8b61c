package import Bluetooth

/// The conversation on one link to a peripheral, without the socket: a central's requests, packets and the time in; the
/// central's events and packets out. No I/O and no clock in it.
///
/// What a link does, in this order: it agrees on the size of packets, answers the first discovery from the map of an earlier
/// link if one round trip shows that it still holds, and otherwise discovers; then one round trip for each characteristic that
/// notifies. Requests wait for each other and are carried out in the order in which they were made, writes without response
/// among them.
package struct ATTLink: Sendable {
    /// What a link reports to its owner.
    package enum Event: Hashable, Sendable {
        /// The central's event, to be passed on.
        case central(CentralEvent)
        /// What is to be kept for the next link, or nil where what was kept is void.
        case didUpdateMap(HandleMap?)
        /// The peripheral wants a more secure link. The owner raises the socket's level and calls
        /// ``ATTLink/didChangeSecurity(to:at:)``.
        case needsSecurity(SecurityLevel)
        /// The peripheral has not answered a request for 30 s: the owner closes the link. Nothing is sent on it any more.
        case didTimeOut
    }

    /// How long raising the security may take: the Security Manager's own limit (Core Specification, Vol 3, Part H, 3.4).
    static let securityLimit = Duration.seconds(30)
    /// How long after a discovery the link asks to be notified of changed services: late enough to stand in nobody's way.
    static let watchDelay = Duration.seconds(2)
    /// How often a discovery begins again because the services changed meanwhile.
    static let discoveryLimit = 3

    /// The peripheral.
    package let peripheral: PeripheralIdentifier
    /// Writes without response that were dropped, because they were longer than a packet holds.
    package internal(set) var droppedWriteCount = 0

    var client: GATTClient
    /// What is known of the peripheral's handles; nil before the first discovery, and after they changed.
    var map: HandleMap?
    /// True while ``map`` comes from an earlier link.
    var isFromEarlierLink: Bool
    /// True once the services were reported on this link.
    var areServicesKnown = false
    /// The handle of Service Changed, as last known: it outlives the map.
    var serviceChangedHandle: AttributeHandle?
    /// True once the server was asked to indicate changed services.
    var isWatching = false
    /// True where the services changed since the discovery or validation under way began.
    var isOvertaken = false
    /// How often the discovery under way has begun.
    var discoveryCount = 0

    /// What is under way.
    var current: ATTOperation?
    /// What waits, in order.
    var waiting: [ATTOperation] = []
    /// What the operation under way needs before it is tried again.
    var raisedSecurity: RaisedSecurity?
    /// The socket's level of security, as last reported.
    var security = SecurityLevel.low
    var subscriptions: [ATTSubscription] = []
    var events: [Event] = []
    /// When the link asks to be notified of changed services.
    var watchTime: MonotonicTime?

    /// Security that is being raised.
    struct RaisedSecurity: Hashable {
        /// What is needed.
        var level: SecurityLevel
        /// What the server said.
        var error: ATTError
        var deadline: MonotonicTime
    }

    /// Creates the conversation of a link that is up.
    ///
    /// - Parameters:
    ///   - map: what an earlier link has found.
    ///   - receiveLimit: the largest packet that the socket receives.
    package init(peripheral: PeripheralIdentifier, map: HandleMap?, receiveLimit: AttributeMTU = .largestUseful) {
        self.peripheral = peripheral
        self.map = map
        isFromEarlierLink = map != nil
        serviceChangedHandle = map?[.serviceChanged]?.value
        client = GATTClient(receiveLimit: receiveLimit)
        waiting = [.exchangeMTU]
    }

    // MARK: Out

    /// When ``deadlineReached(at:)`` is due; nil for never.
    package var deadline: MonotonicTime? {
        [client.deadline, raisedSecurity?.deadline, watchTime].compactMap { $0 }.min()
    }

    /// The largest packet that may be sent either way.
    package var mtu: AttributeMTU { client.mtu }

    /// True while an operation waits for ``didChangeSecurity(to:at:)``.
    package var awaitsSecurity: Bool { raisedSecurity != nil }

    /// Takes the events that wait, in order.
    package mutating func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Takes the packets that are to be sent, each in a frame of its own, in order.
    package mutating func takePackets() -> [[UInt8]] {
        client.takePackets()
    }

    // MARK: In

    /// Begins: to be called once, when the link is up.
    package mutating func begin(at now: MonotonicTime) {
        goOn(at: now)
    }

    /// Takes a request to the peripheral that concerns attributes; others are not a link's. The first discovery on a link
    /// takes a map that still holds; from the second time on the peripheral is asked.
    package mutating func take(_ request: CentralRequest, at now: MonotonicTime) {
        switch request {
        case .discoverServices(_, let attempt):
            let canUseMap = map != nil && isFromEarlierLink && !areServicesKnown
            add(canUseMap ? .validate(attempt: attempt) : .discover(attempt: attempt), at: now)
        case .setNotifyValue(let isOn, let characteristic, _, let attempt):
            add(.setNotify(isOn, characteristic, attempt: attempt), at: now)
        case .readValue(let characteristic, _, let attempt): add(.read(characteristic, attempt: attempt), at: now)
        case .writeValue(let value, let characteristic, let type, _, let attempt):
            add(.write(value, characteristic, type, attempt: attempt), at: now)
        case .restoreState, .retrieveConnectedPeripherals, .scanForPeripherals, .stopScan, .setConnectionParameters,
            .trustPeripheral, .readRSSI, .connect, .cancelPeripheralConnection:
            break
        }
    }

    /// Takes one packet, as it came in one frame; `now` is the time of its arrival.
    package mutating func received(_ packet: [UInt8], at now: MonotonicTime) {
        client.received(packet, at: now)
        takeClientEvents(at: now)
    }

    /// The security of the link changed, or could not be raised (nil).
    package mutating func didChangeSecurity(to level: SecurityLevel?, at now: MonotonicTime) {
        if let level { security = level }
        guard let raised = raisedSecurity, let operation = current else { return }
        raisedSecurity = nil
        current = nil
        if let level, level >= raised.level {
            waiting.insert(operation, at: 0)
        } else {
            fail(operation, .att(raised.error))
        }
        goOn(at: now)
    }

    /// Does what is due.
    package mutating func deadlineReached(at now: MonotonicTime) {
        client.deadlineReached(at: now)
        takeClientEvents(at: now)
        if let raised = raisedSecurity, raised.deadline <= now { didChangeSecurity(to: nil, at: now) }
        if let due = watchTime, due <= now {
            watchTime = nil
            if !isWatching { add(.watchServices, at: now) }
        }
    }

    // MARK: Order

    private mutating func add(_ operation: ATTOperation, at now: MonotonicTime) {
        if client.isDead { return }
        waiting.append(operation)
        goOn(at: now)
    }

    /// Begins what waits, until something is under way.
    mutating func goOn(at now: MonotonicTime) {
        while current == nil, client.isIdle, !waiting.isEmpty {
            let operation = waiting.removeFirst()
            current = operation
            // An operation that is done at once has reported so.
            if !begin(operation, at: now) { current = nil }
            takeClientEvents(at: now)
        }
    }

    /// What the client reports. Values come before the end of a procedure if they came first.
    private mutating func takeClientEvents(at now: MonotonicTime) {
        for event in client.takeEvents() {
            switch event {
            case .value(let handle, let value, let arrival): received(value, from: handle, at: arrival)
            case .finished(let result):
                guard let operation = current else { continue }
                current = nil
                finish(operation, result, at: now)
            }
        }
        if client.isDead { waiting.removeAll() } else { goOn(at: now) }
    }
}
