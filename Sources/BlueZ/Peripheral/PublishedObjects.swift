import Bluetooth

/// What this process publishes, as objects of D-Bus (BlueZ, doc/gatt-api.txt, GATT Manager and Object Manager): services,
/// characteristics, and the advertisement.
struct PublishedObjects {
    /// The root of all objects.
    static let root = "/org/eegsync/peripheral"

    /// One characteristic and its object.
    struct Entry: Hashable {
        var path: String
        var service: String
        var published: PublishedCharacteristic
        var uuid: BluetoothUUID { published.characteristic.uuid }
    }

    /// The services' objects and UUIDs, in order.
    private let services: [(path: String, uuid: BluetoothUUID)]
    /// The characteristics, in order.
    let entries: [Entry]

    /// - Parameter characteristics: with their services; of one UUID there is one.
    init(_ characteristics: [PublishedCharacteristic] = []) {
        let uuids = GATTDatabase(characteristics: characteristics.map(\.characteristic)).services
        let services = uuids.enumerated().map { (path: "\(Self.root)/service\($0)", uuid: $1) }
        entries = characteristics.enumerated().compactMap { number, published in
            services.first { $0.uuid == published.characteristic.service }.map {
                Entry(path: "\($0.path)/char\(number)", service: $0.path, published: published)
            }
        }
        self.services = services
    }

    /// The characteristic of an object.
    func entry(at path: String) -> Entry? { entries.first { $0.path == path } }

    /// The object of a characteristic.
    func entry(of uuid: BluetoothUUID) -> Entry? { entries.first { $0.uuid == uuid } }

    /// The answer to GetManagedObjects.
    var managedObjects: BusValue {
        let serviceObjects = services.map { Self.object($0.path, BlueZInterface.service, serviceProperties($0.uuid)) }
        let characteristics = entries.map { Self.object($0.path, BlueZInterface.characteristic, Self.properties(of: $0)) }
        return .dictionary(serviceObjects + characteristics, of: "oa{sa{sv}}")
    }

    /// The answer to Properties.GetAll of an object; nil where there is no such object.
    func properties(at path: String) -> BusValue? {
        if let service = services.first(where: { $0.path == path }) { return serviceProperties(service.uuid) }
        return entry(at: path).map(Self.properties)
    }

    private func serviceProperties(_ uuid: BluetoothUUID) -> BusValue {
        .options(["UUID": .string(uuid.fullDescription), "Primary": .boolean(true)])
    }

    private static func object(_ path: String, _ interface: String, _ properties: BusValue) -> BusValue.Entry {
        let interfaces = BusValue.dictionary([BusValue.Entry(key: .string(interface), value: properties)], of: "sa{sv}")
        return BusValue.Entry(key: .objectPath(path), value: interfaces)
    }

    private static func properties(of entry: Entry) -> BusValue {
        let uuid = BusValue.string(entry.uuid.fullDescription)
        let flags = BusValue.array(flags(entry.published).map { .string($0) }, of: "s")
        let service = BusValue.objectPath(entry.service)
        // That the property is there says that values can go through a socket; bluetoothd reads sockets in any order, and what
        // comes over the bus in its own.
        let isNotifying = !entry.published.characteristic.properties.isDisjoint(with: [.notify, .indicate])
        return isNotifying && !entry.published.keepsOrder
            ? .options(["UUID": uuid, "Service": service, "Flags": flags, "NotifyAcquired": .boolean(false)])
            : .options(["UUID": uuid, "Service": service, "Flags": flags])
    }

    /// BlueZ's words for properties and security.
    static func flags(_ published: PublishedCharacteristic) -> [String] {
        let properties = published.characteristic.properties
        var flags: [String] = []
        if properties.contains(.read) { flags.append("read") }
        if properties.contains(.write) { flags.append("write") }
        if properties.contains(.writeWithoutResponse) { flags.append("write-without-response") }
        if properties.contains(.notify) { flags.append("notify") }
        if properties.contains(.indicate) { flags.append("indicate") }
        guard published.security == .authenticated else { return flags }
        if properties.contains(.read) { flags.append("encrypt-authenticated-read") }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { flags.append("encrypt-authenticated-write") }
        // Known since BlueZ 5.65; older ones notify whoever has subscribed.
        if properties.contains(.notify) { flags.append("encrypt-authenticated-notify") }
        return flags
    }

    /// The properties of an `org.bluez.LEAdvertisement1`. bluetoothd sends the name as scan response where all does not fit.
    static func properties(of advertisement: Advertisement) -> BusValue {
        var entries: [(String, BusValue)] = [
            ("Type", .string("peripheral")),
            // Otherwise centrals that follow GAP's general discovery leave it out (Vol 3, Part C, 9.2.4).
            ("Discoverable", .boolean(true)),
            ("MinInterval", .uint32(advertisingMilliseconds)), ("MaxInterval", .uint32(advertisingMilliseconds)),
        ]
        if let name = advertisement.localName { entries.append(("LocalName", .string(name))) }
        if !advertisement.serviceUUIDs.isEmpty {
            let uuids = advertisement.serviceUUIDs.map { BusValue.string($0.fullDescription) }
            entries.append(("ServiceUUIDs", .array(uuids, of: "s")))
        }
        if !advertisement.manufacturerData.isEmpty {
            let data = advertisement.manufacturerData.map {
                BusValue.Entry(key: .uint16($0.company), value: .variant(.bytes($0.data)))
            }
            entries.append(("ManufacturerData", .dictionary(data, of: "qv")))
        }
        if !advertisement.serviceData.isEmpty {
            let data = advertisement.serviceData.map {
                BusValue.Entry(key: .string($0.uuid.fullDescription), value: .variant(.bytes($0.data)))
            }
            entries.append(("ServiceData", .dictionary(data, of: "sv")))
        }
        return .dictionary(entries.map { BusValue.Entry(key: .string($0.0), value: .variant($0.1)) }, of: "sv")
    }

    /// As headsets do; Linux would take 1.28 s. bluetoothd takes it where it runs with `-E`, and ignores it elsewhere.
    private static let advertisingMilliseconds: UInt32 = 100
}
