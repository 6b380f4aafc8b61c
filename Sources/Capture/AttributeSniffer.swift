import Bluetooth

/// An HCI packet of a capture.
struct HCIPacket {
    enum Kind {
        case data
        case event
    }

    var kind: Kind
    /// The adapter, where the capture has several.
    var adapter: UInt16
    /// True from controller to host.
    var isReceived: Bool
    var bytes: ArraySlice<UInt8>
}

/// Follows the Attribute Protocol in captured HCI packets: which handle has which UUID, and what was notified or read, for
/// each peripheral by itself. Bytes of a classic serial port count as notifications of ``BluetoothUUID/serialPort``.
///
/// Any bytes are accepted: what makes no sense is skipped, since a capture may begin or end anywhere.
struct AttributeSniffer {
    struct Notification {
        var microseconds: Int64
        var characteristic: BluetoothUUID
        var value: [UInt8]
        /// True for the answer to a read.
        var isRead = false
    }

    /// What one peripheral sent: over all of its connections where the capture names it, else over one.
    struct Peer {
        /// Nil where the capture began later than the connection.
        var identifier: PeripheralIdentifier?
        /// The handle of the (latest) connection.
        var connection: UInt16
        /// How many of its connections began in the capture.
        fileprivate(set) var linkCount = 0
        fileprivate(set) var unmappedCount = 0
        fileprivate(set) var unmappedHandles: [UInt16] = []
        /// What discoveries found.
        fileprivate var mapped: [UInt16: BluetoothUUID] = [:]

        /// The characteristics that discoveries found, in the order of their handles.
        var discovered: [BluetoothUUID] { mapped.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// In the order of their first packet.
    private(set) var peers: [Peer] = []
    /// What the latest packet brought, with the index in ``peers`` of who sent it.
    private(set) var notifications: [(peer: Int, notification: Notification)] = []

    /// A connection of an adapter.
    private struct Connection: Hashable {
        var adapter: UInt16
        var handle: UInt16
    }

    /// One direction of one connection.
    private struct Path: Hashable {
        var connection: Connection
        var isReceived: Bool
    }

    /// Whose connection it is at this point of the capture: an index in ``peers``.
    private var open: [Connection: Int] = [:]
    /// L2CAP frames that are not complete yet; the first four bytes are length and channel.
    private var fragments: [Path: [UInt8]] = [:]
    /// Connections in which a discovery of characteristics waits for its answer.
    private var discovering: Set<Path> = []
    /// The handles that reads ask for, until they are answered.
    private var reading: [Path: UInt16] = [:]
    /// Serial ports of connections that have other channels than that of the Attribute Protocol.
    private var serialPorts: [Connection: SerialPortSniffer] = [:]
    /// What the last discovery of any peripheral found: hosts do not discover again when they know a headset, and another one
    /// of the model has the same handles.
    private var lastMapped: [UInt16: BluetoothUUID] = [:]
    private let given: [UInt16: BluetoothUUID]

    init(characteristics: [UInt16: BluetoothUUID]) {
        given = characteristics
    }

    /// Takes the next packet; nil for a record that holds none of use.
    mutating func take(_ packet: HCIPacket?, microseconds: Int64) {
        notifications.removeAll(keepingCapacity: true)
        switch packet?.kind {
        case .data?: if let packet { takeData(packet, microseconds: microseconds) }
        case .event?: if let packet { takeEvent(packet) }
        case nil: break
        }
    }

    /// Beginnings and ends of connections; a handle may be used for another one after its end.
    private mutating func takeEvent(_ packet: HCIPacket) {
        let bytes = Array(packet.bytes)
        guard bytes.count >= 5 else { return }
        switch bytes[0] {
        case 0x05:  // Disconnection Complete (Core Specification, Vol 4, Part E, 7.7.5)
            close(Connection(adapter: packet.adapter, handle: bytes.uint16(littleEndianAt: 3) & 0x0FFF))
        case 0x03 where bytes.count >= 13 && bytes[2] == 0 && bytes[11] == 1:
            // Connection Complete (7.7.3) of a link for data: handle, the peer's address.
            let connection = Connection(adapter: packet.adapter, handle: bytes.uint16(littleEndianAt: 3) & 0x0FFF)
            begin(connection, with: PeripheralIdentifier(address: bytes[5..<11].littleEndianInteger, type: .classic))
        case 0x3E where [0x01, 0x0A, 0x29].contains(bytes[2]) && bytes.count >= 14 && bytes[3] == 0:
            // LE Connection Complete and its enhanced versions (7.7.65.1, .10, .41): handle, role, the peer's address.
            let connection = Connection(adapter: packet.adapter, handle: bytes.uint16(littleEndianAt: 4) & 0x0FFF)
            let type: PeripheralIdentifier.AddressType = bytes[7] & 1 == 0 ? .public : .random
            begin(connection, with: PeripheralIdentifier(address: bytes[8..<14].littleEndianInteger, type: type))
        default: break
        }
    }

    private mutating func begin(_ connection: Connection, with identifier: PeripheralIdentifier) {
        close(connection)
        if let known = peers.firstIndex(where: { $0.identifier == identifier }) {
            peers[known].connection = connection.handle
            open[connection] = known
        } else {
            open[connection] = peers.count
            peers.append(Peer(identifier: identifier, connection: connection.handle))
        }
        if let index = open[connection] { peers[index].linkCount += 1 }
    }

    private mutating func close(_ connection: Connection) {
        for isReceived in [false, true] {
            let path = Path(connection: connection, isReceived: isReceived)
            fragments[path] = nil
            reading[path] = nil
            discovering.remove(path)
        }
        serialPorts[connection] = nil
        open[connection] = nil
    }

    /// The peripheral at the other end of a connection; one without a name where its beginning was not captured.
    private mutating func peer(of connection: Connection) -> Int {
        if let known = open[connection] { return known }
        open[connection] = peers.count
        peers.append(Peer(identifier: nil, connection: connection.handle))
        return peers.count - 1
    }

    /// ACL data (Vol 4, Part E, 5.4.2): handle and flags, length, and a frame of L2CAP or a part of one.
    private mutating func takeData(_ packet: HCIPacket, microseconds: Int64) {
        let bytes = Array(packet.bytes)
        guard bytes.count >= 4 else { return }
        let field = bytes.uint16(littleEndianAt: 0)
        let path = Path(
            connection: Connection(adapter: packet.adapter, handle: field & 0x0FFF), isReceived: packet.isReceived)
        let data = bytes[4...].prefix(Int(bytes.uint16(littleEndianAt: 2)))
        var frame: [UInt8]
        if field >> 12 & 0b11 == 0b01 {
            guard let begun = fragments[path] else { return }
            frame = begun + data
        } else {
            frame = Array(data)
        }
        guard frame.count >= 4 else {
            fragments[path] = frame
            return
        }
        let length = Int(frame.uint16(littleEndianAt: 0)) + 4
        guard frame.count >= length else {
            fragments[path] = frame
            return
        }
        fragments[path] = nil
        frame.removeSubrange(length...)
        // Channel 4 carries the Attribute Protocol (Vol 3, Part A, 2.1).
        let channel = frame.uint16(littleEndianAt: 2)
        if channel == 4 { return takeAttributeMessage(Array(frame[4...]), path, microseconds: microseconds) }
        let value = serialPorts[path.connection, default: SerialPortSniffer()]
            .take(frame[4...], channel: channel, isReceived: path.isReceived)
        guard let value else { return }
        let peer = peer(of: path.connection)
        notifications.append((peer, Notification(microseconds: microseconds, characteristic: .serialPort, value: value)))
    }

    private mutating func takeAttributeMessage(_ bytes: [UInt8], _ path: Path, microseconds: Int64) {
        guard let opcode = bytes.first else { return }
        switch opcode {
        case 0x08:
            // Read By Type Request; 0x2803 is the declaration of a characteristic.
            var answer = path
            answer.isReceived.toggle()
            discovering.remove(answer)
            if bytes.count == 7, bytes.uint16(littleEndianAt: 5) == 0x2803 { discovering.insert(answer) }
        case 0x09 where discovering.contains(path): takeDeclarations(bytes, path)
        case 0x0A where !path.isReceived && bytes.count == 3: reading[path] = bytes.uint16(littleEndianAt: 1)
        case 0x0B where path.isReceived:
            let question = Path(connection: path.connection, isReceived: false)
            guard let handle = reading.removeValue(forKey: question) else { return }
            take(handle, Array(bytes[1...]), path, microseconds: microseconds, isRead: true)
        case 0x1B, 0x1D:
            guard path.isReceived, bytes.count >= 3 else { return }
            take(bytes.uint16(littleEndianAt: 1), Array(bytes[3...]), path, microseconds: microseconds)
        case 0x23:
            // Multiple Handle Value Notification: handle, length, value, again and again.
            var position = 1
            while path.isReceived, bytes.count - position >= 4 {
                let length = Int(bytes.uint16(littleEndianAt: position + 2))
                let value = bytes[(position + 4)...].prefix(length)
                take(bytes.uint16(littleEndianAt: position), Array(value), path, microseconds: microseconds)
                position += 4 + length
            }
        default: break
        }
    }

    /// Read By Type Response: entries of declaration handle, properties, value handle and UUID.
    private mutating func takeDeclarations(_ bytes: [UInt8], _ path: Path) {
        discovering.remove(path)
        guard bytes.count >= 2 else { return }
        let length = Int(bytes[1])
        guard length == 7 || length == 21 else { return }
        let peer = peer(of: path.connection)
        var position = 2
        while bytes.count - position >= length {
            let handle = bytes.uint16(littleEndianAt: position + 3)
            if let uuid = BluetoothUUID(littleEndianBytes: bytes[(position + 5)..<(position + length)]) {
                peers[peer].mapped[handle] = uuid
                lastMapped[handle] = uuid
            }
            position += length
        }
    }

    private mutating func take(
        _ handle: UInt16, _ value: [UInt8], _ path: Path, microseconds: Int64, isRead: Bool = false
    ) {
        let peer = peer(of: path.connection)
        // A peripheral that was discovered has no handle of another one's.
        let elsewhere = peers[peer].mapped.isEmpty ? lastMapped[handle] : nil
        guard let uuid = peers[peer].mapped[handle] ?? given[handle] ?? elsewhere else {
            if isRead { return }
            peers[peer].unmappedCount += 1
            if !peers[peer].unmappedHandles.contains(handle) { peers[peer].unmappedHandles.append(handle) }
            return
        }
        notifications.append(
            (peer, Notification(microseconds: microseconds, characteristic: uuid, value: value, isRead: isRead)))
    }
}
