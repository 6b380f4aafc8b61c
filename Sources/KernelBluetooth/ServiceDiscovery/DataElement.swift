package import Bluetooth

/// A data element of the Service Discovery Protocol (Core Specification, Vol 3, Part B, 3): a value with its type and size.
package enum DataElement: Hashable, Sendable {
    /// Nothing.
    case null
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    case unsignedInteger(UInt64)
    /// A signed integer of 1, 2, 4 or 8 bytes.
    case signedInteger(Int64)
    /// An integer of 16 bytes, most significant byte first.
    case wideInteger([UInt8])
    /// A UUID, whatever its form.
    case uuid(BluetoothUUID)
    /// A text in an encoding that the record names elsewhere.
    case text([UInt8])
    /// A truth value.
    case boolean(Bool)
    /// Elements that belong together.
    case sequence([DataElement])
    /// Elements of which one is to be chosen.
    case alternative([DataElement])
    /// An address of the web.
    case url([UInt8])

    /// How deeply sequences may be nested: a protocol descriptor list has 4 levels, the answer around it 2 more.
    static let maximumDepth = 10

    /// Reads one element; what follows it is left alone.
    ///
    /// - Throws: ``ServiceDiscoveryError``. No byte sequence does worse.
    package init(_ bytes: some Collection<UInt8>) throws(ServiceDiscoveryError) {
        var reader = ServiceDiscoveryReader(bytes)
        self = try reader.element(depth: 0)
    }

    /// The elements of a sequence or of an alternative; nil for anything else.
    package var elements: [DataElement]? {
        switch self {
        case .sequence(let elements), .alternative(let elements): elements
        default: nil
        }
    }
}

/// Takes fields of the Service Discovery Protocol, most significant byte first, from the front of a packet.
typealias ServiceDiscoveryReader = ByteReader<ServiceDiscoveryError>

extension ByteReader<ServiceDiscoveryError> {
    init(_ bytes: some Collection<UInt8>) {
        self.init(Array(bytes), truncated: .truncated)
    }

    /// The next data element: a byte of type (upper 5 bits) and size index (lower 3 bits), perhaps a size, the value.
    mutating func element(depth: Int) throws(ServiceDiscoveryError) -> DataElement {
        guard depth < DataElement.maximumDepth else { throw .nestedTooDeeply }
        let header = try integer(UInt8.self)
        let (type, sizeIndex) = (header >> 3, header & 7)
        let size: Int
        switch sizeIndex {
        // The null element alone has no value.
        case 0: size = type == 0 ? 0 : 1
        case 1...4: size = 1 << Int(sizeIndex)
        case 5: size = Int(try integer(UInt8.self))
        case 6: size = Int(try integer(bigEndian: UInt16.self))
        default: size = Int(try integer(bigEndian: UInt32.self))
        }
        let value = try slice(size)
        switch (type, sizeIndex) {
        case (0, 0): return .null
        case (1, 0...3): return .unsignedInteger(value.bigEndianInteger)
        case (2, 0...3):
            let shift = 64 - 8 * value.count
            return .signedInteger(Int64(bitPattern: value.bigEndianInteger << UInt64(shift)) >> Int64(shift))
        case (1, 4), (2, 4): return .wideInteger(Array(value))
        case (3, 1), (3, 2), (3, 4):
            guard let uuid = BluetoothUUID(littleEndianBytes: value.reversed()) else { throw .malformed }
            return .uuid(uuid)
        case (4, 5...7): return .text(Array(value))
        case (5, 0): return .boolean(value.first != 0)
        case (6, 5...7): return .sequence(try Self.elements(value, depth: depth + 1))
        case (7, 5...7): return .alternative(try Self.elements(value, depth: depth + 1))
        case (8, 5...7): return .url(Array(value))
        default: throw .malformed
        }
    }

    private static func elements(_ value: ArraySlice<UInt8>, depth: Int) throws(ServiceDiscoveryError) -> [DataElement] {
        var reader = ServiceDiscoveryReader(value)
        var elements: [DataElement] = []
        while reader.remaining > 0 { elements.append(try reader.element(depth: depth)) }
        return elements
    }
}
