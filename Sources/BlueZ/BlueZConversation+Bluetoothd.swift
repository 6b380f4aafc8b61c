import Bluetooth

/// bluetoothd comes and goes, and with it all that it has said.
extension BlueZConversation {
    mutating func ownerReplied(_ result: Result<[BusValue], BusError>) {
        owner.replied(result)
        if owner.uniqueName != nil { return loadObjects() }
        bluetoothdVanished()
        // Nobody owns the name: a signal will name who does. A bus that is too busy to answer is asked again.
        if case .failure(.noReply) = result { retry = now + Self.askPause }
    }

    /// bluetoothd has appeared, vanished, or given way to another one.
    mutating func ownerChanged() {
        bluetoothdVanished()
        if owner.uniqueName != nil { loadObjects() }
    }

    mutating func bluetoothdVanished() {
        isLoaded = false
        retry = nil
        blockedBefore.formUnion(blockedDevices)
        // Replies will not come any more.
        exchange.forgetCalls()
        pairing.reset()
        radio.bluetoothdVanished(at: now)
        if adapter.leave() { exchange.emit(.didUpdateState(.resetting)) }
        changeLinks { $0.reset(&$2) }
        scan.interrupt(.adapterUnavailable(.resetting), &exchange)
    }

    mutating func loadObjects() {
        exchange.call("GetManagedObjects", of: BlueZInterface.objectManager, at: "/", for: .objects)
    }

    mutating func objectsLoaded(_ result: Result<[BusValue], BusError>) {
        guard owner.uniqueName != nil else { return }
        switch result {
        case .success(let values):
            loadMirror(values)
            notePaired(adapter.objects.paths(with: BlueZInterface.device))
            if !isLoaded { pairing.register(&exchange) }
            isLoaded = true
            chooseAdapter()
            noteUnblocked()
        case .failure(let error):
            if case .notPermitted = BlueZErrorTable.general(error), adapter.refuse() { stateChanged(to: .unauthorized) }
            retry = now + Self.askPause
        }
    }

    /// Takes all objects instead of those that were known. What was blocked may have gone between them, or be blocked no more,
    /// without a signal of which anybody could make that out.
    mutating func loadMirror(_ values: [BusValue]) {
        blockedBefore.formUnion(blockedDevices)
        adapter.objects.load(values.first)
    }

    /// An adapter has appeared: where bluetoothd has just begun, the one in use, maybe. Its devices come behind it, each with a
    /// signal of its own. Where it is to be seen which of them are still blocked, all are asked for at once.
    mutating func adapterAdded() {
        chooseAdapter()
        if isLoaded, adapter.path != nil, !blockedBefore.isEmpty { loadObjects() }
    }

    /// The devices that a person has blocked.
    private var blockedDevices: Set<PeripheralIdentifier> {
        Set(adapter.devices.filter(\.isBlocked).compactMap(\.identifier))
    }

    /// Reports what was blocked before bluetoothd was restarted, and is not now.
    mutating func noteUnblocked() {
        guard adapter.path != nil else { return }
        for device in blockedBefore.subtracting(blockedDevices).sorted(by: { $0.address < $1.address }) {
            exchange.emit(.didUnblock(device))
        }
        blockedBefore = []
    }
}
