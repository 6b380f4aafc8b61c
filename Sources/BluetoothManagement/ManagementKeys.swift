import Bluetooth

/// What a machine can ask of a person, and show to one, during a pairing (Core Specification, Vol 3, Part C, 5.2.2.4).
public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
    /// It shows six digits.
    case displayOnly = 0
    /// It shows six digits and asks whether they are right.
    case displayYesNo = 1
    /// It takes six digits.
    case keyboardOnly = 2
    /// Neither: nobody confirms anything.
    case noInputNoOutput = 3
    /// It shows and takes digits.
    case keyboardDisplay = 4
}

/// Keys as commands and events hold them.
extension ManagementCommand {
    /// Load Long Term Keys: a count, and 36 bytes for each.
    static func encodedLongTermKeys(of bonds: [Bond]) -> [UInt8] {
        let keys = bonds.flatMap { bond in bond.longTermKeys.map { (bond.identity, $0) } }.prefix(maximumLongTermKeys)
        var parameters: [UInt8] = []
        parameters.append(littleEndian: UInt16(keys.count))
        for (identity, key) in keys {
            parameters.append(identity)
            parameters += [key.type, key.isForCentral ? 1 : 0, key.encryptionSize]
            parameters.append(littleEndian: key.encryptedDiversifier)
            parameters.append(littleEndian: key.randomNumber)
            parameters += key.value.bytes
        }
        return parameters
    }

    /// Load Identity Resolving Keys: a count, and 23 bytes for each; so as many fit as there may be Long Term Keys.
    static func encodedIdentityResolvingKeys(of bonds: [Bond]) -> [UInt8] {
        let keys = bonds.compactMap { bond in bond.identityResolvingKey.map { (bond.identity, $0) } }
            .prefix(maximumLongTermKeys)
        var parameters: [UInt8] = []
        parameters.append(littleEndian: UInt16(keys.count))
        for (identity, key) in keys {
            parameters.append(identity)
            parameters += key.bytes
        }
        return parameters
    }
}

extension ManagementPacketReader {
    /// New Long Term Key, without its hint: whose key, and the key.
    mutating func longTermKey() throws(ManagementPacketError) -> (PeripheralIdentifier, LongTermKey) {
        let identity = try identifier()
        let type = try integer(UInt8.self)
        let isForCentral = try integer(UInt8.self) != 0
        let encryptionSize = try integer(UInt8.self)
        let diversifier = try integer(UInt16.self)
        let random = try integer(UInt64.self)
        return (
            identity,
            LongTermKey(
                type: type, isForCentral: isForCentral, encryptionSize: encryptionSize, encryptedDiversifier: diversifier,
                randomNumber: random, value: try secretKey())
        )
    }

    /// The next 16 bytes.
    mutating func secretKey() throws(ManagementPacketError) -> SecretKey {
        guard let key = SecretKey(try bytes(SecretKey.byteCount)) else { throw .truncated }
        return key
    }
}
