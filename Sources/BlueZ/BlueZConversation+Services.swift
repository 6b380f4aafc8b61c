import Bluetooth

/// Services and characteristics: bluetoothd discovers them by itself after each connect.
extension BlueZConversation {
    /// How often a database that is not there yet is asked for.
    private static let loadPause = Duration.milliseconds(50)
    /// After how long a link that was up before we came, and has no services, counts as another program's.
    private static let foreignLimit = Duration.milliseconds(2000)

    mutating func discoverServices(on identifier: PeripheralIdentifier, attempt: Attempt) {
        guard let index = links.firstIndex(where: { $0.identifier == identifier && $0.phase == .connected }) else {
            return tell(.didDiscoverServices(identifier, result: .failure(.notConnected), attempt: attempt))
        }
        links[index].discovery = BlueZLink.Discovery(attempt: attempt, began: now)
        if DeviceObject(objects, path: links[index].path)?.isResolved == true {
            loadDiscoveredObjects(index)
        } else if links[index].wasUp {
            links[index].discovery?.retry = now + Self.foreignLimit
        }
    }

    /// bluetoothd has found all services.
    mutating func servicesResolved(_ index: Int) {
        guard links[index].discovery != nil else { return }
        loadDiscoveredObjects(index)
    }

    /// Asks for all objects: the signals that announce them may follow the one that says that they are there.
    private mutating func loadDiscoveredObjects(_ index: Int) {
        guard links[index].discovery?.isLoading == false else { return }
        links[index].discovery?.isLoading = true
        links[index].discovery?.retry = nil
        call(
            "GetManagedObjects", of: BlueZInterface.objectManager, at: "/",
            for: .discoveredObjects(path: links[index].path))
    }

    mutating func discoveredObjectsLoaded(_ path: String, _ result: Result<[BusValue], BusError>) {
        if case .success(let values) = result { objects.load(values.first) }
        guard let index = links.firstIndex(where: { $0.path == path }), let discovery = links[index].discovery else { return }
        links[index].discovery?.isLoading = false
        let database = database(of: path)
        if database.characteristics.isEmpty {
            links[index].discovery?.retry = now + Self.loadPause
            return
        }
        links[index].discovery = nil
        tell(.didDiscoverServices(links[index].identifier, result: .success(database), attempt: discovery.attempt))
    }

    /// A discovery has waited.
    mutating func discoveryDue(_ index: Int) {
        guard let discovery = links[index].discovery else { return }
        if DeviceObject(objects, path: links[index].path)?.isResolved == true { return loadDiscoveredObjects(index) }
        guard links[index].wasUp, now - discovery.began >= Self.foreignLimit else { return }
        links[index].discovery = nil
        tell(
            .didDiscoverServices(
                links[index].identifier, result: .failure(.channelBusy), attempt: discovery.attempt))
    }

    /// The characteristics below a device, in the order of their handles.
    func database(of path: String) -> GATTDatabase {
        GATTDatabase(characteristics: characteristicObjects(of: path).compactMap(\.characteristic))
    }

    func characteristicObjects(of path: String) -> [CharacteristicObject] {
        objects.paths(with: BlueZInterface.characteristic, below: path).compactMap {
            CharacteristicObject(objects, path: $0)
        }
    }

    /// A characteristic's object is gone: with the link, or because the headset changed its services.
    mutating func characteristicRemoved(_ path: String) {
        guard
            let link = links.first(where: { path.hasPrefix($0.path + "/") && $0.phase == .connected && $0.cancels.isEmpty }),
            let device = DeviceObject(objects, path: link.path), device.isConnected, device.isResolved
        else { return }
        tell(.didModifyServices(link.identifier))
    }
}
