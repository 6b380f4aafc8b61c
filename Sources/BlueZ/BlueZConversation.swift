import Bluetooth

/// The conversation with bluetoothd, without the bus: requests of the central, signals and replies in; calls and the central's
/// events out. No I/O and no clock in it, so every quirk of bluetoothd can be played to it word for word.
///
/// Each part has a state of its own and knows no other; what one of them has to do with another is said here.
struct BlueZConversation {
    /// What the conversation wants from the one who holds the file descriptors.
    enum Effect: Hashable {
        /// Send a call.
        case call(BusCall)
        /// Give the kernel the connection parameters: the call of a connect follows at once.
        case loadConnectionParameters
        /// Read notifications from a socket.
        case receive(Int32, characteristic: BluetoothUUID, of: PeripheralIdentifier)
        /// Write without response to a socket.
        case send([UInt8], socket: Int32)
        /// Close a socket.
        case close(Int32)
    }

    /// When the bus or bluetoothd is asked again where it did not answer.
    static let askPause = Duration.seconds(1)

    /// The adapter, and all objects.
    var adapter: BlueZAdapter
    /// Connections.
    var links: BlueZLinks
    /// Discoveries of services.
    var services = BlueZServices()
    /// Notifications, reads and writes.
    var attributes: BlueZAttributes
    /// The scan.
    var scan: BlueZScan
    /// Pairing.
    var pairing: BlueZPairing
    /// Whether the radio still does what it is asked to.
    var radio: RadioWatch
    /// Calls, and what goes out.
    var exchange = BusExchange()
    /// Whose words count.
    var owner = BluetoothdOwner()
    /// What was blocked when bluetoothd went, or when all objects were loaded anew.
    var blockedBefore: Set<PeripheralIdentifier> = []
    /// True once the objects were loaded after bluetoothd appeared.
    var isLoaded = false
    /// When the bus or the objects are asked for again.
    var retry: MonotonicTime?

    /// A conversation that has not begun. What the questions are for, ``BlueZAdapter`` says.
    init(options: BlueZOptions, isBlocked: @escaping (String) -> Bool, mayUse: @escaping (String) -> Bool) {
        adapter = BlueZAdapter(wanted: options.adapter, isBlocked: isBlocked, mayUse: mayUse)
        links = BlueZLinks(mayForgetKeys: options.allowsRepairing)
        attributes = BlueZAttributes(options: options)
        scan = BlueZScan(reportsSerialPorts: options.reportsSerialPorts)
        pairing = BlueZPairing(options: options)
        radio = RadioWatch(recoversAdapter: options.recoversAdapter)
    }

    /// The present, as last reported.
    var now: MonotonicTime {
        get { exchange.now }
        set { exchange.now = newValue }
    }

    // MARK: Out

    /// True while events wait to be taken.
    var hasEvents: Bool { exchange.hasEvents }

    /// Takes the events that wait.
    mutating func takeEvents() -> [CentralEvent] { exchange.takeEvents() }

    /// Takes what is to be done.
    mutating func takeEffects() -> [Effect] { exchange.takeEffects() }

    // MARK: Requests

    /// Takes a request; parameters and strength of links are not bluetoothd's.
    mutating func take(_ request: CentralRequest) {
        switch request {
        case .restoreState(let identifiers, let services, let attempt): restoreState(identifiers, services, attempt)
        case .retrieveConnectedPeripherals(let services, let attempt):
            let found = adapter.devices.filter { $0.isConnected && $0.services.contains(where: services.contains) }
            exchange.emit(.didRetrieveConnected(found.compactMap(\.identifier), attempt: attempt))
        case .scanForPeripherals(let filter):
            scan.start(filter, adapter, &exchange)
            emitUnclaimed()
        case .stopScan: scan.stop(adapter, &exchange)
        case .setConnectionParameters, .readRSSI: break
        case .trustPeripheral(let peripheral):
            if links.link(to: peripheral)?.isUsable == true { adapter.trust(peripheral, &exchange) }
        case .connect(let peripheral, let attempt):
            changeLinks { $0.connect(peripheral, attempt, $1, &$2) }
        case .cancelPeripheralConnection(let peripheral, let attempt):
            changeLinks { $0.cancel(peripheral, attempt, $1, &$2) }
        case .discoverServices(let peripheral, let attempt):
            guard let link = links.link(to: peripheral), link.phase == .connected else {
                return exchange.emit(.didDiscoverServices(peripheral, result: .failure(.notConnected), attempt: attempt))
            }
            services.discover(link, attempt, adapter, &exchange)
        case .setNotifyValue(_, let characteristic, let peripheral, _), .readValue(let characteristic, let peripheral, _),
            .writeValue(_, let characteristic, _, let peripheral, _):
            let link = links.link(to: peripheral).flatMap { $0.isUsable ? $0 : nil }
            attributes.take(request, to: characteristic, on: link, adapter, &exchange)
        }
    }

    private mutating func restoreState(
        _ identifiers: [PeripheralIdentifier], _ services: [BluetoothUUID], _ attempt: Attempt
    ) {
        guard isLoaded else { return exchange.emit(.willRestoreState([], attempt: attempt)) }
        var restored: [RestoredPeripheral] = []
        for device in adapter.devices where device.isConnected {
            guard let identifier = device.identifier,
                identifiers.contains(identifier) || device.services.contains(where: services.contains)
            else { continue }
            links.restore(identifier, at: device.path)
            let database = device.isResolved ? adapter.database(of: device.path) : nil
            restored.append(
                RestoredPeripheral(
                    identifier: identifier, isConnected: true,
                    database: database?.characteristics.isEmpty == false ? database : nil, notifying: []))
        }
        exchange.emit(.willRestoreState(restored, attempt: attempt))
    }

    /// Lets something happen to the links, and hands the other parts what follows from it.
    mutating func changeLinks(
        _ change: (inout BlueZLinks, inout BlueZAdapter, inout BusExchange) -> Void
    ) {
        change(&links, &adapter, &exchange)
        for effect in links.takeEffects() {
            switch effect {
            case .connect(let path):
                scan.yieldToConnect(adapter, &exchange)
                // Not sooner: the kernel forgets what it is given while it gives up an earlier connect.
                exchange.perform(.loadConnectionParameters)
                exchange.call(
                    "Connect", of: BlueZInterface.device, at: path, for: .connect(path: path),
                    within: BlueZLinks.connectLimit)
            case .closing(let identifier): attributes.endRequests(of: identifier)
            case .ended(let identifier):
                attributes.end(identifier, &exchange)
                services.end(identifier)
            case .unclaimed(let path): scan.deviceFound(path, adapter, &exchange)
            }
        }
    }

    /// Devices that were connected to while nobody scanned do not advertise now.
    private mutating func emitUnclaimed() {
        for path in links.givenUp.unclaimed { scan.deviceFound(path, adapter, &exchange) }
    }

    /// What bluetoothd is to be asked for before this process leaves it: nobody else would end what is pending.
    var farewell: [BusCall] {
        links.givenUp.paths.map {
            BusCall(number: CallNumber(rawValue: 0), path: $0, interface: BlueZInterface.device, member: "Disconnect")
        }
    }

    // MARK: The bus

    /// The bus is there: asks who is.
    mutating func busConnected() {
        retry = nil
        askForOwner()
    }

    mutating func askForOwner() {
        exchange.call(BluetoothdOwner.question(exchange.nextCall()), for: .nameOwner)
    }

    /// The bus is gone, or cannot be reached.
    mutating func busLost() {
        owner.reset()
        bluetoothdVanished()
    }

    /// A call cannot be sent.
    mutating func callFailed(_ number: CallNumber) {
        replied(number, .failure(.disconnected))
    }

    /// A reply arrived.
    mutating func replied(_ number: CallNumber, _ result: Result<[BusValue], BusError>) {
        let purpose = exchange.conclude(number)
        // Where it is too late, or what it carries is not wanted, that must not leak.
        if purpose?.mayBringSocket != true { exchange.closeDescriptors(in: result) }
        guard let purpose else { return }
        radio.judge(result, of: purpose, adapter, at: now)
        switch purpose {
        case .nameOwner: ownerReplied(result)
        case .objects: objectsLoaded(result)
        case .nothing: break
        case .powerOff: radio.poweredOff(adapter, &exchange)
        case .powerOn: radio.poweredOn(result, at: now)
        case .connect(let path): changeLinks { $0.connectReplied(path, result, $1, &$2) }
        case .confirmConnect(let path):
            if case .success(let values) = result {
                adapter.objects.load(values.first, of: BlueZInterface.device, at: path)
            }
            changeLinks { $0.confirmed(path, $1, &$2) }
        case .disconnect(let path, let attempt): changeLinks { $0.disconnectReplied(path, attempt, result, &$1, &$2) }
        case .clearStuckConnect(let path): changeLinks { $0.stuckConnectCleared(path, $2.now) }
        case .removeDevice(let path): changeLinks { $0.deviceWasRemoved(path, $1, &$2) }
        case .discoveredObjects(let path):
            if case .success(let values) = result {
                loadMirror(values)
                noteUnblocked()
            }
            services.loaded(path, adapter, &exchange)
        case .startScan:
            scan.started(result, adapter, &exchange)
            emitUnclaimed()
        case .stopScan: scan.stopped(adapter, &exchange)
        case .setFilter(let filter): scan.filterSet(filter, result, adapter, &exchange)
        case .operation(let number): attributes.replied(number, result, &pairing, adapter, &exchange)
        case .pair(let path):
            pairing.replied(path)
            attributes.paired(path, &exchange)
        }
    }

    /// Somebody calls this process: bluetoothd asks the pairing agent.
    func answer(_ call: IncomingCall) -> Result<[BusValue], BusError> {
        guard owner.hasSent(call.sender) else {
            return .failure(
                BusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "only bluetoothd may call this agent"))
        }
        return pairing.answer(call, links, adapter)
    }

    /// A signal arrived. What neither bluetoothd nor the bus has sent counts for nothing.
    mutating func received(_ signal: BusSignal) {
        let earlier = owner
        if owner.received(signal) {
            if earlier != owner { ownerChanged() }
            return
        }
        guard owner.hasSent(signal.sender) else { return }
        switch signal.member {
        case "InterfacesAdded":
            guard let added = adapter.objects.interfacesAdded(signal.body) else { return }
            if added.interfaces.contains(BlueZInterface.adapter) { adapterAdded() }
            if added.interfaces.contains(BlueZInterface.device) {
                notePaired([added.path])
                scan.deviceSeen(added.path, adapter, &exchange)
            }
        case "InterfacesRemoved":
            let former = signal.body.first?.text.flatMap { adapter.device(at: $0) }
            guard let removed = adapter.objects.interfacesRemoved(signal.body) else { return }
            if removed.interfaces.contains(BlueZInterface.characteristic) { characteristicRemoved(removed.path) }
            if removed.interfaces.contains(BlueZInterface.device) {
                pairing.deviceRemoved(removed.path)
                // One that bluetoothd forgets is blocked no more, without another word of it (`bluetoothctl remove`).
                if let former, former.isBlocked, let device = former.identifier { exchange.emit(.didUnblock(device)) }
                changeLinks { $0.deviceRemoved(removed.path, &$2) }
            }
            if removed.interfaces.contains(BlueZInterface.adapter) { chooseAdapter() }
        case "PropertiesChanged":
            guard let (interface, changed) = adapter.objects.propertiesChanged(signal.body, at: signal.path) else { return }
            switch interface {
            case BlueZInterface.adapter: adapterChanged(signal.path, changed)
            case BlueZInterface.device: deviceChanged(signal.path, changed)
            case BlueZInterface.characteristic:
                radio.recordActivity()
                attributes.changed(signal.path, changed, &exchange)
            default: break
            }
        default: break
        }
    }

    // MARK: Sockets

    /// Something came from a headset.
    mutating func notificationsArrived() {
        radio.recordActivity()
    }

    /// A socket reached its end.
    mutating func socketEnded(_ socket: Int32) {
        attributes.socketEnded(socket, &exchange)
    }

    // MARK: Objects

    private mutating func adapterChanged(_ path: String, _ changed: ObjectMirror.Properties) {
        if changed["Powered"] != nil || changed["PowerState"] != nil { chooseAdapter() }
        guard path == adapter.path else { return }
        if changed["Discovering"]?.flag == false { scan.discoveryEnded(at: now) }
        scan.reconcile(adapter, &exchange)
    }

    private mutating func deviceChanged(_ path: String, _ changed: ObjectMirror.Properties) {
        if changed["RSSI"] != nil || changed["Connected"] != nil { radio.recordActivity() }
        if changed["RSSI"] != nil { scan.deviceSeen(path, adapter, &exchange) }
        notePaired([path])
        if changed["Blocked"]?.flag == false, let identifier = adapter.device(at: path)?.identifier {
            exchange.emit(.didUnblock(identifier))
        }
        changeLinks { $0.deviceChanged(path, changed, $1, &$2) }
        if changed["ServicesResolved"]?.flag == true { services.resolved(path, &exchange) }
    }

    mutating func notePaired(_ paths: [String]) {
        for path in paths where adapter.device(at: path)?.isPaired == true { pairing.notePaired(path) }
    }

    /// A characteristic's object is gone: with the link, or because the headset changed its services.
    private mutating func characteristicRemoved(_ path: String) {
        guard let devicePath = adapter.devices.map(\.path).first(where: { path.hasPrefix($0 + "/") }),
            let link = links.link(at: devicePath), link.isUsable,
            let device = adapter.device(at: devicePath), device.isConnected, device.isResolved
        else { return }
        exchange.emit(.didModifyServices(link.identifier))
    }

    /// A radio switch was moved.
    mutating func radioSwitchChanged() {
        chooseAdapter()
    }

    mutating func chooseAdapter() {
        guard isLoaded else { return }
        for state in adapter.choose() { stateChanged(to: state) }
        radio.adaptersChanged(adapter)
        if adapter.state == .inUse { retry = now + Self.askPause }
    }

    mutating func stateChanged(to state: AdapterState) {
        exchange.emit(.didUpdateState(state))
        if state == .poweredOn { return scan.reconcile(adapter, &exchange) }
        radio.reset()
        changeLinks { $0.closeAll(.adapterUnavailable(state), &$2) }
        scan.interrupt(.adapterUnavailable(state), &exchange)
    }

    // MARK: Time

    /// When ``deadlineReached()`` is due; nil for never.
    var deadline: MonotonicTime? {
        [
            exchange.deadline, retry, links.deadline, services.deadline, attributes.deadline, scan.deadline, radio.deadline,
        ].compactMap(\.self).min()
    }

    /// Does what is due.
    mutating func deadlineReached() {
        for number in exchange.overdue { replied(number, .failure(.noReply)) }
        if let retry, retry <= now {
            self.retry = nil
            if owner.uniqueName != nil { loadObjects() } else { askForOwner() }
        }
        changeLinks { $0.due($1, &$2) }
        services.due(adapter, &exchange)
        attributes.due(&exchange)
        scan.due(adapter, &exchange)
        radio.due(adapter, &exchange)
    }
}
