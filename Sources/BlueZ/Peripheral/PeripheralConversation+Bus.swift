import Bluetooth

/// The bus, bluetoothd, and who is connected.
extension PeripheralConversation {
    /// The bus is there: asks who is.
    mutating func busConnected() {
        retry = nil
        lastCall += 1
        let number = CallNumber(rawValue: lastCall)
        pending[number] = (.nameOwner, now + BusExchange.callLimit)
        effects.append(.call(BluetoothdOwner.question(number)))
    }

    /// The bus is gone, or cannot be reached.
    mutating func busLost() {
        owner.reset()
        bluetoothdVanished()
    }

    /// A reply arrived, or will not.
    mutating func replied(_ number: CallNumber, _ result: Result<[BusValue], BusError>) {
        guard let purpose = pending.removeValue(forKey: number)?.purpose else { return }
        var error: BusError?
        if case .failure(let reason) = result { error = reason }
        switch purpose {
        case .nameOwner:
            owner.replied(result)
            if owner.uniqueName != nil { return loadObjects() }
            bluetoothdVanished()
            if error == .noReply { retry = now + Self.askPause }
        case .objects: objectsLoaded(result)
        case .registerApplication: applicationReplied(error)
        case .registerAdvertisement(let path): advertisementReplied(path, error)
        case .nothing: break
        }
    }

    /// A signal arrived. What neither bluetoothd nor the bus has sent counts for nothing.
    mutating func received(_ signal: BusSignal) {
        let earlier = owner
        if owner.received(signal) {
            guard earlier != owner else { return }
            bluetoothdVanished()
            if owner.uniqueName != nil { loadObjects() }
            return
        }
        guard owner.hasSent(signal.sender) else { return }
        switch signal.member {
        case "InterfacesAdded":
            guard let added = adapter.objects.interfacesAdded(signal.body) else { return }
            if added.interfaces.contains(BlueZInterface.adapter) { chooseAdapter() }
            if added.interfaces.contains(BlueZInterface.device) { lookAtDevice(added.path) }
        case "InterfacesRemoved":
            guard let removed = adapter.objects.interfacesRemoved(signal.body) else { return }
            if removed.interfaces.contains(BlueZInterface.device) { lookAtDevice(removed.path) }
            if removed.interfaces.contains(BlueZInterface.adapter) { chooseAdapter() }
        case "PropertiesChanged":
            guard let (interface, changed) = adapter.objects.propertiesChanged(signal.body, at: signal.path) else { return }
            if interface == BlueZInterface.adapter { chooseAdapter() }
            if interface == BlueZInterface.device, changed["Connected"] != nil { lookAtDevice(signal.path) }
            if interface == BlueZInterface.device, changed["Paired"]?.flag == true { notePaired(signal.path) }
        default: break
        }
    }

    /// A device came, went, connected or disconnected.
    private mutating func lookAtDevice(_ path: String) {
        guard adapter.isOurs(path) else { return }
        let device = adapter.device(at: path)
        let index = centrals.firstIndex { $0.path == path }
        if let device, device.isConnected, index == nil, let identifier = device.identifier {
            centrals.append((path, identifier))
            events.append(.didConnect(identifier))
        } else if let index, device?.isConnected != true {
            let gone = centrals.remove(at: index)
            answeredReads.removeAll { $0.read.device == path }
            if centrals.isEmpty { endSubscriptions() }
            events.append(.didDisconnect(gone.identifier))
            // After a link the kernel goes on with the advertisement by which it came about, and with none where that was
            // changed meanwhile (net/bluetooth/hci_event.c, hci_disconn_complete_evt).
            advertised = nil
            reconcile()
        }
    }

    private mutating func notePaired(_ path: String) {
        guard pairing.isOpen, adapter.isOurs(path), let identifier = adapter.device(at: path)?.identifier else { return }
        events.append(.didPair(identifier))
    }

    private mutating func endSubscriptions() {
        for subscription in subscriptions { unsubscribe(subscription.uuid) }
    }

    private mutating func disconnectAll() {
        endSubscriptions()
        openRequests.removeAll()
        answeredReads.removeAll()
        for central in centrals { events.append(.didDisconnect(central.identifier)) }
        centrals.removeAll()
    }

    private mutating func chooseAdapter() {
        guard isLoaded else { return }
        let earlier = adapter.path
        for state in adapter.choose() {
            if state != .poweredOn {
                disconnectAll()
                // Whether bluetoothd goes on by itself when the adapter is on again depends on its version.
                (advertised, isRegistering) = (nil, false)
            }
            events.append(.didUpdateState(state))
        }
        if adapter.path != earlier { (publication, advertised, advertisementPath, isRegistering) = (.none, nil, nil, false) }
        if adapter.state == .inUse { retry = now + Self.askPause }
        for device in adapter.devices { lookAtDevice(device.path) }
        reconcile()
    }

    private mutating func loadObjects() {
        call("GetManagedObjects", of: BlueZInterface.objectManager, at: "/", [], for: .objects)
    }

    private mutating func objectsLoaded(_ result: Result<[BusValue], BusError>) {
        guard owner.uniqueName != nil else { return }
        switch result {
        case .success(let values):
            adapter.objects.load(values.first)
            isLoaded = true
            chooseAdapter()
        case .failure(let error):
            if case .notPermitted = BlueZErrorTable.general(error), adapter.refuse() {
                events.append(.didUpdateState(.unauthorized))
            }
            retry = now + Self.askPause
        }
    }

    private mutating func bluetoothdVanished() {
        isLoaded = false
        retry = nil
        pending.removeAll()
        pairing.reset()
        disconnectAll()
        (publication, advertised, advertisementPath, isRegistering) = (.none, nil, nil, false)
        if adapter.leave() { events.append(.didUpdateState(.resetting)) }
    }

    // MARK: Time

    /// When ``deadlineReached()`` is due; nil for never.
    var deadline: MonotonicTime? { [pending.values.map(\.deadline).min(), retry].compactMap(\.self).min() }

    /// The present has come to the deadline.
    mutating func deadlineReached() {
        for number in pending.filter({ $0.value.deadline <= now }).keys.sorted() { replied(number, .failure(.noReply)) }
        guard let due = retry, due <= now else { return }
        retry = nil
        if owner.uniqueName == nil { return busConnected() }
        if !isLoaded { return loadObjects() }
        chooseAdapter()
    }
}
