import Bluetooth

/// Why bytes are no packet of the management interface.
package enum ManagementPacketError: Error, Hashable, Sendable {
    /// The packet ends before a field does.
    case truncated
    /// The header promises another number of parameter bytes than there are.
    case wrongLength(announced: Int, actual: Int)
    /// A field has a value that the interface does not define.
    case invalidField(String)
}

extension ManagementPacketError: CustomStringConvertible {
    /// What is wrong with the packet.
    package var description: String {
        switch self {
        case .truncated: "the packet is too short"
        case .wrongLength(let announced, let actual): "the packet has \(actual) bytes of parameters instead of \(announced)"
        case .invalidField(let field): "the field '\(field)' has an undefined value"
        }
    }
}

/// Takes the fields of one packet.
typealias ManagementPacketReader = ByteReader<ManagementPacketError>

extension ByteReader<ManagementPacketError> {
    init(_ packet: some Sequence<UInt8>) { self.init(Array(packet), truncated: .truncated) }

    /// The next controller index.
    mutating func controllerIndex() throws(ManagementPacketError) -> ControllerIndex {
        ControllerIndex(rawValue: try integer())
    }

    /// The next device address.
    mutating func address() throws(ManagementPacketError) -> UInt64 {
        UInt64(try integer(UInt32.self)) | UInt64(try integer(UInt16.self)) << 32
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
    /// Appends a device address with its type.
    mutating func append(_ identifier: PeripheralIdentifier) {
        append(contentsOf: [UInt8](littleEndian: identifier.address).prefix(6))
        switch identifier.addressType {
        case .classic: append(0)
        case .public: append(1)
        case .random: append(2)
        }
    }
}
