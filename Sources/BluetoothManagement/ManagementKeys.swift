import Bluetooth

/// What a machine can ask of a person, and show to one, during a pairing (Core Specification, Vol 3, Part C, 5.2.2.4).
package enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
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
    /// Load Link Keys: no keys of a debugger, a count, and 25 bytes for each.
    static func encodedLinkKeys(_ keys: [LinkKey]) -> [UInt8] {
        let sent = keys.prefix(maximumLinkKeys)
        var parameters: [UInt8] = [0]
        parameters.append(littleEndian: UInt16(sent.count))
        for key in sent {
            parameters.append(key.peripheral)
            parameters += [key.type] + key.value.bytes + [key.pinLength]
        }
        return parameters
    }

    /// PIN Code Reply, without its address: a length, and 16 bytes.
    static func encoded(pin: String) -> [UInt8] {
        let bytes = Array(pin.utf8.prefix(maximumPINLength))
        return [UInt8(bytes.count)] + bytes + [UInt8](repeating: 0, count: maximumPINLength - bytes.count)
    }

    /// Core Specification, Vol 2, Part H, 3.2.3: a PIN has 1 ... 16 bytes.
    private static let maximumPINLength = 16

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

extension ByteReader<ManagementPacketError> {
    /// New Link Key, without its hint.
    mutating func linkKey() throws(ManagementPacketError) -> LinkKey {
        let peripheral = try identifier()
        let type = try integer(UInt8.self)
        let value = try secretKey()
        return LinkKey(peripheral: peripheral, type: type, pinLength: try integer(), value: value)
    }

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
