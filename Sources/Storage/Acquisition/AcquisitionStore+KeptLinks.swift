package import Bluetooth
import GRDB

/// What the kernel's route knows of headsets and adapters, from one process to the next. Keys are secret: they
/// stand in a file of their own (``PairingKeyFile``), and everything else in the database.
extension AcquisitionStore {
    // MARK: The keys of headsets that were paired over the kernel's sockets

    /// All bonds that are kept. A key that cannot be read is left out: its headset is paired anew.
    package func bonds() throws(StorageError) -> [Bond] { try database.keys.keys().bonds }

    /// Keeps the bond with a device instead of an earlier one, or forgets it (nil).
    package func setBond(_ bond: Bond?, with identity: PeripheralIdentifier) throws(StorageError) {
        try database.keys.change { $0.set(bond, with: identity) }
    }

    // MARK: The keys of headsets of Bluetooth Classic

    /// All keys that are kept. One that cannot be read is left out: its headset is paired anew.
    package func linkKeys() throws(StorageError) -> [LinkKey] { try database.keys.keys().linkKeys }

    /// Keeps the key of a device instead of an earlier one, or forgets it (nil).
    package func setLinkKey(_ key: LinkKey?, of peripheral: PeripheralIdentifier) throws(StorageError) {
        try database.keys.change { $0.set(key, of: peripheral) }
    }

    // MARK: Handles of headsets, as text whose form is not this module's affair

    /// How many are kept: more than anybody has headsets, addresses that changed included. The oldest goes first.
    static let handleMapsKept = 256

    /// All handle maps that are kept. Whether one still holds, its headset is asked.
    package func handleMaps() throws(StorageError) -> [PeripheralIdentifier: String] {
        try database.read { db in
            var maps: [PeripheralIdentifier: String] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT address, address_type, text FROM handle_map") {
                // An address that cannot be read finds no headset.
                guard let identifier = PeripheralIdentifier(row) else { continue }
                maps[identifier] = row["text"]
            }
            return maps
        }
    }

    /// Keeps the handle map of a peripheral instead of an earlier one, or forgets it (nil).
    ///
    /// - Parameter time: when it was discovered.
    package func setHandleMap(
        _ text: String?, of peripheral: PeripheralIdentifier, at time: MonotonicTime
    ) throws(StorageError) {
        let address = peripheral.addressDescription
        let type = peripheral.addressType.rawValue
        try database.write { db in
            guard let text else {
                return try db.execute(
                    sql: "DELETE FROM handle_map WHERE address = ? AND address_type = ?", arguments: [address, type])
            }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO handle_map (address, address_type, text, host_boot_id, boottime_ns)
                    VALUES (?, ?, ?, ?, ?)
                    """, arguments: [address, type, text, hostBootID, time.nanoseconds])
            try db.execute(
                sql: """
                    DELETE FROM handle_map WHERE (address, address_type) IN (
                        SELECT address, address_type FROM handle_map ORDER BY host_boot_id DESC, boottime_ns DESC
                        LIMIT -1 OFFSET ?)
                    """, arguments: [Self.handleMapsKept])
        }
    }

    // MARK: Which adapters a person wants off

    /// The addresses of all such adapters. One that cannot be read is none.
    package func switchedOffAdapters() throws(StorageError) -> [UInt64] {
        try database.read { db in
            try String.fetchAll(db, sql: "SELECT address FROM switched_off_adapter ORDER BY address").compactMap { address in
                PeripheralIdentifier(address, defaultType: .public)?.address
            }
        }
    }

    /// Keeps whether a person wants an adapter off.
    ///
    /// - Parameter time: when it was found out.
    package func setSwitchedOff(_ isSwitchedOff: Bool, adapter: UInt64, at time: MonotonicTime) throws(StorageError) {
        let address = PeripheralIdentifier(address: adapter, type: .public).addressDescription
        try database.write { db in
            guard isSwitchedOff else {
                return try db.execute(sql: "DELETE FROM switched_off_adapter WHERE address = ?", arguments: [address])
            }
            try db.execute(
                sql: "INSERT OR REPLACE INTO switched_off_adapter (address, host_boot_id, boottime_ns) VALUES (?, ?, ?)",
                arguments: [address, hostBootID, time.nanoseconds])
        }
    }
}
