package import Bluetooth

/// The type of an attribute as it stands in a packet: a UUID in its short or its long form (Core Specification, Vol 3, Part F,
/// 3.2.1). Both forms of one UUID mean the same, but are different bytes.
package enum AttributeType: Hashable, Sendable {
    /// 16 bits, 2 bytes.
    case short(UInt16)
    /// 128 bits, 16 bytes.
    case long(BluetoothUUID)

    /// The shortest form of a UUID. 32-bit UUIDs have no form of their own in this protocol and are sent long.
    package init(_ uuid: BluetoothUUID) {
        self = uuid.short16.map { .short($0) } ?? .long(uuid)
    }

    /// Creates a type from 2 or 16 bytes; nil for other lengths.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == 2 || bytes.count == 16, let uuid = BluetoothUUID(littleEndianBytes: bytes) else { return nil }
        if bytes.count == 2, let short = uuid.short16 { self = .short(short) } else { self = .long(uuid) }
    }

    /// The UUID.
    package var uuid: BluetoothUUID {
        switch self {
        case .short(let short): BluetoothUUID(short)
        case .long(let uuid): uuid
        }
    }

    /// The bytes of a packet, least significant first.
    package var bytes: [UInt8] {
        switch self {
        case .short(let short): [UInt8](littleEndian: short)
        case .long(let uuid): uuid.littleEndianBytes
        }
    }

    /// How many bytes it has in a packet: 2 or 16.
    package var byteCount: Int {
        switch self {
        case .short: 2
        case .long: 16
        }
    }

    /// Primary service declaration (Vol 3, Part G, 3.1).
    package static let primaryService = AttributeType.short(0x2800)
    /// Secondary service declaration (Part G, 3.1).
    package static let secondaryService = AttributeType.short(0x2801)
    /// Include declaration (Part G, 3.2).
    package static let include = AttributeType.short(0x2802)
    /// Characteristic declaration (Part G, 3.3.1).
    package static let characteristic = AttributeType.short(0x2803)
    /// Client Characteristic Configuration descriptor (Part G, 3.3.3.3).
    package static let clientCharacteristicConfiguration = AttributeType.short(0x2902)
    /// Database Hash characteristic (Part G, 7.3).
    package static let databaseHash = AttributeType.short(0x2B2A)
}

extension AttributeType: CustomStringConvertible {
    package var description: String { uuid.description }
}
