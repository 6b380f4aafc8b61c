import AttributeProtocol
public import Bluetooth
import BluetoothManagement
import Glibc

/// From a call to connect to an open channel, and back; and what else the kernel tells and is asked.
extension KernelCentral {
    // MARK: Calls

    /// Nothing: the kernel closes a link 2 s after its last socket, so none outlives a process.
    public func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        tell(.willRestoreState([], attempt: attempt))
    }

    /// Of the devices that the kernel says are connected, those whose handles are known to hold one of the services: this
    /// process's own, and headsets of earlier links.
    public func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        guard state == .poweredOn, let index = adapter.index else {
            return tell(.didRetrieveConnected([], attempt: attempt))
        }
        retrievals.append((services, attempt))
        adapter.send(.getConnections(index))
    }

    public func scanForPeripherals(matching filter: ScanFilter) {
        guard state == .poweredOn, let index = adapter.index else {
            return tell(.didFailToScan(.adapterUnavailable(state)))
        }
        if let command = scan.begin(filter, on: index) { adapter.send(command) }
    }

    public func stopScan() {
        if let command = scan.end(on: adapter.index) { adapter.send(command) }
    }

    public func setConnectionParameters(_ parameters: ConnectionParameters, for peripheral: PeripheralIdentifier) {
        self.parameters.setParameters(parameters, for: peripheral)
    }

    public func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        guard state == .poweredOn, let index = adapter.index else {
            return tell(.didFailToConnect(peripheral, error: .adapterUnavailable(state), attempt: attempt))
        }
        guard peripheral.addressType != .classic else {
            return tell(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        if let place = links.firstIndex(where: { $0.identifier == peripheral }) {
            links[place].attempt = attempt
            if links[place].isConnected { tell(.didConnect(peripheral, attempt: attempt)) }
            return
        }
        if peripheral.isPrivate, !isInSight(peripheral), !connectedDevices.contains(peripheral) {
            return tell(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        links.append(
            KernelLink(
                identifier: peripheral, attempt: attempt, conversation: ATTLink(peripheral: peripheral, map: nil)))
        if let command = parameters.command(beforeConnectingOn: index) { adapter.send(command) }
        if !peripheral.isPrivate { adapter.send(.addDevice(peripheral, index)) }
        if peripheral.isPrivate || connectedDevices.contains(peripheral) { open(links.count - 1) }
    }

    public func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        if links.contains(where: { $0.identifier == peripheral }) {
            remove(peripheral)
            closeLink(to: peripheral)
        }
        tell(.didDisconnect(peripheral, error: nil, attempt: attempt))
    }

    // MARK: The kernel's words

    /// Takes an event that is not about the adapter alone.
    func handle(_ event: ManagementEvent) {
        switch event {
        case .reply(let reply) where reply.index == adapter.index: handle(reply)
        case .deviceFound(let identifier, let rssi, let advertisement, let index) where index == adapter.index:
            guard let filter = scan.filter, filter.matches(advertisement) else { return }
            noteSighting(of: identifier)
            tell(.didDiscover(identifier, advertisement: advertisement, rssi: rssi))
        case .discovering(let isOn, let index) where index == adapter.index:
            if let command = scan.discovering(isOn, on: index) { adapter.send(command) }
        case .deviceConnected(let identifier, _, let index) where index == adapter.index: deviceConnected(identifier)
        case .deviceDisconnected(let identifier, let reason, let index) where index == adapter.index:
            deviceDisconnected(identifier, reason)
        default: break
        }
    }

    private func handle(_ reply: ManagementReply) {
        parameters.handle(.reply(reply))
        if let error = scan.handle(reply, at: now) { tell(.didFailToScan(error)) }
        if let command = scan.remedy(for: reply) { adapter.send(command) }
        guard reply.opcode == .getConnections else { return }
        if case .success(.connections(let devices)) = reply.result {
            for device in devices where !connectedDevices.contains(device) { deviceConnected(device) }
        }
        for question in retrievals { answer(question.services, question.attempt) }
        retrievals = []
    }

    private func answer(_ services: [BluetoothUUID], _ attempt: Attempt) {
        let found = connectedDevices.filter { device in
            let offered = maps.load(device)?.services.map(\.uuid) ?? []
            return offered.contains(where: services.contains)
        }
        tell(.didRetrieveConnected(found, attempt: attempt))
    }

    private func deviceConnected(_ identifier: PeripheralIdentifier) {
        guard identifier.addressType != .classic else { return }
        if !connectedDevices.contains(identifier) { connectedDevices.append(identifier) }
        if let place = links.firstIndex(where: { $0.identifier == identifier && $0.isWaiting }) { open(place) }
    }

    private func deviceDisconnected(_ identifier: PeripheralIdentifier, _ reason: DisconnectionReason) {
        connectedDevices.removeAll { $0 == identifier }
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        switch links[place].phase {
        case .waiting: break
        case .opening where identifier.isPrivate: end(identifier, reason.error)
        case .opening:
            // It came and went. The kernel goes on waiting for it.
            closeSocket(place)
            links[place].phase = .waiting
        case .connected(let socket):
            receive(place, from: socket, limit: Int.max)
            carryOut(place)
            end(identifier, reason.error)
        }
    }

    // MARK: The channel

    private func open(_ place: Int) {
        let identifier = links[place].identifier
        switch sockets.open(identifier, adapter.address) {
        case .failure(let error): refused(identifier, error)
        case .success(let socket):
            let limit = identifier.isPrivate ? Self.privateOpeningLimit : Self.openingLimit
            links[place].phase = .opening(socket: socket, until: now + limit)
            readiness.watch(socket, for: .connecting)
        }
    }

    /// The opening of a channel has come to an end.
    func opened(_ place: Int) {
        guard case .opening(let socket, _) = links[place].phase else { return }
        let identifier = links[place].identifier
        if let error = sockets.connectionError(socket) { return refused(identifier, error) }
        links[place].phase = .connected(socket: socket)
        links[place].conversation = ATTLink(peripheral: identifier, map: maps.load(identifier))
        readiness.watch(socket, for: .reading)
        tell(.didConnect(identifier, attempt: links[place].attempt))
        links[place].conversation.begin(at: now)
        carryOut(place)
    }

    private func refused(_ identifier: PeripheralIdentifier, _ error: SocketError) {
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        closeSocket(place)
        links[place].phase = .waiting
        // Another program has the channel; bluetoothd takes that of every link.
        if error.code == EBUSY { return end(identifier, .channelBusy) }
        if case .final(let error) = error.connecting { return end(identifier, error) }
        // The link has gone again, or goes; its end is told, and the kernel waits for the next.
        closeLink(to: identifier)
        if identifier.isPrivate { end(identifier, .connectionTimedOut) }
    }

    /// What is due on the links.
    func linksDue() {
        for identifier in links.filter({ $0.deadline.map { $0 <= now } ?? false }).map(\.identifier) {
            guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { continue }
            guard case .connected(let socket) = links[place].phase else {
                refused(identifier, SocketError(code: ETIMEDOUT))
                continue
            }
            if let wanted = links[place].security, wanted.due <= now { lookAtSecurity(place, wanted.level, socket) }
            links[place].conversation.deadlineReached(at: now)
            carryOut(place)
        }
    }

    private func lookAtSecurity(_ place: Int, _ wanted: SecurityLevel, _ socket: Int32) {
        links[place].security = nil
        if let level = sockets.security(socket), level >= wanted {
            links[place].conversation.didChangeSecurity(to: level, at: now)
        } else if links[place].conversation.awaitsSecurity {
            links[place].security = (wanted, now + Self.securityPause)
        }
    }

    // MARK: Ends

    /// Closes a link on which the peripheral does not answer any more.
    func close(_ identifier: PeripheralIdentifier) {
        closeLink(to: identifier)
        end(identifier, .linkLost)
    }

    /// Ends a link, or the wait for one, for a reason that is not the caller's.
    func end(_ identifier: PeripheralIdentifier, _ error: CentralError) {
        guard let link = remove(identifier) else { return }
        let cause = state == .poweredOn ? error : .adapterUnavailable(state)
        if link.isConnected {
            tell(.didDisconnect(identifier, error: cause, attempt: link.attempt))
        } else {
            tell(.didFailToConnect(identifier, error: cause, attempt: link.attempt))
        }
    }

    /// Forgets a link, and has the kernel forget it.
    @discardableResult
    private func remove(_ identifier: PeripheralIdentifier) -> KernelLink? {
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return nil }
        closeSocket(place)
        if !identifier.isPrivate, let index = adapter.index { adapter.send(.removeDevice(identifier, index)) }
        return links.remove(at: place)
    }

    /// Has the kernel close the link at once; it would take 2 s by itself.
    private func closeLink(to identifier: PeripheralIdentifier) {
        guard connectedDevices.contains(identifier), let index = adapter.index else { return }
        connectedDevices.removeAll { $0 == identifier }
        adapter.send(.disconnect(identifier, index))
    }

    private func closeSocket(_ place: Int) {
        guard let socket = links[place].socket else { return }
        readiness.unwatch(socket)
        Glibc.close(socket)
    }
}
