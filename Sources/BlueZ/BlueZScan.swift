import Bluetooth

/// The scan: what is wanted, and what bluetoothd does about it. Start, stop and filter calls never overlap.
struct BlueZScan {
    /// What bluetoothd does for us.
    enum Activity: Hashable {
        case idle
        case settingFilter
        case starting(ScanFilter)
        case running(ScanFilter)
        case stopping
    }

    /// A restart of a discovery that ended by itself waits for this long, so that two programs that stop each other's do not
    /// spin.
    private static let restartPause = Duration.milliseconds(250)
    /// RSSI that is not available (Vol 4, Part E, 7.7.65.2).
    private static let unknownStrength: Int8 = 127

    /// What the central wants; nil for no scan.
    private var wanted: ScanFilter?
    private var activity = Activity.idle
    /// When a scan that bluetoothd ended by itself is started again; nil where none has.
    private(set) var deadline: MonotonicTime?
    /// True where a connect has begun since bluetoothd discovers: the discovery is to begin anew.
    private var isOutdated = false
    /// Whether paired peripherals of Bluetooth Classic with a serial port are reported, too.
    private let reportsSerialPorts: Bool

    init(reportsSerialPorts: Bool) {
        self.reportsSerialPorts = reportsSerialPorts
    }

    /// True while advertisements are reported.
    var isRunning: Bool {
        if case .running = activity { return wanted != nil }
        return false
    }

    /// bluetoothd says that the adapter does not discover any more, for us or for anybody.
    mutating func discoveryEnded(at now: MonotonicTime) {
        guard case .running = activity else { return }
        activity = .idle
        isOutdated = false
        deadline = wanted == nil ? nil : now + Self.restartPause
    }

    // MARK: What is wanted

    mutating func start(_ filter: ScanFilter, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard adapter.state == .poweredOn else {
            return exchange.emit(.didFailToScan(.adapterUnavailable(adapter.state)))
        }
        wanted = filter
        reconcile(adapter, &exchange)
        guard isRunning else { return }
        emitKnownDevices(adapter, &exchange)
    }

    mutating func stop(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        wanted = nil
        deadline = nil
        reconcile(adapter, &exchange)
    }

    /// Takes the next step from what bluetoothd does to what is wanted.
    mutating func reconcile(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let path = adapter.path, adapter.state == .poweredOn, deadline == nil else { return }
        switch (activity, wanted) {
        case (.running, _) where isOutdated: stopDiscovery(at: path, &exchange)
        case (.idle, let filter?):
            activity = .settingFilter
            setFilter(filter, at: path, &exchange)
        case (.running(let current), let filter?) where current != filter:
            activity = .settingFilter
            setFilter(filter, at: path, &exchange)
        case (.running, nil): stopDiscovery(at: path, &exchange)
        default: break
        }
    }

    private mutating func stopDiscovery(at path: String, _ exchange: inout BusExchange) {
        isOutdated = false
        activity = .stopping
        exchange.call("StopDiscovery", of: BlueZInterface.adapter, at: path, for: .stopScan)
    }

    /// The kernel is to connect to a device.
    ///
    /// It lets controllers report each device once in a discovery (`filter_dup` in net/bluetooth/hci_sync.c), and connects to
    /// what is reported to it: one that was found already would not be connected to before the discovery ends, up to 10 s later
    /// (seen on 6.1). A discovery for another headset that is still wanted begins anew by itself.
    mutating func yieldToConnect(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        switch activity {
        case .idle, .stopping: break
        case .settingFilter, .starting, .running:
            isOutdated = true
            reconcile(adapter, &exchange)
        }
    }

    private mutating func setFilter(_ filter: ScanFilter, at path: String, _ exchange: inout BusExchange) {
        // Not by services: a bluetoothd (5.87) crashes as soon as anything advertises one where a program has it look for
        // some (`is_filter_match`, bluez/bluez, issue 2282). Nor by name, of which it reports what meets all other conditions,
        // too. What is reported is filtered here.
        let entries: [BusValue.Entry] = [
            BusValue.Entry(key: .string("Transport"), value: .variant(.string("le"))),
            // Each advertisement, also of what was reported before: a returning headset must show at once.
            BusValue.Entry(key: .string("DuplicateData"), value: .variant(.boolean(true))),
        ]
        exchange.call(
            "SetDiscoveryFilter", of: BlueZInterface.adapter, at: path, [.dictionary(entries, of: "sv")],
            for: .setFilter(filter))
    }

    mutating func filterSet(
        _ filter: ScanFilter, _ result: Result<[BusValue], BusError>, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard let path = adapter.path, case .settingFilter = activity else { return }
        if case .failure(let error) = result { return fail(error, &exchange) }
        activity = .starting(filter)
        exchange.call("StartDiscovery", of: BlueZInterface.adapter, at: path, for: .startScan)
    }

    mutating func started(
        _ result: Result<[BusValue], BusError>, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard case .starting(let filter) = activity else { return }
        if case .failure(let error) = result, !Self.isRunningAlready(error) { return fail(error, &exchange) }
        activity = .running(filter)
        reconcile(adapter, &exchange)
        if isRunning { emitKnownDevices(adapter, &exchange) }
    }

    /// Our own discovery runs already: the filter took effect with SetDiscoveryFilter.
    private static func isRunningAlready(_ error: BusError) -> Bool {
        error.name == "org.bluez.Error.InProgress"
    }

    mutating func stopped(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard activity == .stopping else { return }
        activity = .idle
        reconcile(adapter, &exchange)
    }

    /// bluetoothd or the adapter is gone: what was scanned for is not, and is not begun again by itself.
    mutating func interrupt(_ error: CentralError, _ exchange: inout BusExchange) {
        let wasWanted = wanted != nil
        self = BlueZScan(reportsSerialPorts: reportsSerialPorts)
        if wasWanted { exchange.emit(.didFailToScan(error)) }
    }

    private mutating func fail(_ error: BusError, _ exchange: inout BusExchange) {
        activity = .idle
        isOutdated = false
        guard wanted != nil else { return }
        wanted = nil
        exchange.emit(.didFailToScan(BlueZErrorTable.general(error)))
    }

    mutating func due(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let due = deadline, due <= exchange.now else { return }
        deadline = nil
        reconcile(adapter, &exchange)
    }

    /// What another program's scan sees just now is there; and what was paired may be.
    private func emitKnownDevices(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        for device in adapter.devices {
            deviceSeen(device.path, adapter, &exchange)
            if reportsSerialPorts { emitSerialPort(device, &exchange) }
        }
    }

    /// A headset of Bluetooth Classic that a person has paired: it advertises nothing, and is found by its address.
    private func emitSerialPort(_ device: DeviceObject, _ exchange: inout BusExchange) {
        guard device.isPaired, !device.isBlocked, device.services.contains(.serialPort), let identifier = device.identifier,
            identifier.addressType == .public, wanted?.matches(device.advertisement) == true
        else { return }
        exchange.emit(
            .didDiscover(
                PeripheralIdentifier(address: identifier.address, type: .classic), advertisement: device.advertisement,
                rssi: Self.unknownStrength))
    }

    /// A device appeared, or its advertisement was seen again.
    func deviceSeen(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let device = adapter.device(at: path), !device.isConnected, device.rssi != nil else { return }
        deviceFound(path, adapter, &exchange)
    }

    /// A device is there, whether or not it advertises.
    func deviceFound(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard isRunning, let filter = wanted, adapter.isOurs(path), let device = adapter.device(at: path),
            let identifier = device.identifier, filter.matches(device.advertisement)
        else { return }
        exchange.emit(
            .didDiscover(
                identifier, advertisement: device.advertisement, rssi: device.rssi ?? Self.unknownStrength))
    }
}
