import Bluetooth

/// Writes btsnoop files packet by packet.
struct SnoopFile {
    private(set) var bytes: [UInt8]
    private let datalink: UInt32
    /// The handle of the connection that the next packets belong to.
    var connection: UInt8 = 0x40

    init(datalink: UInt32) {
        self.datalink = datalink
        bytes = Array("btsnoop".utf8) + [0]
        append(bigEndian: 1, width: 4)
        append(bigEndian: UInt64(datalink), width: 4)
    }

    private mutating func append(bigEndian value: UInt64, width: Int) {
        for shift in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(shift)))) }
    }

    private mutating func record(_ data: [UInt8], isReceived: Bool, isEvent: Bool = false, at microseconds: UInt64) {
        let packet = datalink == 1002 ? [isEvent ? 4 : 2] + data : data
        append(bigEndian: UInt64(packet.count), width: 4)
        append(bigEndian: UInt64(packet.count), width: 4)
        let flags: UInt64 =
            datalink == 2001 ? (isEvent ? 3 : isReceived ? 5 : 4) : (isReceived ? 1 : 0) | (isEvent ? 2 : 0)
        append(bigEndian: flags, width: 4)
        append(bigEndian: 0, width: 4)
        append(bigEndian: 0x00DC_DDB3_0F2F_8000 + microseconds, width: 8)
        bytes += packet
    }

    /// LE Enhanced Connection Complete, or with `isEnhanced` false its first version.
    mutating func connected(_ peer: PeripheralIdentifier, isEnhanced: Bool = true, at microseconds: UInt64 = 0) {
        let address = (0..<6).map { UInt8(truncatingIfNeeded: peer.address >> (8 * $0)) }
        let rest = [UInt8](repeating: 0, count: isEnhanced ? 19 : 7)
        let body = [isEnhanced ? 0x0A : 0x01, 0, connection, 0, 0, peer.addressType == .random ? 1 : 0] + address + rest
        record([0x3E, UInt8(body.count)] + body, isReceived: true, isEvent: true, at: microseconds)
    }

    mutating func disconnected(at microseconds: UInt64 = 0) {
        record([0x05, 4, 0, connection, 0, 0x13], isReceived: true, isEvent: true, at: microseconds)
    }

    /// One message of the Attribute Protocol, in ACL packets of at most `fragment` bytes.
    mutating func attribute(_ message: [UInt8], isReceived: Bool, at microseconds: UInt64, fragment: Int = 251) {
        var rest = ([UInt8(message.count & 0xFF), UInt8(message.count >> 8), 4, 0] + message)[...]
        var boundary: UInt8 = isReceived ? 0b10 : 0b00
        while !rest.isEmpty {
            let part = rest.prefix(fragment)
            rest = rest.dropFirst(fragment)
            record(
                [connection, boundary << 4, UInt8(part.count & 0xFF), UInt8(part.count >> 8)] + part, isReceived: isReceived,
                at: microseconds)
            boundary = 0b01
        }
    }

    mutating func notification(handle: UInt16, _ value: [UInt8], at microseconds: UInt64, fragment: Int = 251) {
        attribute(
            [0x1B, UInt8(handle & 0xFF), UInt8(handle >> 8)] + value, isReceived: true, at: microseconds, fragment: fragment)
    }

    mutating func discovery(short: UInt16, handle: UInt8) {
        discovery(uuid: [UInt8(short & 0xFF), UInt8(short >> 8)], handle: handle)
    }

    mutating func discovery(long: BluetoothUUID, handle: UInt8) {
        discovery(uuid: long.littleEndianBytes, handle: handle)
    }

    private mutating func discovery(uuid: [UInt8], handle: UInt8) {
        attribute([0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28], isReceived: false, at: 0)
        attribute([0x09, UInt8(5 + uuid.count), handle - 1, 0, 0x10, handle, 0] + uuid, isReceived: true, at: 0)
    }
}
