/// One characteristic of a peripheral's GATT database.
public struct Characteristic: Hashable, Sendable {
    /// Characteristic properties (Core Specification, Vol 3, Part G, 3.3.1.1).
    public struct Properties: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let broadcast = Properties(rawValue: 0x01)
        public static let read = Properties(rawValue: 0x02)
        public static let writeWithoutResponse = Properties(rawValue: 0x04)
        public static let write = Properties(rawValue: 0x08)
        public static let notify = Properties(rawValue: 0x10)
        public static let indicate = Properties(rawValue: 0x20)
    }

    /// Where it lies among its peripheral's attributes (Core Specification, Vol 3, Part G, 3.3).
    public struct Handles: Hashable, Sendable {
        /// Of the declaration of its service.
        public var service: UInt16
        /// Of its own declaration.
        public var declaration: UInt16
        /// Of its value.
        public var value: UInt16
        /// Of its Client Characteristic Configuration; nil where it has none.
        public var clientConfiguration: UInt16?

        /// Creates handles.
        public init(service: UInt16, declaration: UInt16, value: UInt16, clientConfiguration: UInt16? = nil) {
            self.service = service
            self.declaration = declaration
            self.value = value
            self.clientConfiguration = clientConfiguration
        }
    }

    /// The service that it belongs to.
    public var service: BluetoothUUID
    /// The characteristic's own UUID.
    public var uuid: BluetoothUUID
    /// What can be done with it.
    public var properties: Properties
    /// Nil where the system does not list them, and of a serial port.
    public var handles: Handles?

    /// Creates a characteristic.
    public init(service: BluetoothUUID, uuid: BluetoothUUID, properties: Properties, handles: Handles? = nil) {
        self.service = service
        self.uuid = uuid
        self.properties = properties
        self.handles = handles
    }
}

/// The services and characteristics that a discovery found on a peripheral.
///
/// A classic serial port appears as service `1101` with one characteristic `1101` that notifies and can be written.
public struct GATTDatabase: Hashable, Sendable {
    /// The most characteristics that are looked at; the richest peripherals have some hundred.
    public static let characteristicLimit = 4096

    /// All characteristics, in the order of their handles.
    public var characteristics: [Characteristic]

    /// Creates a database; what is beyond ``characteristicLimit`` is left out.
    public init(characteristics: [Characteristic]) {
        self.characteristics = Array(characteristics.prefix(Self.characteristicLimit))
    }

    /// The characteristic with the UUID, or nil.
    public subscript(uuid: BluetoothUUID) -> Characteristic? {
        characteristics.first { $0.uuid == uuid }
    }

    /// The services, in the order of their handles, each once.
    public var services: [BluetoothUUID] {
        var result: [BluetoothUUID] = []
        for characteristic in characteristics where !result.contains(characteristic.service) {
            result.append(characteristic.service)
        }
        return result
    }
}

/// How a value is written (Core Specification, Vol 3, Part G, 4.9).
public enum WriteType: String, Hashable, Sendable {
    /// Write Request, answered by Write Response.
    case withResponse
    /// Write Command: no answer.
    case withoutResponse
}
