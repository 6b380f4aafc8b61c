import Bluetooth

/// Writes one value with response; what does not fit into one request is prepared in parts and then executed (Core
/// Specification, Vol 3, Part G, 4.9.3 and 4.9.4).
struct ValueWrite: GATTProcedure {
    let handle: AttributeHandle
    let value: [UInt8]
    /// How much the server has prepared, in bytes.
    private var prepared = 0
    /// How long the part is that the server was last asked to prepare.
    private var partLength = 0
    /// Why what was prepared is being dropped.
    private var failure: GATTFailure?

    init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }

    mutating func begin(mtu: AttributeMTU) -> GATTStep {
        if value.count <= mtu.writeLimit { return .request(.writeRequest(handle, value)) }
        guard value.count <= AttributeMTU.longestValue else {
            return .failed(.refused(.invalidAttributeValueLength, handle))
        }
        return prepareNext(mtu)
    }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        switch response {
        case .writeResponse: return .done(.written)
        case .executeWriteResponse: return failure.map { .failed($0) } ?? .done(.written)
        case .prepareWriteResponse(let echoed, let offset, let part):
            // The server repeats what it has understood (4.9.5); something else must not be written.
            let asked = value[prepared..<prepared + partLength]
            guard echoed == handle, Int(offset) == prepared, part.elementsEqual(asked) else {
                return drop(because: .senselessResponse)
            }
            prepared += partLength
            return prepared < value.count ? prepareNext(mtu) : .request(.executeWriteRequest(writes: true))
        default: return .failed(.senselessResponse)
        }
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep {
        if let failure { return .failed(failure) }
        // An Execute that is refused leaves nothing prepared (Vol 3, Part F, 3.4.6.3).
        let isPreparing = prepared > 0 && prepared < value.count
        return isPreparing ? drop(because: .refused(error, handle)) : .failed(.refused(error, handle))
    }

    private mutating func prepareNext(_ mtu: AttributeMTU) -> GATTStep {
        partLength = min(mtu.prepareLimit, value.count - prepared)
        let part = Array(value[prepared..<prepared + partLength])
        return .request(.prepareWriteRequest(handle, offset: UInt16(prepared), part))
    }

    private mutating func drop(because failure: GATTFailure) -> GATTStep {
        self.failure = failure
        return .request(.executeWriteRequest(writes: false))
    }
}
