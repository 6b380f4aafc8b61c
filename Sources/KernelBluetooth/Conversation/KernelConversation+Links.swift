import AttributeProtocol
import Bluetooth
import BluetoothManagement

/// From a call to connect to an open channel, and back.
extension KernelConversation {
    /// How long the channel of a link that is up may take to open: the kernel needs no packet for it.
    private static let openingLimit = Duration.seconds(5)
    /// How long a connection to a private address may take: headsets advertise several times a second.
    private static let privateOpeningLimit = Duration.seconds(3)
    /// What the controller says of a signal that it cannot measure (Core Specification, Vol 4, Part E, 7.7.65.2).
    private static let unknownRSSI: Int8 = 127

    // MARK: Requests

    mutating func connect(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        guard adapter.state == .poweredOn, let index = adapter.index else {
            return emit(.didFailToConnect(peripheral, error: .adapterUnavailable(adapter.state), attempt: attempt))
        }
        if let known = links.firstIndex(where: { $0.identifier == peripheral && !$0.isProbe }) {
            links[known].attempt = attempt
            if links[known].isConnected { emit(.didConnect(peripheral, attempt: attempt)) }
            return
        }
        let isAtHand = connectedDevices.contains(peripheral)
        let canBeReached = isAtHand || !peripheral.isPrivate || sightings.isInSight(peripheral, at: now)
        guard peripheral.addressType != .classic, canBeReached else {
            return emit(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        _ = givenUp.remove(peripheral)
        // Two sockets on one channel there cannot be.
        endProbe(of: peripheral)
        links.append(KernelLink(identifier: peripheral, attempt: attempt))
        send(scan.connectBegins(on: index))
        // Where bluetoothd was in the way when the adapter appeared, and is gone.
        loadKeys()
        send(parameters.command(beforeConnectingOn: index))
        if !peripheral.isPrivate { send(.addDevice(peripheral, index)) }
        if peripheral.isPrivate || isAtHand { open(links.count - 1) }
    }

    mutating func cancel(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        if let index = links.firstIndex(where: { $0.identifier == peripheral && !$0.isProbe }) {
            if isAlone, !peripheral.isPrivate, links[index].isWaiting, !connectedDevices.contains(peripheral) {
                links.remove(at: index)
                givenUp.add(peripheral, at: now)
            } else {
                remove(peripheral)
                closeLink(to: peripheral)
            }
        }
        emit(.didDisconnect(peripheral, error: nil, attempt: attempt))
    }

    // MARK: The kernel's words

    mutating func deviceConnected(_ device: PeripheralIdentifier) {
        guard device.addressType != .classic else { return }
        let identifier = keys.callersName(of: device)
        if !connectedDevices.contains(identifier) { connectedDevices.append(identifier) }
        if let index = links.firstIndex(where: { $0.identifier == identifier && $0.isWaiting }) { return open(index) }
        if givenUp.remove(identifier) { return connectedThoughGivenUp(identifier) }
        // The kernel connects to what a process that was killed has waited for, closes the link after 2 s because nobody opens
        // a socket on it, and begins again, so that no scan finds the headset. It is asked to stop that now, and not before:
        // while the kernel itself is connecting, to remove the device blocks all its commands for 4 s (seen on 6.1: the answer
        // to LE Create Connection is taken for the one to LE Create Connection Cancel; `hci_le_create_conn_sync`).
        let isOurs = links.contains { $0.identifier == identifier }
        if isAlone, !isOurs, !isBluetoothdRunning() { send { .removeDevice(identifier, $0) } }
    }

    private mutating func connectedThoughGivenUp(_ peripheral: PeripheralIdentifier) {
        send { .removeDevice(peripheral, $0) }
        // What it advertised when it was discovered, or what it must offer, since it was connected before.
        let advertisement =
            sightings.advertisement(of: peripheral)
            ?? Advertisement(serviceUUIDs: maps[peripheral]?.services.map(\.uuid) ?? [])
        guard let filter = scan.filter, filter.matches(advertisement) else { return }
        emit(.didDiscover(peripheral, advertisement: advertisement, rssi: Self.unknownRSSI))
    }

    mutating func deviceDisconnected(_ device: PeripheralIdentifier, _ reason: DisconnectionReason) {
        let identifier = keys.callersName(of: device)
        connectedDevices.removeAll { $0 == identifier }
        let lost = keys.forgetLost(by: device, reason, wasBeingSecured: awaitsSecurity(of: identifier))
        effects += lost
        if !lost.isEmpty { send { .unpairDevice(device, $0) } }
        keys.forgetAddress(of: device)
        retrieval.forgetMap(of: identifier)
        guard let index = links.firstIndex(where: { $0.identifier == identifier }), !endProbe(of: identifier) else { return }
        switch links[index].phase {
        case .waiting: break
        case .opening where identifier.isPrivate: end(identifier, reason.error)
        case .opening:
            // It came and went. The kernel goes on waiting for it.
            effects.append(.close(identifier))
            links[index].phase = .waiting
        case .connected:
            links[index].end = lost.isEmpty ? reason.error : KernelKeys.lostKeys
            effects.append(.readRest(of: identifier))
        }
    }

    // MARK: The channel

    private mutating func open(_ index: Int) {
        let identifier = links[index].identifier
        links[index].phase = .opening(until: now + (identifier.isPrivate ? Self.privateOpeningLimit : Self.openingLimit))
        effects.append(.open(identifier))
    }

    mutating func opened(_ peripheral: PeripheralIdentifier) {
        guard let index = links.firstIndex(where: { $0.identifier == peripheral && $0.isOpening }) else { return }
        let isProbe = links[index].isProbe
        if !isProbe { emit(.didConnect(peripheral, attempt: links[index].attempt)) }
        links[index].begin(with: maps.use(peripheral), at: now)
        // Before anything is asked: a request that is refused first costs a round trip (Core Specification, Vol 3, Part C,
        // 10.3.1 lets a headset refuse all of them).
        if !isProbe, keys.hasBond(with: peripheral) { raiseSecurity(to: .medium, on: index) }
        onLink(to: peripheral) {
            if isProbe { $0.attributes.take(.discoverServices(on: peripheral, attempt: .none), at: $1) }
        }
    }

    mutating func refused(_ peripheral: PeripheralIdentifier, _ error: SocketError) {
        guard let index = links.firstIndex(where: { $0.identifier == peripheral && $0.isOpening }), !endProbe(of: peripheral)
        else { return }
        effects.append(.close(peripheral))
        links[index].phase = .waiting
        // Another program has the channel; bluetoothd takes it as soon as a link is up.
        if error.isOfTakenChannel {
            guard isBluetoothdRunning() else { return end(peripheral, .channelBusy) }
            held.add(peripheral, at: now)
            return end(peripheral, .heldByBluetoothd)
        }
        if case .final(let error) = error.connecting { return end(peripheral, error) }
        // The link has gone again, or goes; its end is reported, and the kernel waits for the next.
        closeLink(to: peripheral)
        if peripheral.isPrivate { end(peripheral, .connectionTimedOut) }
    }

    /// Changes a link whose channel is open, and passes on what it has to say.
    mutating func onLink(
        to peripheral: PeripheralIdentifier, _ change: (_ link: inout KernelLink, _ now: MonotonicTime) -> Void
    ) {
        guard let index = links.firstIndex(where: { $0.identifier == peripheral && $0.phase == .connected }) else { return }
        change(&links[index], now)
        let packets = links[index].attributes.takePackets()
        var hasTimedOut = false
        for event in links[index].attributes.takeEvents() {
            switch event {
            case .central where links[index].isProbe, .needsSecurity where links[index].isProbe: break
            case .central(let event): emit(event)
            case .didUpdateMap(let map) where links[index].isProbe: retrieval.note(map, of: peripheral)
            case .didUpdateMap(let map): keep(map, of: peripheral)
            case .needsSecurity(let level):
                // Without a key the two pair first, and where it has proven too little, again.
                if !keys.hasBond(with: peripheral) || level > .medium { emit(.didBeginPairing(peripheral)) }
                raiseSecurity(to: level, on: index)
            case .didTimeOut: hasTimedOut = true
            }
            if links[index].isProbe, event.endsProbe {
                endProbe(of: peripheral)
                return
            }
        }
        effects += packets.map { .sendPacket($0, to: peripheral) }
        if hasTimedOut { close(peripheral) }
    }

    /// What is due on the links.
    mutating func linksDue() {
        for peripheral in links.filter({ $0.deadline.map { $0 <= now } ?? false }).map(\.identifier) {
            guard let link = links.first(where: { $0.identifier == peripheral }) else { continue }
            if link.isOpening {
                refused(peripheral, .timedOut)
            } else if !endProbe(of: peripheral) {
                if link.isSecurityDue(at: now) { effects.append(.readSecurity(of: peripheral)) }
                onLink(to: peripheral) { $0.attributes.deadlineReached(at: $1) }
            }
        }
    }

    // MARK: Security

    /// True while a link is being made more secure. Of a link that has ended the kernel says that it is.
    func awaitsSecurity(of peripheral: PeripheralIdentifier) -> Bool {
        links.contains { $0.identifier == peripheral && $0.isConnected && $0.securing != nil }
    }

    private mutating func raiseSecurity(to level: SecurityLevel, on index: Int) {
        links[index].beginSecuring(to: level, at: now)
        effects.append(.raiseSecurity(level, of: links[index].identifier))
    }

    mutating func securityIs(_ level: SecurityLevel?, of peripheral: PeripheralIdentifier, isRefused: Bool) {
        var isSecured = false
        onLink(to: peripheral) { isSecured = $0.securityIs(level, isRefused: isRefused, at: $1) }
        if isSecured { keys.noteSuccess(with: peripheral) }
    }

    // MARK: Ends

    /// Closes a link on which the peripheral does not answer any more.
    mutating func close(_ peripheral: PeripheralIdentifier) {
        if endProbe(of: peripheral) { return }
        closeLink(to: peripheral)
        end(peripheral, .linkLost)
    }

    /// Ends a link, or the wait for one, for a reason that is not the caller's.
    mutating func end(_ peripheral: PeripheralIdentifier, _ error: CentralError) {
        guard !endProbe(of: peripheral), let link = remove(peripheral) else { return }
        let cause = adapter.state == .poweredOn ? error : .adapterUnavailable(adapter.state)
        if link.isConnected {
            emit(.didDisconnect(peripheral, error: cause, attempt: link.attempt))
        } else {
            emit(.didFailToConnect(peripheral, error: cause, attempt: link.attempt))
        }
    }

    /// Forgets a link, and has the kernel forget it.
    @discardableResult
    private mutating func remove(_ peripheral: PeripheralIdentifier) -> KernelLink? {
        guard let index = links.firstIndex(where: { $0.identifier == peripheral }) else { return nil }
        if !links[index].isWaiting { effects.append(.close(peripheral)) }
        if !peripheral.isPrivate { send { .removeDevice(peripheral, $0) } }
        return links.remove(at: index)
    }

    /// Has the kernel close the link at once; it would take 2 s by itself.
    private mutating func closeLink(to peripheral: PeripheralIdentifier) {
        guard connectedDevices.contains(peripheral) else { return }
        connectedDevices.removeAll { $0 == peripheral }
        let device = keys.kernelsName(of: peripheral)
        send { .disconnect(device, $0) }
    }

    // MARK: Service retrieval

    mutating func retrieve(_ services: [BluetoothUUID], _ attempt: Attempt) {
        guard adapter.state == .poweredOn else { return emit(.didRetrieveConnected([], attempt: attempt)) }
        retrieval.ask(for: services, attempt, at: now)
        send { .getConnections($0) }
    }

    /// Begins to ask the devices of which nothing is known.
    mutating func probeDevices() {
        for device in connectedDevices where maps[device] == nil && retrieval[device] == nil {
            guard !links.contains(where: { $0.identifier == device }) else { continue }
            links.append(KernelLink(probing: device, at: now))
            open(links.count - 1)
        }
    }

    /// Closes the channel of a probe, and leaves the link alone. Returns false where there is none.
    @discardableResult
    mutating func endProbe(of peripheral: PeripheralIdentifier) -> Bool {
        guard let index = links.firstIndex(where: { $0.identifier == peripheral && $0.isProbe }) else { return false }
        effects.append(.close(peripheral))
        links.remove(at: index)
        return true
    }

    /// Answers the questions whose time has come.
    ///
    /// - Parameter isOver: true where the adapter is gone, and everything with it.
    mutating func answerRetrievals(isOver: Bool = false) {
        let isProbing = links.contains { $0.isProbe }
        for question in retrieval.takeDue(at: now, isProbing: isProbing, isOver: isOver) {
            let found = connectedDevices.filter { offers($0, question.services) }
            emit(.didRetrieveConnected(found, attempt: question.attempt))
        }
    }

    /// Whether a connected device offers one of the services. What is known of such a one is kept for the link that follows;
    /// what other devices offer is forgotten when they are gone.
    private mutating func offers(_ device: PeripheralIdentifier, _ services: [BluetoothUUID]) -> Bool {
        guard let map = maps[device] ?? retrieval[device], map.services.contains(where: { services.contains($0.uuid) })
        else { return false }
        if maps[device] == nil { keep(map, of: device) }
        return true
    }
}

extension ATTLink.Event {
    /// True where a probe has got what it wanted, or will not: nobody has asked to pair.
    fileprivate var endsProbe: Bool {
        switch self {
        case .central(.didDiscoverServices), .needsSecurity, .didTimeOut: true
        case .central, .didUpdateMap: false
        }
    }
}
