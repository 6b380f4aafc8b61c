import Bluetooth

/// The conversation with bluetoothd, without the bus: requests of the central, signals and replies in; calls and the central's
/// events out. No I/O and no clock in it, so every quirk of bluetoothd can be told to it word for word.
struct BlueZConversation {
    /// What the conversation wants from the one who holds the file descriptors.
    enum Request: Hashable {
        /// Send a call.
        case call(BusCall)
        /// Tell the kernel the connection parameters: the call of a connect follows at once.
        case loadConnectionParameters
        /// Read notifications from a socket.
        case receive(Int32, characteristic: BluetoothUUID, of: PeripheralIdentifier)
        /// Write without response to a socket.
        case send([UInt8], socket: Int32)
        /// Close a socket.
        case close(Int32)
    }

    /// How long bluetoothd may take for anything that needs no radio.
    static let callLimit = Duration.seconds(5)
    /// When the bus or bluetoothd is asked again where it did not answer.
    private static let askPause = Duration.seconds(1)
    /// Device1.Connect: bluetoothd itself gives up after 40 s.
    static let connectLimit = Duration.seconds(60)
    /// Requests to the peripheral: a transaction of the Attribute Protocol may take 30 s (Vol 3, Part F, 3.3.3).
    static let attributeLimit = Duration.seconds(35)

    let options: BlueZOptions
    /// The present, as last told.
    var now: MonotonicTime = .boot
    /// What bluetoothd has told.
    var objects = ObjectMirror()
    /// True while somebody owns the name org.bluez.
    var isRunning = false
    /// True once the objects were loaded after bluetoothd appeared.
    var isLoaded = false
    /// Tells whether the radio of an adapter such as `hci0` is blocked (rfkill).
    let isBlocked: (String) -> Bool

    /// The adapter in use.
    var adapterPath: String?
    /// The adapter's state, as last told.
    var state: AdapterState = .unknown

    /// Peripherals that are being connected to or are connected.
    var links: [BlueZLink] = []
    /// Cancels that were not answered yet.
    var openCancels: [Attempt] = []
    /// Paths of devices on which the connect of a dead process was found, and no connect has ended since.
    var stuck: Set<String> = []
    /// By the path of a device: until when the kernel may still be giving up a connect to it.
    var settling: [String: MonotonicTime] = [:]
    /// Notification sockets and sessions.
    var subscriptions: [Subscription] = []
    /// Sockets for writing without response.
    var writeSockets: [WriteSocket] = []
    /// Requests to characteristics, those under way first, one at a time for each characteristic.
    var operations: [AttributeOperation] = []
    /// The scan.
    var scan = BlueZScan()
    /// Whether the radio still does what it is told.
    var radio = RadioWatch()
    /// When the bus or the objects are asked for again.
    var retry: MonotonicTime?

    private var pending: [CallNumber: PendingCall] = [:]
    private var lastCall: UInt64 = 0
    private var events: [CentralEvent] = []
    private var requests: [Request] = []

    /// A call whose reply is waited for.
    struct PendingCall {
        var purpose: CallPurpose
        var deadline: MonotonicTime
    }

    /// A conversation that has not begun.
    ///
    /// - Parameter isBlocked: tells whether the radio of an adapter such as `hci0` is blocked.
    init(options: BlueZOptions, isBlocked: @escaping (String) -> Bool) {
        self.options = options
        self.isBlocked = isBlocked
    }

    // MARK: Out

    /// True while events wait to be told.
    var hasEvents: Bool { !events.isEmpty }

    /// Takes the events that are to be told.
    mutating func takeEvents() -> [CentralEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Takes what is to be done.
    mutating func takeRequests() -> [Request] {
        defer { requests.removeAll(keepingCapacity: true) }
        return requests
    }

    mutating func tell(_ event: CentralEvent) {
        events.append(event)
    }

    mutating func request(_ request: Request) {
        requests.append(request)
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

    mutating func call(_ call: BusCall, for purpose: CallPurpose, within limit: Duration) {
        pending[call.number] = PendingCall(purpose: purpose, deadline: now + limit)
        requests.append(.call(call))
    }

    /// True while the reply to a call for the purpose is waited for.
    func awaits(_ purpose: CallPurpose) -> Bool { pending.values.contains { $0.purpose == purpose } }

    mutating func nextCall() -> CallNumber {
        lastCall += 1
        return CallNumber(rawValue: lastCall)
    }

    // MARK: In

    /// The bus is there: asks who is.
    mutating func busConnected() {
        retry = nil
        askForOwner()
    }

    private mutating func askForOwner() {
        call(
            BusCall(
                number: nextCall(), destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus", member: "GetNameOwner", arguments: [.string("org.bluez")]),
            for: .nameOwner, within: Self.callLimit)
    }

    /// The bus is gone, or cannot be reached.
    mutating func busLost() {
        bluetoothdVanished()
    }

    /// A call cannot be sent.
    mutating func callFailed(_ number: CallNumber) {
        replied(number, .failure(.disconnected))
    }

    /// A reply arrived.
    mutating func replied(_ number: CallNumber, _ result: Result<[BusValue], BusError>) {
        guard let call = pending.removeValue(forKey: number) else {
            // Too late: nobody waits for it, and what it carries must not leak.
            if case .success(let values) = result { closeDescriptors(in: values) }
            return
        }
        judgeRadio(by: result, of: call.purpose)
        perform(call.purpose, result)
    }

    /// A signal arrived.
    mutating func received(_ signal: BusSignal) {
        switch signal.member {
        case "NameOwnerChanged":
            guard signal.body.count == 3, signal.body[0].text == "org.bluez" else { return }
            bluetoothdVanished()
            if signal.body[2].text?.isEmpty == false { bluetoothdAppeared() }
        case "InterfacesAdded":
            guard let added = objects.interfacesAdded(signal.body) else { return }
            if added.interfaces.contains(BlueZInterface.adapter) { chooseAdapter() }
            if added.interfaces.contains(BlueZInterface.device) { deviceSeen(added.path) }
        case "InterfacesRemoved":
            guard let removed = objects.interfacesRemoved(signal.body) else { return }
            if removed.interfaces.contains(BlueZInterface.characteristic) { characteristicRemoved(removed.path) }
            if removed.interfaces.contains(BlueZInterface.device) { deviceRemoved(removed.path) }
            if removed.interfaces.contains(BlueZInterface.adapter) { chooseAdapter() }
        case "PropertiesChanged":
            guard let (interface, changed) = objects.propertiesChanged(signal.body, at: signal.path) else { return }
            switch interface {
            case BlueZInterface.adapter: adapterChanged(signal.path, changed)
            case BlueZInterface.device: deviceChanged(signal.path, changed)
            case BlueZInterface.characteristic: characteristicChanged(signal.path, changed)
            default: break
            }
        default: break
        }
    }

    // MARK: Time

    /// When ``deadlineReached()`` is due; nil for never.
    var deadline: MonotonicTime? {
        var earliest = pending.values.lazy.map(\.deadline).min()
        for other in [retry, scan.retry, radio.deadline] + links.map(\.deadline) + operations.map(\.deadline) {
            if let other, other < earliest ?? other + .nanoseconds(1) { earliest = other }
        }
        return earliest
    }

    /// Does what is due.
    mutating func deadlineReached() {
        let overdue = pending.filter { $0.value.deadline <= now }.keys.sorted()
        for number in overdue { replied(number, .failure(.noReply)) }
        if let retry, retry <= now {
            self.retry = nil
            if isRunning { loadObjects() } else { askForOwner() }
        }
        linksDue()
        operationsDue()
        scanDue()
        watchRadio()
    }

    // MARK: bluetoothd comes and goes

    private mutating func nameOwnerTold(_ result: Result<[BusValue], BusError>) {
        switch result {
        case .success: bluetoothdAppeared()
        case .failure(let error):
            setState(.resetting)
            // Nobody owns the name: a signal will tell who does. A bus that is too busy to answer is asked again.
            if error == .noReply, !isRunning { retry = now + Self.askPause }
        }
    }

    private mutating func bluetoothdAppeared() {
        isRunning = true
        loadObjects()
    }

    private mutating func bluetoothdVanished() {
        isRunning = false
        isLoaded = false
        retry = nil
        objects.removeAll()
        settling.removeAll()
        stuck.removeAll()
        setState(.resetting)
        // Replies will not come any more; what was asked of a link that is gone needs none.
        pending.removeAll()
        for link in links { close(link, .adapterUnavailable(.resetting)) }
        openCancels.removeAll()
        adapterPath = nil
    }

    private mutating func loadObjects() {
        call("GetManagedObjects", of: BlueZInterface.objectManager, at: "/", for: .objects)
    }

    private mutating func perform(_ purpose: CallPurpose, _ result: Result<[BusValue], BusError>) {
        switch purpose {
        case .nameOwner: nameOwnerTold(result)
        case .objects: objectsLoaded(result)
        case .nothing: break
        case .powerOff: poweredOff()
        case .connect(let path): connectReplied(path, result)
        case .confirmConnect(let path): connectConfirmed(path, result)
        case .disconnect(let path, let attempt): disconnectReplied(path, attempt, result)
        case .clearStuckConnect(let path): stuckConnectCleared(path)
        case .removeDevice(let path): deviceWasRemoved(path)
        case .discoveredObjects(let path): discoveredObjectsLoaded(path, result)
        case .startScan: scanStarted(result)
        case .stopScan: scanStopped()
        case .setFilter(let filter): filterSet(filter, result)
        case .operation(let number): operationReplied(number, result)
        case .pair(let path): pairReplied(path, result)
        }
    }

    private mutating func objectsLoaded(_ result: Result<[BusValue], BusError>) {
        guard isRunning else { return }
        switch result {
        case .success(let values):
            objects.load(values.first)
            isLoaded = true
            chooseAdapter()
        case .failure(let error):
            if case .notPermitted = BlueZErrorTable.general(error) { setState(.unauthorized) }
            retry = now + Self.askPause
        }
    }
}

/// Why a call was made.
enum CallPurpose: Hashable {
    case nameOwner
    case objects
    /// Nobody waits for the answer.
    case nothing
    case powerOff
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
}
