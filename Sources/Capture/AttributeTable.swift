import Bluetooth

/// Handles for the attributes of a peripheral, and the messages of a discovery that finds them.
///
/// The handles are those that the central reports. Where it reports none, they are numbered in the order of the GATT database,
/// without the gaps that a peripheral may have.
struct AttributeTable {
    /// The longest message, a common maximum; asked for at the beginning, so that no notification is longer than agreed.
    static let maximumMessageLength = 517

    struct Service {
        var uuid: BluetoothUUID
        var first: UInt16
        var last: UInt16
    }

    struct Entry {
        var characteristic: Characteristic
        var declaration: UInt16
        var value: UInt16
        /// Of the Client Characteristic Configuration, where there is one.
        var configuration: UInt16?
    }

    private(set) var services: [Service] = []
    private(set) var entries: [Entry] = []

    init(_ database: GATTDatabase) {
        if !takeHandles(of: database) { number(database) }
    }

    /// Takes the handles that the central reports. False where it reports none, or such as no peripheral can have.
    private mutating func takeHandles(of database: GATTDatabase) -> Bool {
        for characteristic in database.characteristics {
            guard let handles = characteristic.handles, take(characteristic, handles) else {
                (services, entries) = ([], [])
                return false
            }
        }
        return true
    }

    /// Handles ascend from one attribute to the next (Core Specification, Vol 3, Part G, 2.5.1); false where they do not.
    private mutating func take(_ characteristic: Characteristic, _ handles: Characteristic.Handles) -> Bool {
        var last = services.last?.last ?? 0
        if services.last?.first != handles.service {
            guard handles.service > last else { return false }
            services.append(Service(uuid: characteristic.service, first: handles.service, last: handles.service))
            last = handles.service
        }
        for handle in [handles.declaration, handles.value, handles.clientConfiguration].compactMap({ $0 }) {
            guard handle > last else { return false }
            last = handle
        }
        services[services.count - 1].last = last
        entries.append(
            Entry(
                characteristic: characteristic, declaration: handles.declaration, value: handles.value,
                configuration: handles.clientConfiguration))
        return true
    }

    private mutating func number(_ database: GATTDatabase) {
        var next: UInt16 = 1
        for characteristic in database.characteristics {
            // A characteristic takes at most four handles; 0xFFFF is the last one.
            guard next < 0xFFF0 else { return }
            if services.last?.uuid != characteristic.service {
                services.append(Service(uuid: characteristic.service, first: next, last: next))
                next += 1
            }
            var entry = Entry(characteristic: characteristic, declaration: next, value: next + 1)
            next += 2
            if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
                entry.configuration = next
                next += 1
            }
            entries.append(entry)
            services[services.count - 1].last = next - 1
        }
    }

    /// The attribute handles of a characteristic; nil where the peripheral has none of that UUID.
    subscript(uuid: BluetoothUUID) -> Entry? { entries.first { $0.characteristic.uuid == uuid } }

    /// One message of the Attribute Protocol and its direction.
    struct Message {
        var isReceived: Bool
        var bytes: [UInt8]
    }

    /// The messages by which a host learns all of this (Core Specification, Vol 3, Part G, 4.4, 4.6 and 4.7).
    var discovery: [Message] {
        let mtu = Self.littleEndian(UInt16(Self.maximumMessageLength))
        var messages = [Message(isReceived: false, bytes: [0x02] + mtu), Message(isReceived: true, bytes: [0x03] + mtu)]
        // Read By Group Type: primary services.
        let groups = services.map { Self.littleEndian($0.first) + Self.littleEndian($0.last) + Self.bytes($0.uuid) }
        Self.ask(0x10, type: 0x2800, from: 1, to: 0xFFFF, groups, ends: services.map(\.last), into: &messages)
        for service in services {
            let own = entries.filter { (service.first...service.last).contains($0.declaration) }
            // Read By Type: declarations of characteristics.
            let declarations = own.map { entry in
                Self.littleEndian(entry.declaration) + [entry.characteristic.properties.rawValue]
                    + Self.littleEndian(entry.value) + Self.bytes(entry.characteristic.uuid)
            }
            Self.ask(
                0x08, type: 0x2803, from: service.first, to: service.last, declarations, ends: own.map(\.declaration),
                into: &messages)
            // Find Information: the descriptors between one characteristic and the next.
            for configuration in own.compactMap(\.configuration) {
                let handle = Self.littleEndian(configuration)
                messages.append(Message(isReceived: false, bytes: [0x04] + handle + handle))
                messages.append(Message(isReceived: true, bytes: [0x05, 1] + handle + [0x02, 0x29]))
            }
        }
        return messages
    }

    /// Asks again and again, from after what the last answer named, until the peripheral has no more.
    ///
    /// - Parameters:
    ///   - request: the opcode; that of the answer is one more.
    ///   - items: the data of each attribute; those of one answer have the same length.
    ///   - ends: the last handle that each item covers.
    private static func ask(
        _ request: UInt8, type: UInt16, from first: UInt16, to last: UInt16, _ items: [[UInt8]], ends: [UInt16],
        into messages: inout [Message]
    ) {
        var next = first
        var index = 0
        while true {
            messages.append(
                Message(
                    isReceived: false, bytes: [request] + littleEndian(next) + littleEndian(last) + littleEndian(type)))
            guard index < items.count else {
                // Error Response: attribute not found.
                messages.append(Message(isReceived: true, bytes: [0x01, request] + littleEndian(next) + [0x0A]))
                return
            }
            let length = items[index].count
            var answer = [request + 1, UInt8(length)]
            while index < items.count, items[index].count == length, answer.count + length <= maximumMessageLength {
                answer += items[index]
                next = ends[index] &+ 1
                index += 1
            }
            messages.append(Message(isReceived: true, bytes: answer))
            // 0xFFFF is the last handle that there is: 0 comes after it.
            if next > last || next == 0 { return }
        }
    }

    static func littleEndian(_ value: UInt16) -> [UInt8] { [UInt8](littleEndian: value) }

    /// Two bytes where the UUID has a short form, else sixteen.
    private static func bytes(_ uuid: BluetoothUUID) -> [UInt8] {
        uuid.short16.map(littleEndian) ?? uuid.littleEndianBytes
    }
}
