import Bluetooth
import Foundation

/// What the ``PairingKeyFile`` holds: a JSON document.
struct PairingKeys: Hashable, Sendable {
    /// With headsets of Bluetooth Low Energy.
    var bonds: [Bond] = []
    /// With headsets of Bluetooth Classic.
    var linkKeys: [LinkKey] = []
    /// True while a database in which keys stood before may still hold their bytes; see ``KeyMove``.
    var areErasing = false

    /// Keeps a bond instead of an earlier one, or forgets it (nil).
    mutating func set(_ bond: Bond?, with identity: PeripheralIdentifier) {
        bonds.removeAll { $0.identity == identity }
        if let bond { bonds.append(bond) }
    }

    /// Keeps a link key instead of an earlier one, or forgets it (nil).
    mutating func set(_ key: LinkKey?, of peripheral: PeripheralIdentifier) {
        linkKeys.removeAll { $0.peripheral == peripheral }
        if let key { linkKeys.append(key) }
    }
}

// MARK: As it is written

extension PairingKeys {
    /// Increased where an older version could not read it.
    private static let version = 1

    private struct Document: Codable {
        var format = "eegsync pairing keys"
        var version = PairingKeys.version
        var areErasing: Bool?
        var bonds: [StoredBond] = []
        var linkKeys: [StoredLinkKey] = []
    }

    private struct StoredBond: Codable {
        var address: String
        var addressType: String
        var identityResolvingKey: Data?
        var longTermKeys: [StoredLongTermKey]
    }

    private struct StoredLongTermKey: Codable {
        var type: UInt8
        var isForCentral: Bool
        var encryptionSize: UInt8
        var encryptedDiversifier: UInt16
        var randomNumber: UInt64
        var value: Data
    }

    private struct StoredLinkKey: Codable {
        var address: String
        var type: UInt8
        var pinLength: UInt8
        var value: Data
    }

    private struct Head: Decodable {
        var version: Int
    }

    /// True for a document that this version does not know.
    static func isOfNewerVersion(_ data: Data) -> Bool {
        (try? JSONDecoder().decode(Head.self, from: data)).map { $0.version > version } ?? false
    }

    /// Reads a document; nil for anything else. A key that cannot be read is left out: its headset is paired anew.
    init?(_ data: Data) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let document = try? decoder.decode(Document.self, from: data), document.version <= Self.version else {
            return nil
        }
        areErasing = document.areErasing ?? false
        bonds = document.bonds.compactMap { stored in
            PeripheralIdentifier("\(stored.address)/\(stored.addressType)").map { identity in
                Bond(
                    identity: identity,
                    longTermKeys: stored.longTermKeys.compactMap { key in
                        SecretKey(key.value).map {
                            LongTermKey(
                                type: key.type, isForCentral: key.isForCentral, encryptionSize: key.encryptionSize,
                                encryptedDiversifier: key.encryptedDiversifier, randomNumber: key.randomNumber, value: $0)
                        }
                    }, identityResolvingKey: stored.identityResolvingKey.flatMap { SecretKey($0) })
            }
        }
        linkKeys = document.linkKeys.compactMap { stored in
            guard let peripheral = PeripheralIdentifier(stored.address, defaultType: .classic),
                let value = SecretKey(stored.value)
            else { return nil }
            return LinkKey(peripheral: peripheral, type: stored.type, pinLength: stored.pinLength, value: value)
        }
    }

    /// The document.
    var data: Data {
        let document = Document(
            areErasing: areErasing ? true : nil,
            bonds: bonds.map { bond in
                StoredBond(
                    address: bond.identity.addressDescription, addressType: bond.identity.addressType.rawValue,
                    identityResolvingKey: bond.identityResolvingKey.map { Data($0.bytes) },
                    longTermKeys: bond.longTermKeys.map { key in
                        StoredLongTermKey(
                            type: key.type, isForCentral: key.isForCentral, encryptionSize: key.encryptionSize,
                            encryptedDiversifier: key.encryptedDiversifier, randomNumber: key.randomNumber,
                            value: Data(key.value.bytes))
                    })
            },
            linkKeys: linkKeys.map {
                StoredLinkKey(
                    address: $0.peripheral.addressDescription, type: $0.type, pinLength: $0.pinLength,
                    value: Data($0.value.bytes))
            })
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in it cannot be encoded.
        return (try? encoder.encode(document)) ?? Data()
    }
}
