import Bluetooth

/// Exchange MTU (Core Specification, Vol 3, Part G, 4.3.1).
struct MTUExchange: GATTProcedure {
    let receiveLimit: AttributeMTU

    mutating func begin(mtu: AttributeMTU) -> GATTStep {
        .request(.exchangeMTURequest(mtu: UInt16(clamping: receiveLimit.rawValue)))
    }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        guard case .exchangeMTUResponse(let theirs) = response else { return .failed(.senselessResponse) }
        return .done(.mtu(receiveLimit.agreed(with: AttributeMTU(theirs))))
    }
}
