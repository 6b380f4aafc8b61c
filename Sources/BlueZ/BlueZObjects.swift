import Bluetooth

/// Names of BlueZ's D-Bus interfaces.
enum BlueZInterface {
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let service = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let descriptor = "org.bluez.GattDescriptor1"
    static let agent = "org.bluez.Agent1"
    static let agentManager = "org.bluez.AgentManager1"
    static let gattManager = "org.bluez.GattManager1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
}

/// One interface of an object, as the mirror shows it at one moment.
protocol MirroredObject {
    /// The name of the interface.
    static var interface: String { get }

    /// Creates the object of a path with the properties of the interface.
    init(path: String, properties: ObjectMirror.Properties)
}

extension MirroredObject {
    /// The object of a path; nil where there is none, or where it lacks the interface.
    init?(_ mirror: ObjectMirror, path: String) {
        guard let properties = mirror.properties(of: Self.interface, at: path) else { return nil }
        self.init(path: path, properties: properties)
    }
}

/// An `org.bluez.Adapter1` as the mirror shows it.
struct AdapterObject: MirroredObject {
    static let interface = BlueZInterface.adapter

    let path: String
    let properties: ObjectMirror.Properties

    /// The last part of the path, such as `hci0`.
    var name: String { Self.name(of: path) }
    /// The name of the adapter with this path.
    static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }
    /// The adapter's own address, as text.
    var address: String { properties["Address"]?.text ?? "" }
    var isPowered: Bool { properties["Powered"]?.flag ?? false }
    /// True where the adapter says that its radio is blocked (BlueZ 5.66 and later, `PowerState`).
    var saysBlocked: Bool { properties["PowerState"]?.text == "off-blocked" }
    /// False where the adapter says which roles it has, and central is not among them (BlueZ 5.50 and later, `Roles`).
    var isCentral: Bool { properties["Roles"]?.texts?.contains("central") ?? true }
}

/// An `org.bluez.Device1` as the mirror shows it.
struct DeviceObject: MirroredObject {
    static let interface = BlueZInterface.device

    let path: String
    let properties: ObjectMirror.Properties

    /// The address and its type; nil where bluetoothd says something that is none.
    var identifier: PeripheralIdentifier? {
        guard let address = properties["Address"]?.text else { return nil }
        let type = properties["AddressType"]?.text == "random" ? "random" : "public"
        return PeripheralIdentifier("\(address)/\(type)")
    }

    var isConnected: Bool { properties["Connected"]?.flag ?? false }
    var isResolved: Bool { properties["ServicesResolved"]?.flag ?? false }
    var isTrusted: Bool { properties["Trusted"]?.flag ?? false }
    var isPaired: Bool { properties["Paired"]?.flag ?? false }
    var isBlocked: Bool { properties["Blocked"]?.flag ?? false }
    /// In dBm; there only while a discovery sees the device.
    var rssi: Int8? { properties["RSSI"]?.number.map { Int8(clamping: $0) } }
    /// Services that were advertised or discovered.
    var services: [BluetoothUUID] { (properties["UUIDs"]?.texts ?? []).compactMap { BluetoothUUID($0) } }

    /// What the device said about itself; for one that was connected before, services that it does not advertise are among
    /// its services.
    var advertisement: Advertisement {
        let manufacturer = (properties["ManufacturerData"]?.entries ?? []).compactMap { entry in
            entry.key.number.flatMap { UInt16(exactly: $0) }.map {
                Advertisement.ManufacturerData(company: $0, data: entry.value.octets ?? [])
            }
        }
        var advertisement = Advertisement(
            localName: properties["Name"]?.text, serviceUUIDs: services,
            manufacturerData: manufacturer.sorted { $0.company < $1.company })
        advertisement.transmitPower = properties["TxPower"]?.number.map { Int8(clamping: $0) }
        advertisement.appearance = properties["Appearance"]?.number.flatMap { UInt16(exactly: $0) }
        advertisement.flags = properties["AdvertisingFlags"]?.octets?.first
        return advertisement
    }
}

/// An `org.bluez.GattCharacteristic1` as the mirror shows it.
struct CharacteristicObject {
    let path: String
    private let properties: ObjectMirror.Properties
    private let mirror: ObjectMirror

    init?(_ mirror: ObjectMirror, path: String) {
        guard let properties = mirror.properties(of: BlueZInterface.characteristic, at: path) else { return nil }
        self.path = path
        self.properties = properties
        self.mirror = mirror
    }

    var uuid: BluetoothUUID? { properties["UUID"]?.text.flatMap { BluetoothUUID($0) } }
    /// The names of BlueZ's flags.
    var flags: [String] { properties["Flags"]?.texts ?? [] }
    /// True where bluetoothd offers AcquireWrite for it.
    var offersAcquireWrite: Bool { properties["WriteAcquired"] != nil }

    /// The characteristic in the field's words; nil where its service is not known.
    var characteristic: Characteristic? {
        guard let uuid, let service = properties["Service"]?.text,
            let serviceUUID = mirror.properties(of: BlueZInterface.service, at: service)?["UUID"]?.text
        else { return nil }
        return BluetoothUUID(serviceUUID).map {
            Characteristic(service: $0, uuid: uuid, properties: characteristicProperties, handles: handles(service: service))
        }
    }

    /// bluetoothd names objects by their handles (`service%04x`, `char%04x` and `desc%04x` in src/gatt-client.c); nil where it
    /// does not. The value follows the declaration (Core Specification, Vol 3, Part G, 3.3).
    private func handles(service: String) -> Characteristic.Handles? {
        guard let first = Self.handle(in: service, after: "service"), let declaration = Self.handle(in: path, after: "char"),
            declaration < .max
        else { return nil }
        let configuration = mirror.paths(with: BlueZInterface.descriptor, below: path).first {
            mirror.properties(of: BlueZInterface.descriptor, at: $0)?["UUID"]?.text.flatMap { BluetoothUUID($0) }
                == .clientCharacteristicConfiguration
        }
        return Characteristic.Handles(
            service: first, declaration: declaration, value: declaration + 1,
            clientConfiguration: configuration.flatMap { Self.handle(in: $0, after: "desc") })
    }

    private static func handle(in path: String, after prefix: String) -> UInt16? {
        guard let name = path.split(separator: "/").last, name.hasPrefix(prefix) else { return nil }
        return UInt16(name.dropFirst(prefix.count), radix: 16)
    }

    private var characteristicProperties: Characteristic.Properties {
        var result: Characteristic.Properties = []
        for flag in flags {
            switch flag {
            case "broadcast": result.insert(.broadcast)
            case "read": result.insert(.read)
            case "write-without-response": result.insert(.writeWithoutResponse)
            case "write": result.insert(.write)
            case "notify": result.insert(.notify)
            case "indicate": result.insert(.indicate)
            default: break
            }
        }
        return result
    }
}
