import Bluetooth

/// The discoveries of services that were asked for. bluetoothd discovers by itself after each connect; what is waited for here
/// is that it has.
struct BlueZServices {
    /// How often a database that is not there yet is asked for.
    private static let loadPause = Duration.milliseconds(50)
    /// After how long a link that was up before we came, and has no services, counts as another program's.
    private static let foreignLimit = Duration.milliseconds(2000)

    /// One for each link at most.
    private var discoveries: [Discovery] = []

    /// A discovery under way.
    private struct Discovery {
        let identifier: PeripheralIdentifier
        /// The device's object.
        let path: String
        /// The attempt that asks.
        let attempt: Attempt
        /// When the link counts as another program's; nil for one that came up because we asked.
        let foreignTime: MonotonicTime?
        /// True while the objects are being asked for.
        var isLoading = false
        /// When it is looked again.
        var retry: MonotonicTime?
    }

    /// Takes a request for a link that is up.
    mutating func discover(_ link: BlueZLink, _ attempt: Attempt, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        end(link.identifier)
        let foreignTime = link.wasUp ? exchange.now + Self.foreignLimit : nil
        discoveries.append(
            Discovery(identifier: link.identifier, path: link.path, attempt: attempt, foreignTime: foreignTime))
        if adapter.device(at: link.path)?.isResolved == true {
            load(discoveries.count - 1, &exchange)
        } else {
            discoveries[discoveries.count - 1].retry = foreignTime
        }
    }

    /// bluetoothd has found all services of a device.
    mutating func resolved(_ path: String, _ exchange: inout BusExchange) {
        if let index = discoveries.firstIndex(where: { $0.path == path }) { load(index, &exchange) }
    }

    /// Asks for all objects: the signals that announce them may follow the one that says that they are there.
    private mutating func load(_ index: Int, _ exchange: inout BusExchange) {
        guard !discoveries[index].isLoading else { return }
        discoveries[index].isLoading = true
        discoveries[index].retry = nil
        exchange.call(
            "GetManagedObjects", of: BlueZInterface.objectManager, at: "/",
            for: .discoveredObjects(path: discoveries[index].path))
    }

    /// The objects were asked for.
    mutating func loaded(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let index = discoveries.firstIndex(where: { $0.path == path }) else { return }
        discoveries[index].isLoading = false
        let database = adapter.database(of: path)
        if database.characteristics.isEmpty {
            discoveries[index].retry = exchange.now + Self.loadPause
        } else {
            conclude(index, .success(database), &exchange)
        }
    }

    private mutating func conclude(
        _ index: Int, _ result: Result<GATTDatabase, CentralError>, _ exchange: inout BusExchange
    ) {
        let discovery = discoveries.remove(at: index)
        exchange.emit(.didDiscoverServices(discovery.identifier, result: result, attempt: discovery.attempt))
    }

    /// A link has ended: nothing is reported, for its end is.
    mutating func end(_ identifier: PeripheralIdentifier) {
        discoveries.removeAll { $0.identifier == identifier }
    }

    /// When ``due(_:_:)`` is to be called; nil for never.
    var deadline: MonotonicTime? { discoveries.compactMap(\.retry).min() }

    /// Looks again where a discovery has waited.
    mutating func due(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        while let index = discoveries.firstIndex(where: { $0.retry.map { $0 <= exchange.now } ?? false }) {
            discoveries[index].retry = nil
            if adapter.device(at: discoveries[index].path)?.isResolved == true {
                load(index, &exchange)
            } else if let time = discoveries[index].foreignTime, time <= exchange.now {
                conclude(index, .failure(.channelBusy), &exchange)
            }
        }
    }
}
