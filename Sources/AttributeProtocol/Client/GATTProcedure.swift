package import Bluetooth

/// What a ``GATTClient`` can be asked to do: one procedure of the Generic Attribute Profile, however many requests it takes.
package enum GATTRequest: Hashable, Sendable {
    /// Agrees on the size of packets; at most once on a link (Core Specification, Vol 3, Part F, 3.4.2.1).
    case exchangeMTU
    /// Discovers services, included services, characteristics and descriptors (Vol 3, Part G, 4.4 to 4.7).
    case discover(DescriptorSearch)
    /// Finds out whether a map that is known from an earlier link still holds, in one round trip.
    case validate(HandleMap)
    /// Reads a value, however long it is (Part G, 4.8.1 and 4.8.3).
    case read(AttributeHandle)
    /// Reads the values of all attributes of a type, as many as fit into one response (Part G, 4.8.2).
    case readByType(HandleRange, AttributeType)
    /// Writes a value with response, in parts where it is long (Part G, 4.9.3 and 4.9.4).
    case write(AttributeHandle, [UInt8])
}

/// Which descriptors a discovery looks for.
package enum DescriptorSearch: Hashable, Sendable {
    /// Client Characteristic Configurations only, which is what a central needs. All of them are read by their type at once,
    /// which any client may do (Vol 3, Part G, 3.3.3.3), instead of one search for each characteristic.
    case configurations
    /// All, with one search or more for each characteristic that has any (Part G, 4.7.1).
    case all
}

/// What a procedure led to.
package enum GATTOutcome: Hashable, Sendable {
    /// The size that both sides use from now on.
    case mtu(AttributeMTU)
    /// What was discovered.
    case map(HandleMap)
    /// Whether the known map holds.
    case validity(Bool)
    /// A value.
    case value([UInt8])
    /// Values of attributes of one type.
    case values([AttributeValue])
    /// The server has the value.
    case written
}

/// Why a procedure failed.
package enum GATTFailure: Error, Hashable, Sendable {
    /// The server refused; the handle is the one that it complains of.
    case refused(ATTError, AttributeHandle)
    /// The server's answer makes no sense. The bearer goes on.
    case senselessResponse
    /// The server has not answered for 30 s. The bearer is dead: nothing may be sent on it any more (Part F, 3.3.3).
    case timedOut
}

/// One procedure under way: a request at a time, until it is done.
protocol GATTProcedure: Sendable {
    /// The first request.
    mutating func begin(mtu: AttributeMTU) -> GATTStep
    /// What follows from a response that belongs to the latest request.
    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep
    /// What follows from an Error Response to the latest request.
    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep
}

/// What a procedure does next.
enum GATTStep: Hashable {
    case request(AttributePDU)
    case done(GATTOutcome)
    case failed(GATTFailure)
}

extension GATTProcedure {
    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep {
        .failed(.refused(error, handle))
    }
}

extension GATTRequest {
    /// The procedure that does it.
    ///
    /// - Parameter receiveLimit: the largest packet that this side can receive.
    func procedure(receiveLimit: AttributeMTU) -> any GATTProcedure {
        switch self {
        case .exchangeMTU: MTUExchange(receiveLimit: receiveLimit)
        case .discover(let search): DatabaseDiscovery(search: search)
        case .validate(let map): MapValidation(map: map)
        case .read(let handle): ValueRead(handle: handle)
        case .readByType(let range, let type): TypeRead(range: range, type: type)
        case .write(let handle, let value): ValueWrite(handle: handle, value: value)
        }
    }
}
