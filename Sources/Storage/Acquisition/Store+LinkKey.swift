public import Bluetooth
import Foundation
import GRDB

/// The keys of headsets of Bluetooth Classic that were paired over the kernel's sockets. They are secret, and no part of any
/// export.
extension Store {
    /// All keys that are kept. One that cannot be read is left out: its headset is paired anew.
    public func linkKeys() throws(StorageError) -> [LinkKey] {
        try connection.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM link_key").compactMap { row in
                guard let peripheral = PeripheralIdentifier(row["address"] as String, defaultType: .classic),
                    let value = SecretKey(row["value"] as Data)
                else { return nil }
                return LinkKey(peripheral: peripheral, type: row["type"], pinLength: row["pin_length"], value: value)
            }
        }
    }

    /// Keeps the key of a device in place of an earlier one, or forgets it (nil).
    public func setLinkKey(_ key: LinkKey?, of peripheral: PeripheralIdentifier) throws(StorageError) {
        let address = peripheral.addressDescription
        try connection.write { db in
            guard let key else {
                return try db.execute(sql: "DELETE FROM link_key WHERE address = ?", arguments: [address])
            }
            try db.execute(
                sql: "INSERT OR REPLACE INTO link_key (address, type, pin_length, value) VALUES (?, ?, ?, ?)",
                arguments: [address, key.type, key.pinLength, Data(key.value.bytes)])
        }
    }
}
