import Bluetooth

/// The adapter: which one, and in which state.
extension BlueZConversation {
    /// Chooses the adapter anew, after one came or went: the one in use stays while it is there.
    mutating func chooseAdapter() {
        guard isLoaded else { return }
        let all = objects.paths(with: BlueZInterface.adapter).compactMap { AdapterObject(objects, path: $0) }
        let wanted = all.filter { adapter in
            guard let name = options.adapter else { return true }
            return adapter.name == name || adapter.address.uppercased() == name.uppercased()
        }
        let current = wanted.first { $0.path == adapterPath }
        let best =
            current.flatMap { $0.isPowered ? $0 : nil } ?? wanted.first { $0.isPowered && $0.isCentral } ?? current
            ?? wanted.first
        if best?.path != adapterPath {
            if adapterPath != nil { leaveAdapter() }
            adapterPath = best?.path
        }
        updateState()
    }

    /// Properties of an adapter changed.
    mutating func adapterChanged(_ path: String, _ changed: ObjectMirror.Properties) {
        if changed["Powered"] != nil || changed["PowerState"] != nil { chooseAdapter() }
        guard path == adapterPath else { return }
        if changed["Discovering"]?.flag == false { scan.discoveryEnded(retry: now + Self.scanPause) }
        reconcileScan()
    }

    private mutating func updateState() {
        guard let path = adapterPath, let adapter = AdapterObject(objects, path: path) else { return setState(.absent) }
        if adapter.isPowered { return setState(adapter.isCentral ? .poweredOn : .unsupported) }
        setState(adapter.saysBlocked || isBlocked(adapter.name) ? .blocked : .poweredOff)
    }

    mutating func setState(_ new: AdapterState) {
        guard state != new else { return }
        state = new
        tell(.didUpdateState(new))
        if new == .poweredOn { return reconcileScan() }
        for link in links { close(link, .adapterUnavailable(new)) }
        interruptScan(.adapterUnavailable(new))
    }

    /// Another adapter takes over: nothing of the old one counts any more.
    private mutating func leaveAdapter() {
        setState(.absent)
    }

    /// True for an object of the adapter in use.
    func isOurs(_ path: String) -> Bool {
        guard let adapterPath else { return false }
        return path.hasPrefix(adapterPath + "/")
    }

    /// The device with the identifier on the adapter in use.
    func device(_ identifier: PeripheralIdentifier) -> DeviceObject? {
        devices.first { $0.identifier == identifier }
    }

    /// All devices of the adapter in use.
    var devices: [DeviceObject] {
        guard let adapterPath else { return [] }
        return objects.paths(with: BlueZInterface.device, below: adapterPath).compactMap { DeviceObject(objects, path: $0) }
    }
}
