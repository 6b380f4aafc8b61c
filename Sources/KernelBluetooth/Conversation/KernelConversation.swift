import AttributeProtocol
import Bluetooth
import BluetoothManagement

/// The conversation with the kernel about Bluetooth Low Energy, without its sockets: requests of the central, the kernel's
/// events and the headsets' packets in; the central's events, commands and packets out. No I/O and no clock in it.
///
/// Each part of it is a machine of its own, with its own state: ``KernelAdapter``, ``KernelKeys``, ``KernelScan``,
/// ``ServiceRetrieval``, and for each headset a ``KernelLink`` with its `ATTLink`. What is here passes events to them and
/// decides between them.
struct KernelConversation {
    /// What the one who holds the sockets reports. An effect is carried out, and what it leads to reported, before the next
    /// event.
    enum Event {
        /// A caller's request.
        case request(CentralRequest)
        /// What the management channel has reported since the last time, and how it stands with the adapter after all of it.
        /// Each of these follows as ``management(_:)``.
        case adapter(AdapterStatus, [ManagementEvent])
        /// What the management channel has reported.
        case management(ManagementEvent)
        /// The channel to a peripheral is open.
        case channelOpened(PeripheralIdentifier)
        /// It could not be opened.
        case channelRefused(PeripheralIdentifier, SocketError)
        /// One packet arrived.
        case received([UInt8], from: PeripheralIdentifier, at: MonotonicTime)
        /// The channel has ended.
        case channelEnded(PeripheralIdentifier, SocketError)
        /// All is reported that had arrived on a channel: the answer to ``Effect/readRest(of:)``.
        case restRead(of: PeripheralIdentifier)
        /// More waits to be sent to a peripheral than ever should.
        case channelOverflowed(PeripheralIdentifier)
        /// How secure a link is; nil where that cannot be read. `isRefused`: it was to be more secure, and cannot be.
        case security(SecurityLevel?, of: PeripheralIdentifier, isRefused: Bool)
        /// The time has passed; comes last in each turn.
        case timeReached
    }

    /// What the conversation wants from the one who holds the sockets.
    enum Effect: Hashable {
        /// Emit an event to the caller.
        case emit(CentralEvent)
        /// Send a command on the management channel.
        case send(ManagementCommand)
        /// Load the keys of headsets of Bluetooth Classic, which are kept elsewhere.
        case loadLinkKeys(ControllerIndex)
        /// Begin to open the channel to a peripheral.
        case open(PeripheralIdentifier)
        /// Close it.
        case close(PeripheralIdentifier)
        /// Send a packet.
        case sendPacket([UInt8], to: PeripheralIdentifier)
        /// The link is down: report all that has arrived on its channel.
        case readRest(of: PeripheralIdentifier)
        /// Ask the kernel for a more secure link, and say if it refuses.
        case raiseSecurity(SecurityLevel, of: PeripheralIdentifier)
        /// Say how secure the link is.
        case readSecurity(of: PeripheralIdentifier)
        /// Keep the handles of a peripheral, or forget them.
        case keepMap(HandleMap?, of: PeripheralIdentifier)
        /// Keep a bond, or forget it.
        case keepBond(KeyChange<Bond>, with: PeripheralIdentifier)
        /// Keep whether a person wants an adapter off.
        case keepPower(PowerMemory.Change)
    }

    let isAlone: Bool
    let isBluetoothdRunning: () -> Bool
    var adapter: KernelAdapter
    var keys: KernelKeys
    var maps: HandleMapTable
    var parameters = ConnectionParameterLoader()
    var scan = KernelScan()
    var sightings = Sightings()
    var retrieval = ServiceRetrieval()
    var links: [KernelLink] = []
    /// The devices that the kernel says are connected, by whomever, as callers call them.
    var connectedDevices: [PeripheralIdentifier] = []
    var givenUp = GivenUpPeripherals()
    var held = HeldPeripherals()
    /// The time of the event that is handled.
    private(set) var now = MonotonicTime.boot
    var effects: [Effect] = []

    /// A conversation that has not begun.
    ///
    /// - Parameters:
    ///   - isAlone: nobody else of this program uses the adapter, so that what is in the way may be cleared away.
    ///   - isBluetoothdRunning: asked when something happens that bluetoothd may have done.
    init(
        adapter: KernelAdapter, isAlone: Bool, maps: HandleMapTable, keys: KernelKeys,
        isBluetoothdRunning: @escaping () -> Bool
    ) {
        self.adapter = adapter
        self.isAlone = isAlone
        self.maps = maps
        self.keys = keys
        self.isBluetoothdRunning = isBluetoothdRunning
    }

    /// Takes an event. Returns what to do, in order.
    mutating func handle(_ event: Event, at time: MonotonicTime) -> [Effect] {
        now = time
        switch event {
        case .request(let request): take(request)
        case .adapter(let status, let events): adapterIs(status, events)
        case .management(let event): take(event)
        case .channelOpened(let peripheral): opened(peripheral)
        case .channelRefused(let peripheral, let error): refused(peripheral, error)
        case .received(let packet, let peripheral, let arrival):
            onLink(to: peripheral) { link, _ in link.attributes.received(packet, at: arrival) }
        case .channelEnded(let peripheral, let error):
            // Why is reported on the management channel, maybe in this turn.
            onLink(to: peripheral) { link, _ in link.end = link.end ?? SocketError.ended(error) }
        case .restRead(let peripheral):
            if let reason = links.first(where: { $0.identifier == peripheral })?.end { end(peripheral, reason) }
        case .channelOverflowed(let peripheral): close(peripheral)
        case .security(let level, let peripheral, let isRefused): securityIs(level, of: peripheral, isRefused: isRefused)
        case .timeReached: timeReached()
        }
        defer { effects = [] }
        return effects
    }

    mutating func emit(_ event: CentralEvent) { effects.append(.emit(event)) }

    mutating func send(_ command: ManagementCommand?) {
        if let command { effects.append(.send(command)) }
    }

    /// Sends a command for the adapter in use; nothing where there is none.
    mutating func send(_ command: (ControllerIndex) -> ManagementCommand) {
        send(adapter.index.map(command))
    }

    // MARK: Time

    /// When ``Event/timeReached`` is due; nil for never.
    var deadline: MonotonicTime? {
        let others = [adapter.deadline, scan.deadline, held.deadline, retrieval.deadline, givenUp.deadline]
        return (others + links.map(\.deadline)).compactMap { $0 }.min()
    }

    /// True while a channel has ended, and its link is not reported to have.
    var awaitsReasons: Bool { links.contains { $0.end != nil } }

    /// True where a peripheral is connected for a caller.
    func isConnected(to peripheral: PeripheralIdentifier) -> Bool {
        links.contains { $0.identifier == peripheral && $0.isConnected }
    }

    private mutating func timeReached() {
        for link in links { if let reason = link.end { end(link.identifier, reason) } }
        linksDue()
        for peripheral in givenUp.takeExpired(at: now) { send { .removeDevice(peripheral, $0) } }
        answerRetrievals()
        for peripheral in held.takeReleased(at: now, isBluetoothdRunning: isBluetoothdRunning) {
            emit(.didUnblock(peripheral))
        }
        if let index = adapter.index { send(scan.due(at: now, on: index)) }
    }

    // MARK: The adapter

    private mutating func adapterIs(_ status: AdapterStatus, _ events: [ManagementEvent]) {
        for event in events {
            adapter.note(event, at: now)
            keys.note(event)
            parameters.handle(event)
        }
        if adapter.take(status) {
            if isAlone, let abandoned = adapter.takeAbandoned() { send(.removeDevice(nil, abandoned)) }
            send(adapter.preparation)
            loadKeys()
            // Whether this process may use the adapter shows with the first command that needs the permission.
            send { .getConnections($0) }
        }
        send(adapter.powerCommand(at: now, isBluetoothdRunning: isBluetoothdRunning))
        effects += adapter.takePowerChanges().map { .keepPower($0) }
        guard let state = adapter.takeNewState() else { return }
        emit(.didUpdateState(state))
        guard state != .poweredOn else { return }
        connectedDevices = []
        keys.forgetAddresses()
        retrieval.forgetMaps()
        for identifier in links.map(\.identifier) { end(identifier, .adapterUnavailable(state)) }
        if scan.adapterLost() { emit(.didFailToScan(.adapterUnavailable(state))) }
        answerRetrievals(isOver: true)
    }

    /// Gives the kernel all keys that are kept, where it does not know them yet.
    mutating func loadKeys() {
        effects += keys.load(adapter.status, isBluetoothdRunning: isBluetoothdRunning)
    }

    // MARK: Requests

    private mutating func take(_ request: CentralRequest) {
        switch request {
        case .restoreState(_, _, let attempt): emit(.willRestoreState([], attempt: attempt))
        case .retrieveConnectedPeripherals(let services, let attempt): retrieve(services, attempt)
        case .scanForPeripherals(let filter):
            guard adapter.state == .poweredOn, let index = adapter.index else {
                return emit(.didFailToScan(.adapterUnavailable(adapter.state)))
            }
            send(scan.begin(filter, on: index, at: now))
        case .stopScan: send(scan.end(on: adapter.index))
        case .setConnectionParameters(let parameters, let peripheral):
            self.parameters.setParameters(parameters, for: peripheral)
        // It is bluetoothd that forgets what nobody trusts.
        case .trustPeripheral: break
        case .readRSSI(let peripheral):
            let device = keys.kernelsName(of: peripheral)
            if isConnected(to: peripheral) { send { .getConnectionInformation(device, $0) } }
        case .connect(let peripheral, let attempt): connect(peripheral, attempt)
        case .cancelPeripheralConnection(let peripheral, let attempt): cancel(peripheral, attempt)
        case .discoverServices(let peripheral, _), .setNotifyValue(_, _, let peripheral, _), .readValue(_, let peripheral, _),
            .writeValue(_, _, _, let peripheral, _):
            guard isConnected(to: peripheral) else {
                if let answer = request.failure(.notConnected) { emit(answer) }
                return
            }
            onLink(to: peripheral) { $0.attributes.take(request, at: $1) }
        }
    }

    // MARK: The kernel's words

    private mutating func take(_ event: ManagementEvent) {
        guard event.index == adapter.index else { return }
        switch event {
        case .reply(let reply): take(reply)
        case .deviceFound(let identifier, let rssi, let advertisement, _):
            guard let filter = scan.filter, filter.matches(advertisement) else { return }
            sightings.note(identifier, advertisement, at: now)
            emit(.didDiscover(identifier, advertisement: advertisement, rssi: rssi))
        case .discovering(let isOn, let index): send(scan.discovering(isOn, on: index, at: now))
        case .deviceConnected(let device, _, _): deviceConnected(device)
        case .deviceDisconnected(let device, let reason, _): deviceDisconnected(device, reason)
        default: if keys.areKept { takeOfPairing(event) }
        }
    }

    private mutating func take(_ reply: ManagementReply) {
        if let error = scan.handle(reply, at: now) { emit(.didFailToScan(error)) }
        if isAlone { send(scan.remedy(for: reply)) }
        if case .success(.connectionInformation(let device, let quality?)) = reply.result {
            emit(.didReadRSSI(quality, of: keys.callersName(of: device)))
        }
        guard reply.opcode == .getConnections else { return }
        if case .success(.connections(let devices)) = reply.result {
            for device in devices where !connectedDevices.contains(device) { deviceConnected(device) }
        }
        if retrieval.wasListed() { probeDevices() }
    }

    /// Pairings over Bluetooth Low Energy; ``SerialPortCentral`` answers for the others.
    private mutating func takeOfPairing(_ event: ManagementEvent) {
        switch event {
        case .newIdentityResolvingKey(let identity, let key, let address, _, _):
            keys.noteResolvingKey(key, of: identity, resolved: address)
            // Nobody will ever look for what was discovered under the address that is about to change.
            guard let address, let map = maps[address] else { return }
            keep(map, of: identity)
            keep(nil, of: address)
        case .newLongTermKey(let identity, let key, let isToBeStored, _):
            if isToBeStored { effects += keys.add(key, of: identity) }
        case .userConfirmationRequest(let device, _) where device.addressType != .classic:
            // "Just works" confirms nothing. Only links of this process may be paired, and only while it asks for that.
            let isWanted = awaitsSecurity(of: keys.callersName(of: device))
            send { .replyToUserConfirmation(isWanted, device, $0) }
        case .userPasskeyRequest(let device, _) where device.addressType != .classic:
            let peripheral = keys.callersName(of: device)
            let passkey = awaitsSecurity(of: peripheral) ? keys.passkeys.value(for: peripheral) : nil
            send { .replyToUserPasskey(passkey, device, $0) }
        case .authenticationFailed(let device, _, _) where device.addressType != .classic:
            // The request that wanted security fails now; else it would when the time is over.
            onLink(to: keys.callersName(of: device)) { $0.securityFailed(at: $1) }
        default: break
        }
    }

    // MARK: Handles

    mutating func keep(_ map: HandleMap?, of peripheral: PeripheralIdentifier) {
        maps[peripheral] = map
        effects.append(.keepMap(map, of: peripheral))
        while let excess = maps.takeExcess() { effects.append(.keepMap(nil, of: excess)) }
    }
}
