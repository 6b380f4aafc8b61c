import Bluetooth

/// What all parts of the conversation share: the present, the calls that were not answered yet, and what goes out.
struct BusExchange {
    /// How long bluetoothd may take for anything that needs no radio.
    static let callLimit = Duration.seconds(5)

    /// The present, as last reported.
    var now: MonotonicTime = .boot
    private var pending: [CallNumber: PendingCall] = [:]
    private var lastCall: UInt64 = 0
    private var events: [CentralEvent] = []
    private var effects: [BlueZConversation.Effect] = []

    /// A call whose reply is waited for.
    private struct PendingCall {
        var purpose: CallPurpose
        var deadline: MonotonicTime
    }

    // MARK: Out

    /// True while events wait to be taken.
    var hasEvents: Bool { !events.isEmpty }

    mutating func takeEvents() -> [CentralEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    mutating func takeEffects() -> [BlueZConversation.Effect] {
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }

    mutating func emit(_ event: CentralEvent) {
        events.append(event)
    }

    mutating func perform(_ effect: BlueZConversation.Effect) {
        effects.append(effect)
    }

    /// Calls a method of bluetoothd.
    mutating func call(
        _ member: String, of interface: String, at path: String, _ arguments: [BusValue] = [], for purpose: CallPurpose,
        within limit: Duration = callLimit
    ) {
        call(
            BusCall(number: nextCall(), path: path, interface: interface, member: member, arguments: arguments),
            for: purpose, within: limit)
    }

    mutating func call(_ call: BusCall, for purpose: CallPurpose, within limit: Duration = callLimit) {
        pending[call.number] = PendingCall(purpose: purpose, deadline: now + limit)
        effects.append(.call(call))
    }

    mutating func nextCall() -> CallNumber {
        lastCall += 1
        return CallNumber(rawValue: lastCall)
    }

    /// Closes the file descriptors of a reply: nobody takes them over.
    mutating func closeDescriptors(in result: Result<[BusValue], BusError>) {
        guard case .success(let values) = result else { return }
        for case .descriptor(let descriptor) in values { perform(.close(descriptor)) }
    }

    // MARK: In

    /// What the call was made for that is answered now; nil where nobody waits for the answer any more.
    mutating func conclude(_ number: CallNumber) -> CallPurpose? {
        pending.removeValue(forKey: number)?.purpose
    }

    /// Replies will not come any more.
    mutating func forgetCalls() {
        pending.removeAll()
    }

    /// The earliest time at which a call counts as unanswered; nil where none is under way.
    var deadline: MonotonicTime? { pending.values.lazy.map(\.deadline).min() }

    /// The calls that were not answered in time, oldest first.
    var overdue: [CallNumber] { pending.filter { $0.value.deadline <= now }.keys.sorted() }
}

/// Why a call was made.
enum CallPurpose: Hashable {
    case nameOwner
    case objects
    /// Nobody waits for the answer.
    case nothing
    case powerOff
    case powerOn
    case connect(path: String)
    case confirmConnect(path: String)
    case disconnect(path: String, attempt: Attempt)
    case clearStuckConnect(path: String)
    case removeDevice(path: String)
    case discoveredObjects(path: String)
    case startScan
    case stopScan
    case setFilter(ScanFilter)
    case operation(CallNumber)
    case pair(path: String)

    /// True where the answer may carry a socket that is wanted.
    var mayBringSocket: Bool {
        if case .operation = self { true } else { false }
    }
}
