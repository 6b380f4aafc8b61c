import Bluetooth

/// Connections: made, restored, cancelled, lost.
extension BlueZConversation {
    /// How long a device that bluetoothd calls busy is left alone before Device1.Connect is called again.
    private static let busyPause = Duration.milliseconds(500)
    /// How long the connect of a dead process is waited for.
    private static let joinLimit = Duration.seconds(10)
    /// How long the kernel needs to give up a pending connect. A connect that follows sooner joins the one that is being given
    /// up, and stays pending for ever, whatever the headset advertises (seen with Linux 6.1 in the lab).
    private static let settleTime = Duration.milliseconds(100)
    /// How long the signal that a link is up may follow the reply that says so: bluetoothd sends both in one turn of its loop.
    private static let confirmationLimit = Duration.milliseconds(500)

    // MARK: What the system holds

    mutating func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        guard isLoaded else { return tell(.willRestoreState([], attempt: attempt)) }
        var restored: [RestoredPeripheral] = []
        for device in devices where device.isConnected {
            guard let identifier = device.identifier,
                identifiers.contains(identifier) || device.services.contains(where: services.contains)
            else { continue }
            // Once more for a second headset: the link stays the one that it is.
            if link(identifier) == nil {
                var link = BlueZLink(
                    path: device.path, identifier: identifier, attempt: .none, phase: .connected)
                link.wasUp = true
                links.append(link)
            }
            let database = device.isResolved ? database(of: device.path) : nil
            restored.append(
                RestoredPeripheral(
                    identifier: identifier, isConnected: true,
                    database: database?.characteristics.isEmpty == false ? database : nil, notifying: []))
        }
        tell(.willRestoreState(restored, attempt: attempt))
    }

    mutating func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        let found = devices.filter { $0.isConnected && $0.services.contains(where: services.contains) }
        tell(.didRetrieveConnected(found.compactMap(\.identifier), attempt: attempt))
    }

    // MARK: Connecting

    mutating func connect(_ identifier: PeripheralIdentifier, attempt: Attempt) {
        func fail(_ error: CentralError) -> CentralEvent {
            .didFailToConnect(identifier, error: error, attempt: attempt)
        }
        guard state == .poweredOn else { return tell(fail(.adapterUnavailable(state))) }
        guard let device = device(identifier) else { return tell(fail(.unknownPeripheral)) }
        guard !device.isBlocked else { return tell(fail(.peripheralBlocked)) }
        // Of a link that is being closed nothing counts on the next; one that is up keeps what it has.
        if let earlier = self.link(identifier), !earlier.cancels.isEmpty { forget(earlier) }
        links.removeAll { $0.identifier == identifier }
        var link = BlueZLink(
            path: device.path, identifier: identifier, attempt: attempt, phase: .connecting(recovery: .none))
        link.wasUp = device.isConnected
        links.append(link)
        callConnect(links.count - 1, recovery: .none)
    }

    /// Calls Device1.Connect, not before the kernel has given up an earlier connect to the device.
    private mutating func callConnect(_ index: Int, recovery: BlueZLink.Recovery) {
        let path = links[index].path
        if let settled = settling[path], settled > now {
            links[index].phase = .pausing(recovery: recovery, until: settled)
            return
        }
        settling[path] = nil
        links[index].phase = .connecting(recovery: recovery)
        scanYieldsToConnect()
        // Not sooner: the kernel forgets what it is told while it gives up an earlier connect.
        request(.loadConnectionParameters)
        call("Connect", of: BlueZInterface.device, at: path, for: .connect(path: path), within: Self.connectLimit)
    }

    mutating func connectReplied(_ path: String, _ result: Result<[BusValue], BusError>) {
        guard let index = links.firstIndex(where: { $0.path == path }),
            case .connecting(let recovery) = links[index].phase
        else { return }
        // What was cancelled ends with the reply to Device1.Disconnect.
        guard links[index].cancels.isEmpty else { return }
        switch result {
        case .success:
            if DeviceObject(objects, path: path)?.isConnected == true { return connected(index) }
            // Seen in BlueZ 5.66: where the adapter is switched off under a connect, bluetoothd calls that a success; and where
            // its ATT socket is faster than the kernel's management channel, it never signals that the device is connected
            // ("is already connected" in its log). So it is asked.
            links[index].phase = .confirming(until: now + Self.confirmationLimit)
            call(
                "GetAll", of: BlueZInterface.properties, at: path, [.string(BlueZInterface.device)],
                for: .confirmConnect(path: path))
        case .failure(let error):
            let meaning = BlueZErrorTable.connecting(error)
            guard meaning == .inProgress else {
                stuck.remove(path)
                return failToConnect(index, meaning)
            }
            recover(index, from: recovery)
        }
    }

    mutating func connectConfirmed(_ path: String, _ result: Result<[BusValue], BusError>) {
        guard case .success(let values) = result else { return }
        objects.load(values.first, of: BlueZInterface.device, at: path)
        guard let index = links.firstIndex(where: { $0.path == path }), links[index].awaitsLink,
            links[index].cancels.isEmpty, DeviceObject(objects, path: path)?.isConnected == true
        else { return }
        connected(index)
    }

    private mutating func connected(_ index: Int) {
        stuck.remove(links[index].path)
        links[index].phase = .connected
        tell(.didConnect(links[index].identifier, attempt: links[index].attempt))
    }

    /// bluetoothd still works on an earlier connect for this device, of a process that is dead. It is as good as ours: what it
    /// leads to is waited for. Only where that led to nothing before is it cleared away.
    private mutating func recover(_ index: Int, from recovery: BlueZLink.Recovery) {
        let path = links[index].path
        switch recovery {
        case .none:
            // Not cancelled lightly: a cancel in the moment in which the kernel connects blocks its radio for 4 s (Linux 6.1).
            guard stuck.insert(path).inserted else { return clearStuckConnect(index) }
            links[index].phase = .joining(until: now + Self.joinLimit)
            if DeviceObject(objects, path: path)?.isConnected == true { connected(index) }
        case .disconnected: links[index].phase = .pausing(recovery: .paused, until: now + Self.busyPause)
        case .paused:
            // The last resort: forgets the device with whatever is stuck on it; the scan finds it again.
            guard let adapterPath else { return failToConnect(index, .inProgress) }
            links[index].phase = .connecting(recovery: .removed)
            call(
                "RemoveDevice", of: BlueZInterface.adapter, at: adapterPath, [.objectPath(path)],
                for: .removeDevice(path: path))
        case .removed: failToConnect(index, .inProgress)
        }
    }

    /// Device1.Disconnect cancels a connect that is under way, whoever began it.
    private mutating func clearStuckConnect(_ index: Int) {
        let path = links[index].path
        links[index].phase = .connecting(recovery: .disconnected)
        call("Disconnect", of: BlueZInterface.device, at: path, for: .clearStuckConnect(path: path))
    }

    mutating func stuckConnectCleared(_ path: String) {
        settling[path] = now + Self.settleTime
        guard let index = links.firstIndex(where: { $0.path == path }), links[index].cancels.isEmpty,
            links[index].phase == .connecting(recovery: .disconnected)
        else { return }
        callConnect(index, recovery: .disconnected)
    }

    mutating func deviceWasRemoved(_ path: String) {
        guard let index = links.firstIndex(where: { $0.path == path }), links[index].cancels.isEmpty,
            links[index].phase == .connecting(recovery: .removed)
        else { return }
        failToConnect(index, .unknownPeripheral)
    }

    private mutating func failToConnect(_ index: Int, _ error: CentralError) {
        let link = links.remove(at: index)
        let isGone = state != .poweredOn
        tell(
            .didFailToConnect(
                link.identifier, error: isGone ? .adapterUnavailable(state) : error, attempt: link.attempt))
    }

    // MARK: Cancelling

    mutating func cancelPeripheralConnection(_ identifier: PeripheralIdentifier, attempt: Attempt) {
        let device = device(identifier)
        guard let path = link(identifier)?.path ?? (device?.isConnected == true ? device?.path : nil) else {
            return tell(.didDisconnect(identifier, error: nil, attempt: attempt))
        }
        openCancels.append(attempt)
        if let index = links.firstIndex(where: { $0.identifier == identifier }) {
            links[index].cancels.append(attempt)
            endRequests(of: identifier)
        }
        call(
            "Disconnect", of: BlueZInterface.device, at: path, for: .disconnect(path: path, attempt: attempt),
            within: .seconds(10))
    }

    mutating func disconnectReplied(_ path: String, _ attempt: Attempt, _ result: Result<[BusValue], BusError>) {
        // Silence: the one who asked has a deadline, and asks again.
        if case .failure(.noReply) = result { return }
        guard let index = links.firstIndex(where: { $0.path == path && $0.cancels.contains(attempt) }) else {
            // Of another program's link, or of one that was asked for again meanwhile.
            guard let identifier = DeviceObject(objects, path: path)?.identifier else { return }
            return cancelled(identifier, attempt)
        }
        let link = links.remove(at: index)
        if link.phase != .connected { settling[path] = now + Self.settleTime }
        // The signal that says so follows the reply.
        objects.set("Connected", of: BlueZInterface.device, at: path, to: .boolean(false))
        objects.set("ServicesResolved", of: BlueZInterface.device, at: path, to: .boolean(false))
        forget(link)
        for cancel in link.cancels { cancelled(link.identifier, cancel) }
    }

    /// Answers a cancel, once: the end of a link answers every cancel that waited for it, before bluetoothd does.
    private mutating func cancelled(_ identifier: PeripheralIdentifier, _ attempt: Attempt) {
        guard let place = openCancels.firstIndex(of: attempt) else { return }
        openCancels.remove(at: place)
        tell(.didDisconnect(identifier, error: nil, attempt: attempt))
    }

    // MARK: Losing

    /// Ends a link for a reason of the system's.
    mutating func close(_ link: BlueZLink, _ error: CentralError) {
        guard let index = links.firstIndex(where: { $0.path == link.path }) else { return }
        links.remove(at: index)
        forget(link)
        guard link.cancels.isEmpty else {
            for cancel in link.cancels { cancelled(link.identifier, cancel) }
            return
        }
        if link.phase == .connected {
            tell(.didDisconnect(link.identifier, error: error, attempt: link.attempt))
        } else {
            tell(.didFailToConnect(link.identifier, error: error, attempt: link.attempt))
        }
    }

    /// Closes the sockets of a link and forgets what waits for its headset.
    private mutating func forget(_ link: BlueZLink) {
        endRequests(of: link.identifier)
        for subscription in subscriptions where subscription.identifier == link.identifier {
            if let socket = subscription.socket { request(.close(socket)) }
        }
        subscriptions.removeAll { $0.identifier == link.identifier }
        for socket in writeSockets where socket.identifier == link.identifier { request(.close(socket.socket)) }
        writeSockets.removeAll { $0.identifier == link.identifier }
    }

    /// Properties of a device changed.
    mutating func deviceChanged(_ path: String, _ changed: ObjectMirror.Properties) {
        if changed["RSSI"] != nil || changed["Connected"] != nil { radio.noteLife() }
        if changed["RSSI"] != nil { deviceSeen(path) }
        if changed["Blocked"]?.flag == false, let identifier = DeviceObject(objects, path: path)?.identifier {
            tell(.didUnblock(identifier))
        }
        guard let index = links.firstIndex(where: { $0.path == path }) else { return }
        if changed["Connected"]?.flag == false, links[index].phase == .connected {
            let isBlocked = DeviceObject(objects, path: path)?.isBlocked == true
            return close(links[index], isBlocked ? .peripheralBlocked : .linkLost)
        }
        if changed["Connected"]?.flag == true, links[index].awaitsLink, links[index].cancels.isEmpty { connected(index) }
        if changed["ServicesResolved"]?.flag == true { servicesResolved(index) }
    }

    /// A device's object is gone.
    mutating func deviceRemoved(_ path: String) {
        guard let link = links.first(where: { $0.path == path }) else { return }
        if link.phase == .connecting(recovery: .removed) { return }
        close(link, link.phase == .connected ? .linkLost : .unknownPeripheral)
    }

    func link(_ identifier: PeripheralIdentifier) -> BlueZLink? {
        links.first { $0.identifier == identifier }
    }

    // MARK: Time

    mutating func linksDue() {
        for link in links {
            guard let index = links.firstIndex(where: { $0.path == link.path }) else { continue }
            if case .pausing(let recovery, let until) = link.phase, until <= now, link.cancels.isEmpty {
                callConnect(index, recovery: recovery)
            }
            if case .joining(let until) = link.phase, until <= now, link.cancels.isEmpty { clearStuckConnect(index) }
            if case .confirming(let until) = link.phase, until <= now, link.cancels.isEmpty {
                failToConnect(index, .connectionFailed(reason: "bluetoothd gave up without a reason"))
                continue
            }
            if let retry = link.discovery?.retry, retry <= now {
                links[index].discovery?.retry = nil
                discoveryDue(index)
            }
        }
    }
}

extension BlueZLink {
    /// True where nothing but the signal that the link is up is waited for.
    var awaitsLink: Bool {
        switch phase {
        case .confirming, .joining: true
        case .connecting, .pausing, .connected: false
        }
    }

    /// When something is due.
    var deadline: MonotonicTime? {
        switch phase {
        case .pausing(_, let until): cancels.isEmpty ? until : nil
        case .confirming(let until), .joining(let until): cancels.isEmpty ? until : nil
        case .connecting, .connected: discovery?.retry
        }
    }
}
