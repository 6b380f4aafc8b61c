import Bluetooth

/// The objects of bluetoothd, and of its adapters the one in use: which one, and in which state.
struct BlueZAdapter {
    /// What bluetoothd has reported.
    var objects = ObjectMirror()
    /// The adapter in use; nil where there is none.
    private(set) var path: String?
    /// Its state, as last reported.
    private(set) var state: AdapterState = .unknown
    private let wanted: String?
    /// Answers whether the radio of an adapter such as `hci0` is blocked (rfkill).
    private let isBlocked: (String) -> Bool
    /// Answers whether no other process has an adapter.
    private let mayUse: (String) -> Bool

    /// - Parameter wanted: the name or the address of the adapter that is to be used; nil for any.
    init(wanted: String?, isBlocked: @escaping (String) -> Bool, mayUse: @escaping (String) -> Bool) {
        self.wanted = wanted
        self.isBlocked = isBlocked
        self.mayUse = mayUse
    }

    /// Chooses the adapter anew, after one came, went or changed: the one in use stays while it is there. Returns the states
    /// that it comes to, in order: where another adapter takes over, nothing of the old one counts any more.
    mutating func choose() -> [AdapterState] {
        let all = objects.paths(with: BlueZInterface.adapter).compactMap { AdapterObject(objects, path: $0) }
        let usable = all.filter { adapter in
            guard let wanted else { return true }
            return adapter.name == wanted || adapter.address.uppercased() == wanted.uppercased()
        }
        let current = usable.first { $0.path == path }
        let best =
            current.flatMap { $0.isPowered && $0.isCentral ? $0 : nil } ?? usable.first { $0.isPowered && $0.isCentral }
            ?? current ?? usable.first
        var states: [AdapterState] = []
        if best?.path != path {
            if path != nil, setState(.absent) { states.append(.absent) }
            path = best?.path
        }
        let newState = presentState
        if setState(newState) { states.append(newState) }
        return states
    }

    /// bluetoothd is gone, and all that it reported. Returns true where the state is another one.
    mutating func leave() -> Bool {
        objects.removeAll()
        path = nil
        return setState(.resetting)
    }

    /// Nobody lets this process speak to bluetoothd. Returns true where the state is another one.
    mutating func refuse() -> Bool { setState(.unauthorized) }

    private var presentState: AdapterState {
        guard let path, let adapter = AdapterObject(objects, path: path) else { return .absent }
        guard mayUse(adapter.name) else { return .inUse }
        if adapter.isPowered { return adapter.isCentral ? .poweredOn : .unsupported }
        return adapter.saysBlocked || isBlocked(adapter.name) ? .blocked : .poweredOff
    }

    private mutating func setState(_ new: AdapterState) -> Bool {
        defer { state = new }
        return state != new
    }

    // MARK: Devices

    /// True for an object of the adapter in use.
    func isOurs(_ object: String) -> Bool {
        guard let path else { return false }
        return object.hasPrefix(path + "/")
    }

    /// The device of a path, on whichever adapter.
    func device(at path: String) -> DeviceObject? { DeviceObject(objects, path: path) }

    /// The device with the identifier on the adapter in use.
    func device(_ identifier: PeripheralIdentifier) -> DeviceObject? {
        devices.first { $0.identifier == identifier }
    }

    /// All devices of the adapter in use.
    var devices: [DeviceObject] {
        guard let path else { return [] }
        return objects.paths(with: BlueZInterface.device, below: path).compactMap { device(at: $0) }
    }

    /// Keeps bluetoothd from forgetting a headset, 30 s after it has left.
    mutating func trust(_ identifier: PeripheralIdentifier, _ exchange: inout BusExchange) {
        guard let device = device(identifier), !device.isTrusted else { return }
        objects.set("Trusted", of: BlueZInterface.device, at: device.path, to: .boolean(true))
        exchange.call(
            "Set", of: BlueZInterface.properties, at: device.path,
            [.string(BlueZInterface.device), .string("Trusted"), .variant(.boolean(true))], for: .nothing)
    }

    /// The characteristics below a device, in the order of their handles.
    func characteristics(of path: String) -> [CharacteristicObject] {
        objects.paths(with: BlueZInterface.characteristic, below: path).compactMap {
            CharacteristicObject(objects, path: $0)
        }
    }

    /// The same in the field's words.
    func database(of path: String) -> GATTDatabase {
        GATTDatabase(characteristics: characteristics(of: path).compactMap(\.characteristic))
    }
}
