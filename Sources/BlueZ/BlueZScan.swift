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

    /// What the central wants; nil for no scan.
    var wanted: ScanFilter?
    var activity = Activity.idle
    /// When a scan that bluetoothd ended by itself is started again.
    var retry: MonotonicTime?
    /// True where a connect has begun since bluetoothd discovers: the discovery is to begin anew.
    var isOutdated = false

    /// True while advertisements are told.
    var isRunning: Bool {
        if case .running = activity { return wanted != nil }
        return false
    }

    /// bluetoothd says that the adapter does not discover any more, for us or for anybody.
    ///
    /// - Parameter retry: when it is started again.
    mutating func discoveryEnded(retry: MonotonicTime) {
        guard case .running = activity else { return }
        activity = .idle
        isOutdated = false
        self.retry = wanted == nil ? nil : retry
    }
}

extension BlueZConversation {
    /// A restart of a discovery that ended by itself waits for this long, so that two programs that stop each other's do not
    /// spin.
    static let scanPause = Duration.milliseconds(250)

    mutating func scanForPeripherals(matching filter: ScanFilter) {
        guard state == .poweredOn else { return tell(.didFailToScan(.adapterUnavailable(state))) }
        scan.wanted = filter
        reconcileScan()
        guard scan.isRunning else { return }
        tellOfKnownDevices()
    }

    mutating func stopScan() {
        scan.wanted = nil
        scan.retry = nil
        reconcileScan()
    }

    /// Takes the next step from what bluetoothd does to what is wanted.
    mutating func reconcileScan() {
        guard let adapterPath, state == .poweredOn, scan.retry == nil else { return }
        switch (scan.activity, scan.wanted) {
        case (.running, _) where scan.isOutdated: stopDiscovery(at: adapterPath)
        case (.idle, let filter?):
            scan.activity = .settingFilter
            setFilter(filter, at: adapterPath)
        case (.running(let current), let filter?) where current != filter:
            scan.activity = .settingFilter
            setFilter(filter, at: adapterPath)
        case (.running, nil): stopDiscovery(at: adapterPath)
        default: break
        }
    }

    private mutating func stopDiscovery(at path: String) {
        scan.isOutdated = false
        scan.activity = .stopping
        call("StopDiscovery", of: BlueZInterface.adapter, at: path, for: .stopScan)
    }

    /// The kernel is to connect to a device.
    ///
    /// It lets controllers tell of each device once in a discovery (`filter_dup` in net/bluetooth/hci_sync.c), and connects to
    /// what it is told of: one that was found already would not be connected to before the discovery ends, up to 10 s later
    /// (seen on 6.1). A discovery for another headset that is still wanted begins anew by itself.
    mutating func scanYieldsToConnect() {
        switch scan.activity {
        case .idle, .stopping: break
        case .settingFilter, .starting, .running:
            scan.isOutdated = true
            reconcileScan()
        }
    }

    private mutating func setFilter(_ filter: ScanFilter, at path: String) {
        var entries: [BusValue.Entry] = [
            BusValue.Entry(key: .string("Transport"), value: .variant(.string("le"))),
            // Each advertisement, also of what was reported before: a returning headset must show at once.
            BusValue.Entry(key: .string("DuplicateData"), value: .variant(.boolean(true))),
        ]
        // A rule by name or company is checked here alone: bluetoothd reports what meets all of its conditions.
        if filter.namePrefixes.isEmpty, filter.companies.isEmpty, !filter.serviceUUIDs.isEmpty {
            let uuids = filter.serviceUUIDs.map { BusValue.string($0.description) }
            entries.append(BusValue.Entry(key: .string("UUIDs"), value: .variant(.array(uuids, of: "s"))))
        }
        call(
            "SetDiscoveryFilter", of: BlueZInterface.adapter, at: path, [.dictionary(entries, of: "sv")],
            for: .setFilter(filter))
    }

    mutating func filterSet(_ filter: ScanFilter, _ result: Result<[BusValue], BusError>) {
        guard let adapterPath, case .settingFilter = scan.activity else { return }
        if case .failure(let error) = result { return scanFailed(error) }
        scan.activity = .starting(filter)
        call("StartDiscovery", of: BlueZInterface.adapter, at: adapterPath, for: .startScan)
    }

    mutating func scanStarted(_ result: Result<[BusValue], BusError>) {
        guard case .starting(let filter) = scan.activity else { return }
        if case .failure(let error) = result, !Self.isRunningAlready(error) { return scanFailed(error) }
        scan.activity = .running(filter)
        reconcileScan()
        if scan.isRunning { tellOfKnownDevices() }
    }

    /// Our own discovery runs already: the filter took effect with SetDiscoveryFilter.
    private static func isRunningAlready(_ error: BusError) -> Bool {
        error.name == "org.bluez.Error.InProgress"
    }

    mutating func scanStopped() {
        guard scan.activity == .stopping else { return }
        scan.activity = .idle
        reconcileScan()
    }

    /// bluetoothd or the adapter is gone: what was scanned for is not, and is not begun again by itself.
    mutating func interruptScan(_ error: CentralError) {
        let wasWanted = scan.wanted != nil
        scan = BlueZScan()
        if wasWanted { tell(.didFailToScan(error)) }
    }

    private mutating func scanFailed(_ error: BusError) {
        scan.activity = .idle
        scan.isOutdated = false
        guard scan.wanted != nil else { return }
        scan.wanted = nil
        tell(.didFailToScan(BlueZErrorTable.general(error)))
    }

    mutating func scanDue() {
        guard let due = scan.retry, due <= now else { return }
        scan.retry = nil
        reconcileScan()
    }

    /// What another program's scan sees just now is there; and what was paired may be.
    private mutating func tellOfKnownDevices() {
        for device in devices {
            deviceSeen(device.path)
            if options.tellsOfSerialPorts { tellOfSerialPort(device) }
        }
    }

    /// A headset of Bluetooth Classic that a person has paired: it advertises nothing, and is found by its address.
    private mutating func tellOfSerialPort(_ device: DeviceObject) {
        guard device.isPaired, !device.isBlocked, device.services.contains(.serialPort), let identifier = device.identifier,
            identifier.addressType == .public, scan.wanted?.matches(device.advertisement) == true
        else { return }
        tell(
            .didDiscover(
                PeripheralIdentifier(address: identifier.address, type: .classic), advertisement: device.advertisement,
                rssi: Self.unknownStrength))
    }

    /// RSSI that is not available (Vol 4, Part E, 7.7.65.2).
    private static let unknownStrength: Int8 = 127

    /// A device appeared, or its advertisement was seen again.
    mutating func deviceSeen(_ path: String) {
        guard scan.isRunning, let filter = scan.wanted, isOurs(path), let device = DeviceObject(objects, path: path),
            !device.isConnected, let rssi = device.rssi, let identifier = device.identifier
        else { return }
        let advertisement = device.advertisement
        guard filter.matches(advertisement) else { return }
        tell(.didDiscover(identifier, advertisement: advertisement, rssi: rssi))
    }
}
