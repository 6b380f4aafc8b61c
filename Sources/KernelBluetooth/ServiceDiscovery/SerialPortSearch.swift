import Bluetooth

/// Asks a peripheral on which RFCOMM channel its serial port is. Pure: packets in, packets out.
///
/// One Service Search Attribute transaction of the Service Discovery Protocol (Core Specification, Vol 3, Part B, 4.7) for the
/// service class 0x1101 and its Protocol Descriptor List. The answer may come in parts; each is asked for with the
/// continuation state of the one before.
struct SerialPortSearch: Hashable, Sendable {
    /// What is to be done next.
    enum Step: Hashable, Sendable {
        /// Send this packet, and wait for the next.
        case send([UInt8])
        /// The serial port is on this channel, 1 ... 30.
        case found(channel: UInt8)
    }

    /// The longest list that is read. A record is some 100 bytes; 16 KiB are far more services than any peripheral has.
    static let maximumBytes = 16_384
    /// How many parts it may come in.
    static let maximumParts = 64

    private enum PacketIdentifier {
        static let errorResponse: UInt8 = 0x01
        static let serviceSearchAttributeRequest: UInt8 = 0x06
        static let serviceSearchAttributeResponse: UInt8 = 0x07
    }

    private var transaction: UInt16 = 0
    private var parts = 0
    private var lists: [UInt8] = []

    /// The first packet.
    mutating func begin() -> [UInt8] { request(continuation: []) }

    /// Takes a packet of the peripheral.
    ///
    /// - Throws: ``ServiceDiscoveryError``; the search is over then.
    mutating func received(_ packet: some Collection<UInt8>) throws(ServiceDiscoveryError) -> Step {
        var reader = ServiceDiscoveryReader(packet)
        let identifier = try reader.integer(UInt8.self)
        guard try reader.integer(bigEndian: UInt16.self) == transaction else { throw .wrongTransaction }
        guard Int(try reader.integer(bigEndian: UInt16.self)) == reader.remaining else { throw .truncated }
        switch identifier {
        case PacketIdentifier.errorResponse: throw .refused(code: try reader.integer(bigEndian: UInt16.self))
        case PacketIdentifier.serviceSearchAttributeResponse: break
        default: throw .malformed
        }
        lists += try reader.slice(Int(try reader.integer(bigEndian: UInt16.self)))
        let continuation = try reader.slice(Int(try reader.integer(UInt8.self)))
        guard !continuation.isEmpty else { return .found(channel: try Self.channel(in: try DataElement(lists))) }
        parts += 1
        guard parts < Self.maximumParts, lists.count <= Self.maximumBytes else { throw .endless }
        return .send(request(continuation: Array(continuation)))
    }

    private mutating func request(continuation: [UInt8]) -> [UInt8] {
        transaction &+= 1
        let parameters: [UInt8] =
            [
                // ServiceSearchPattern: a sequence of 3 bytes, the UUID 0x1101.
                0x35, 0x03, 0x19, 0x11, 0x01,
                // MaximumAttributeByteCount: 1,024, which most peripherals cut down to what fits their packets.
                0x04, 0x00,
                // AttributeIDList: a sequence of 3 bytes, the identifier 0x0004.
                0x35, 0x03, 0x09, 0x00, 0x04,
                // ContinuationState.
                UInt8(continuation.count),
            ] + continuation
        let header: [UInt8] = [
            PacketIdentifier.serviceSearchAttributeRequest, UInt8(transaction >> 8), UInt8(transaction & 0xFF),
            UInt8(parameters.count >> 8), UInt8(parameters.count & 0xFF),
        ]
        return header + parameters
    }

    // MARK: The answer

    /// ProtocolDescriptorList (Vol 3, Part B, 5.1.5).
    private static let protocolDescriptorList: UInt64 = 0x0004
    /// RFCOMM (Assigned Numbers, 3.1).
    private static let rfcomm = BluetoothUUID(UInt16(0x0003))
    /// Server channels (RFCOMM 1.2, 5.4).
    private static let channels: ClosedRange<UInt64> = 1...30

    /// The channel of the first record that names one: a sequence of records, each a sequence of identifiers and values.
    static func channel(in lists: DataElement) throws(ServiceDiscoveryError) -> UInt8 {
        guard case .sequence(let records) = lists else { throw .malformed }
        for record in records {
            guard let attributes = record.elements else { continue }
            for offset in stride(from: 0, to: attributes.count - 1, by: 2)
            where attributes[offset] == .unsignedInteger(protocolDescriptorList) {
                if let channel = channel(inProtocols: attributes[offset + 1]) { return channel }
            }
        }
        throw .noSuchService
    }

    /// A list of protocols, lowest first, each with its parameters; or an alternative of such lists.
    private static func channel(inProtocols value: DataElement) -> UInt8? {
        if case .alternative(let stacks) = value {
            for stack in stacks { if let channel = channel(inProtocols: stack) { return channel } }
            return nil
        }
        for descriptor in value.elements ?? [] {
            guard let parts = descriptor.elements, parts.count >= 2, parts[0] == .uuid(rfcomm),
                case .unsignedInteger(let number) = parts[1], channels.contains(number)
            else { continue }
            return UInt8(number)
        }
        return nil
    }
}
