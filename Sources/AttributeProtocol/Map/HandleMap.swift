package import Bluetooth

/// What a server has under which handle: all that a later link needs to go on without a discovery.
///
/// Handles stay the same as long as the server's database does (Core Specification, Vol 3, Part G, 2.5.1); whether it still
/// does is found out in one round trip, see ``GATTRequest/validate(_:)``. ``text`` is its form in a database.
package struct HandleMap: Hashable, Sendable {
    /// The value of the Database Hash characteristic, 16 bytes; nil where the server has none.
    package var databaseHash: [UInt8]?
    /// The services, in the order of their handles.
    package var services: [MappedService]

    /// Creates a map.
    package init(databaseHash: [UInt8]? = nil, services: [MappedService]) {
        self.databaseHash = databaseHash
        self.services = services
    }

    /// The first characteristic with the UUID, or nil.
    package subscript(uuid: BluetoothUUID) -> MappedCharacteristic? {
        for service in services {
            if let found = service.characteristics.first(where: { $0.type.uuid == uuid }) { return found }
        }
        return nil
    }

    /// The characteristic with the highest handle, or nil.
    package var lastCharacteristic: MappedCharacteristic? {
        services.lazy.flatMap(\.characteristics).max { $0.declaration < $1.declaration }
    }

    /// The characteristics, as a central reports them.
    package var database: GATTDatabase {
        GATTDatabase(
            characteristics: services.flatMap { service in
                service.characteristics.map {
                    Characteristic(
                        service: service.uuid, uuid: $0.type.uuid, properties: $0.properties,
                        handles: Characteristic.Handles(
                            service: service.range.start.rawValue, declaration: $0.declaration.rawValue,
                            value: $0.value.rawValue, clientConfiguration: $0.configuration?.rawValue))
                }
            })
    }
}

/// A service and its handles.
package struct MappedService: Hashable, Sendable {
    /// From its declaration to its last attribute.
    package var range: HandleRange
    package var uuid: BluetoothUUID
    /// False for a service that exists to be included.
    package var isPrimary: Bool
    /// The services that it includes, by their handles.
    package var includes: [HandleRange]
    /// Its characteristics, in the order of their handles.
    package var characteristics: [MappedCharacteristic]

    /// Creates a service.
    package init(
        range: HandleRange, uuid: BluetoothUUID, isPrimary: Bool = true, includes: [HandleRange] = [],
        characteristics: [MappedCharacteristic] = []
    ) {
        self.range = range
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// A characteristic and its handles.
package struct MappedCharacteristic: Hashable, Sendable {
    /// The handle of its declaration.
    package var declaration: AttributeHandle
    /// The handle of its value.
    package var value: AttributeHandle
    package var properties: Characteristic.Properties
    /// Its UUID, in the form in which the server declares it.
    package var type: AttributeType
    /// Its descriptors that were looked for, in the order of their handles.
    package var descriptors: [AttributeInformation]

    /// Creates a characteristic.
    package init(
        declaration: AttributeHandle, value: AttributeHandle, properties: Characteristic.Properties, type: AttributeType,
        descriptors: [AttributeInformation] = []
    ) {
        self.declaration = declaration
        self.value = value
        self.properties = properties
        self.type = type
        self.descriptors = descriptors
    }

    /// The handle of its Client Characteristic Configuration, where it has one.
    package var configuration: AttributeHandle? {
        descriptors.first { $0.type.uuid == AttributeType.clientCharacteristicConfiguration.uuid }?.handle
    }

    /// The value of its declaration (Vol 3, Part G, 3.3.1): properties, handle of the value, UUID.
    package var declarationValue: [UInt8] {
        let handle = value.rawValue
        return [properties.rawValue] + [UInt8](littleEndian: handle) + type.bytes
    }
}
