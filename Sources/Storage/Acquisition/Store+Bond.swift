public import Bluetooth
import Foundation
import GRDB

/// The keys of headsets that were paired over the kernel's sockets. They are secret, and no part of any export.
extension Store {
    /// All bonds that are kept. A key that cannot be read is left out: its headset is paired
    /// anew.
    public func bonds() throws(StorageError) -> [Bond] {
        try connection.read { db in
            var bonds: [Bond] = []
            func add(_ row: Row, _ change: (inout Bond, SecretKey) -> Void) {
                guard let identity = PeripheralIdentifier(row), let value = SecretKey(row["value"] as Data) else { return }
                var bond = Bond(identity: identity)
                if let place = bonds.firstIndex(where: { $0.identity == identity }) { bond = bonds.remove(at: place) }
                change(&bond, value)
                bonds.append(bond)
            }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM long_term_key") {
                add(row) { bond, value in
                    bond.longTermKeys.append(
                        LongTermKey(
                            type: row["type"], isForCentral: row["is_for_central"], encryptionSize: row["encryption_size"],
                            encryptedDiversifier: row["encrypted_diversifier"],
                            randomNumber: UInt64(bitPattern: row["random_number"]), value: value))
                }
            }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM identity_resolving_key") {
                add(row) { bond, value in bond.identityResolvingKey = value }
            }
            return bonds
        }
    }

    /// Keeps the bond with a device in place of an earlier one, or forgets it (nil).
    public func setBond(_ bond: Bond?, with identity: PeripheralIdentifier) throws(StorageError) {
        let address = identity.addressDescription
        let type = identity.addressType.rawValue
        try connection.write { db in
            for table in ["long_term_key", "identity_resolving_key"] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE address = ? AND address_type = ?", arguments: [address, type])
            }
            for key in bond?.longTermKeys ?? [] {
                try db.execute(
                    sql: """
                        INSERT INTO long_term_key (address, address_type, type, is_for_central, encryption_size,
                            encrypted_diversifier, random_number, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        address, type, key.type, key.isForCentral, key.encryptionSize, key.encryptedDiversifier,
                        Int64(bitPattern: key.randomNumber), Data(key.value.bytes),
                    ])
            }
            if let key = bond?.identityResolvingKey {
                try db.execute(
                    sql: "INSERT INTO identity_resolving_key (address, address_type, value) VALUES (?, ?, ?)",
                    arguments: [address, type, Data(key.bytes)])
            }
        }
    }
}
