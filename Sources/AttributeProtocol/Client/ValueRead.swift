import Bluetooth

/// Reads one value, with Read Blob Requests where it fills the first response (Core Specification, Vol 3, Part G, 4.8.1,
/// 4.8.3).
struct ValueRead: GATTProcedure {
    let handle: AttributeHandle
    private var value: [UInt8] = []

    init(handle: AttributeHandle) {
        self.handle = handle
    }

    mutating func begin(mtu: AttributeMTU) -> GATTStep { .request(.readRequest(handle)) }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        let part: [UInt8]
        switch response {
        case .readResponse(let first): part = first
        case .readBlobResponse(let next): part = next
        default: return .failed(.senselessResponse)
        }
        value += part
        // A part that does not fill its response is the last. A server that goes on for ever is not followed.
        guard part.count >= mtu.readLimit, value.count < AttributeMTU.longestValue else {
            return .done(.value(Array(value.prefix(AttributeMTU.longestValue))))
        }
        return .request(.readBlobRequest(handle, offset: UInt16(value.count)))
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep {
        // The value filled its response exactly, and there is no more of it: servers say so in several ways, the last one where
        // they have no Read Blob at all (Vol 3, Part F, 3.4.4.5).
        let isEnd = error == .attributeNotLong || error == .invalidOffset || error == .requestNotSupported
        return !value.isEmpty && isEnd ? .done(.value(value)) : .failed(.refused(error, handle))
    }
}

/// Reads the attributes of one type (Part G, 4.8.2).
struct TypeRead: GATTProcedure {
    let range: HandleRange
    let type: AttributeType

    mutating func begin(mtu: AttributeMTU) -> GATTStep { .request(.readByTypeRequest(range, type: type)) }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        guard case .readByTypeResponse(let values) = response else { return .failed(.senselessResponse) }
        return .done(.values(values))
    }
}
