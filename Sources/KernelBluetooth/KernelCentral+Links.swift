import AttributeProtocol
public import Bluetooth
import BluetoothManagement
import CLinux
import Glibc

/// From a call to connect to an open channel, and back; and what else the kernel tells and is asked.
extension KernelCentral {
    /// How often it is looked whether a bluetoothd that is in the way is still there.
    private static let heldPause = Duration.seconds(2)

    // MARK: Calls

    /// Nothing: the kernel closes a link 2 s after its last socket, so none outlives a process.
    public func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        tell(.willRestoreState([], attempt: attempt))
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
        if let place = links.firstIndex(where: { $0.identifier == peripheral && !$0.isProbe }) {
            links[place].attempt = attempt
            if links[place].isConnected { tell(.didConnect(peripheral, attempt: attempt)) }
            return
        }
        if peripheral.isPrivate, !isInSight(peripheral), !connectedDevices.contains(peripheral) {
            return tell(.didFailToConnect(peripheral, error: .unknownPeripheral, attempt: attempt))
        }
        givenUp.removeAll { $0.peripheral == peripheral }
        // Two sockets on one channel there cannot be.
        endProbe(of: peripheral)
        links.append(
            KernelLink(
                identifier: peripheral, attempt: attempt, conversation: ATTLink(peripheral: peripheral, map: nil)))
        if let command = scan.connectBegins(on: index) { adapter.send(command) }
        // Where bluetoothd was in the way when the adapter appeared, and is gone.
        loadKeys(on: index)
        if let command = parameters.command(beforeConnectingOn: index) { adapter.send(command) }
        if !peripheral.isPrivate { adapter.send(.addDevice(peripheral, index)) }
        if peripheral.isPrivate || connectedDevices.contains(peripheral) { open(links.count - 1) }
    }

    public func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        if !giveUp(peripheral), links.contains(where: { $0.identifier == peripheral && !$0.isProbe }) {
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
            noteSighting(of: identifier, advertisement)
            tell(.didDiscover(identifier, advertisement: advertisement, rssi: rssi))
        case .discovering(let isOn, let index) where index == adapter.index:
            if let command = scan.discovering(isOn, on: index) { adapter.send(command) }
        case .deviceConnected(let identifier, _, let index) where index == adapter.index: deviceConnected(identifier)
        case .deviceDisconnected(let identifier, let reason, let index) where index == adapter.index:
            deviceDisconnected(callersName(of: identifier), reason)
            resolved.removeAll { $0.identity == identifier }
        default: handlePairing(event)
        }
    }

    private func handle(_ reply: ManagementReply) {
        parameters.handle(.reply(reply))
        if let error = scan.handle(reply, at: now) { tell(.didFailToScan(error)) }
        if isAlone, let command = scan.remedy(for: reply) { adapter.send(command) }
        guard reply.opcode == .getConnections else { return }
        if case .success(.connections(let devices)) = reply.result {
            for device in devices where !connectedDevices.contains(device) { deviceConnected(device) }
        }
        for place in retrievals.indices { retrievals[place].isListed = true }
        if !retrievals.isEmpty { probeDevices() }
    }

    private func deviceConnected(_ device: PeripheralIdentifier) {
        guard device.addressType != .classic else { return }
        let identifier = callersName(of: device)
        if !connectedDevices.contains(identifier) { connectedDevices.append(identifier) }
        if let place = links.firstIndex(where: { $0.identifier == identifier && $0.isWaiting }) { return open(place) }
        if connectedThoughGivenUp(identifier) { return }
        // The kernel connects to what a process that was killed has waited for, closes the link after 2 s because nobody opens
        // a socket on it, and begins again, so that no scan finds the headset. It is told to stop that now, and not before:
        // while the kernel itself is connecting, to remove the device blocks all its commands for 4 s (seen on 6.1: the answer
        // to LE Create Connection is taken for the one to LE Create Connection Cancel; `hci_le_create_conn_sync`).
        let isOurs = links.contains { $0.identifier == identifier }
        if isAlone, !isOurs, let index = adapter.index, !isBluetoothdRunning() {
            adapter.send(.removeDevice(identifier, index))
        }
    }

    private func deviceDisconnected(_ identifier: PeripheralIdentifier, _ reason: DisconnectionReason) {
        connectedDevices.removeAll { $0 == identifier }
        let hasLostKeys = forgetLostKeys(of: identifier, reason)
        probedMaps.removeAll { $0.device == identifier }
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        switch links[place].phase {
        case .waiting: break
        case _ where links[place].isProbe: endProbe(of: identifier)
        case .opening where identifier.isPrivate: end(identifier, reason.error)
        case .opening:
            // It came and went. The kernel goes on waiting for it.
            closeSocket(place)
            links[place].phase = .waiting
        case .connected(let socket):
            receive(place, from: socket, limit: Int.max)
            carryOut(place)
            end(identifier, hasLostKeys ? Self.lostKeys : reason.error)
        }
    }

    // MARK: The channel

    func open(_ place: Int) {
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
        // One that refuses has packets without stamps, which arrive when they are read.
        _ = clinux_stamp_arrivals(socket)
        readiness.watch(socket, for: .reading)
        if !links[place].isProbe { tell(.didConnect(identifier, attempt: links[place].attempt)) }
        links[place].conversation.begin(at: now)
        if !links[place].isProbe { encryptBonded(place, socket) }
        if links[place].isProbe { links[place].conversation.discoverServices(attempt: .none, at: now) }
        carryOut(place)
    }

    private func refused(_ identifier: PeripheralIdentifier, _ error: SocketError) {
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        if endProbe(of: identifier) { return }
        closeSocket(place)
        links[place].phase = .waiting
        // Another program has the channel; bluetoothd takes it as soon as a link is up.
        if error.code == EBUSY {
            guard isBluetoothdRunning() else { return end(identifier, .channelBusy) }
            if !held.contains(identifier) { held.append(identifier) }
            heldTime = now + Self.heldPause
            return end(identifier, .heldByBluetoothd)
        }
        if case .final(let error) = error.connecting { return end(identifier, error) }
        // The link has gone again, or goes; its end is told, and the kernel waits for the next.
        closeLink(to: identifier)
        if identifier.isPrivate { end(identifier, .connectionTimedOut) }
    }

    /// What is due on the links.
    func linksDue() {
        for identifier in links.filter({ $0.deadline.map { $0 <= now } ?? false }).map(\.identifier) {
            guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { continue }
            guard case .connected(let socket) = links[place].phase, !links[place].isProbe else {
                refused(identifier, SocketError(code: ETIMEDOUT))
                continue
            }
            if let wanted = links[place].security, wanted.due <= now { lookAtSecurity(place, socket) }
            links[place].conversation.deadlineReached(at: now)
            carryOut(place)
        }
    }

    /// Tells of the end of a bluetoothd that was in the way.
    func lookAtBluetoothd() {
        guard let time = heldTime, time <= now else { return }
        heldTime = isBluetoothdRunning() ? now + Self.heldPause : nil
        guard heldTime == nil else { return }
        for identifier in held { tell(.didUnblock(identifier)) }
        held = []
    }

    // MARK: Ends

    /// Closes a link on which the peripheral does not answer any more.
    func close(_ identifier: PeripheralIdentifier) {
        if endProbe(of: identifier) { return }
        closeLink(to: identifier)
        end(identifier, .linkLost)
    }

    /// Ends a link, or the wait for one, for a reason that is not the caller's.
    func end(_ identifier: PeripheralIdentifier, _ error: CentralError) {
        guard !endProbe(of: identifier), let link = remove(identifier) else { return }
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
        adapter.send(.disconnect(kernelsName(of: identifier), index))
    }

    func closeSocket(_ place: Int) {
        guard let socket = links[place].socket else { return }
        readiness.unwatch(socket)
        Glibc.close(socket)
    }
}
