import Bluetooth

/// Why bytes are no packet of the management interface.
public enum ManagementPacketError: Error, Hashable, Sendable {
    /// The packet ends before a field does.
    case truncated
    /// The header promises another number of parameter bytes than there are.
    case wrongLength(announced: Int, actual: Int)
    /// A field has a value that the interface does not define.
    case invalidField(String)
}

extension ManagementPacketError: CustomStringConvertible {
    /// What is wrong with the packet.
    public var description: String {
        switch self {
        case .truncated: "the packet is too short"
        case .wrongLength(let announced, let actual): "the packet has \(actual) bytes of parameters instead of \(announced)"
        case .invalidField(let field): "the field '\(field)' has an undefined value"
        }
    }
}

/// Takes little-endian fields from the front of a packet, whose lengths may lie.
struct ManagementPacketReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = Array(bytes)[...]
    }

    var remaining: Int { rest.count }

    /// The next `count` bytes.
    mutating func bytes(_ count: Int) throws(ManagementPacketError) -> [UInt8] {
        guard count <= rest.count else { throw .truncated }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// All bytes that are left.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    /// The next integer.
    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type = Value.self
    ) throws(ManagementPacketError) -> Value {
        try bytes(Value.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Value($1) }
    }

    /// The next controller index.
    mutating func controllerIndex() throws(ManagementPacketError) -> ControllerIndex {
        ControllerIndex(rawValue: try integer())
    }

    /// The next device address.
    mutating func address() throws(ManagementPacketError) -> UInt64 {
        try bytes(6).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// The next device address with its type.
    mutating func identifier() throws(ManagementPacketError) -> PeripheralIdentifier {
        let address = try address()
        return PeripheralIdentifier(address: address, type: try addressType())
    }

    private mutating func addressType() throws(ManagementPacketError) -> PeripheralIdentifier.AddressType {
        switch try integer(UInt8.self) {
        case 0: .classic
        case 1: .public
        case 2: .random
        default: throw .invalidField("address type")
        }
    }

    /// The next text: a field of fixed width, ended by a zero byte.
    mutating func text(width: Int) throws(ManagementPacketError) -> String {
        String(decoding: try bytes(width).prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends an integer, least significant byte first.
    mutating func append(littleEndian value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends a device address with its type.
    mutating func append(_ identifier: PeripheralIdentifier) {
        for shift in stride(from: 0, to: 48, by: 8) {
            append(UInt8(truncatingIfNeeded: identifier.address >> shift))
        }
        switch identifier.addressType {
        case .classic: append(0)
        case .public: append(1)
        case .random: append(2)
        }
    }
}
