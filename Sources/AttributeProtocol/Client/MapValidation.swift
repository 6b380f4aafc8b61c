import Bluetooth

/// Finds out in one round trip whether a map of an earlier link still holds.
///
/// - Where the map has a Database Hash: the hash is read by its type (Core Specification, Vol 3, Part G, 2.5.2.1). It covers
///   every declaration, so that equal means equal.
/// - Where it has none: the declaration of the last characteristic, and what follows it, is read by its type. The answer must
///   be that one declaration and no other, with the same handle, value handle, properties and UUID: what was put in, taken
///   out or made longer anywhere before it has moved it. Two changes are not seen. What was added behind it with a UUID of
///   the other length is left out of the answer by the protocol; the handles that are known are right all the same. And a
///   change that leaves the last declaration where it is shows in the first request that is refused.
struct MapValidation: GATTProcedure {
    let map: HandleMap

    mutating func begin(mtu: AttributeMTU) -> GATTStep {
        if map.databaseHash != nil { return .request(.readByTypeRequest(.all, type: .databaseHash)) }
        guard let last = map.lastCharacteristic else { return .done(.validity(false)) }
        return .request(.readByTypeRequest(HandleRange(last.declaration, .last), type: .characteristic))
    }

    mutating func answered(_ response: AttributePDU, mtu: AttributeMTU) -> GATTStep {
        guard case .readByTypeResponse(let values) = response else { return .done(.validity(false)) }
        if let hash = map.databaseHash { return .done(.validity(values.first?.value == hash)) }
        guard let last = map.lastCharacteristic, values.count == 1 else { return .done(.validity(false)) }
        return .done(.validity(values[0] == AttributeValue(last.declaration, last.declarationValue)))
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: AttributeMTU) -> GATTStep {
        .done(.validity(false))
    }
}
