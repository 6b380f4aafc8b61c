public import Bluetooth
import GRDB

/// Handles of headsets, as text whose form is not this module's affair.
extension Store {
    /// How many are kept: more than anybody has headsets, addresses that changed included. The oldest goes first.
    static let handleMapsKept = 256

    /// All handle maps that are kept. Whether one still holds, its headset is asked.
    public func handleMaps() throws(StorageError) -> [PeripheralIdentifier: String] {
        try connection.read { db in
            var maps: [PeripheralIdentifier: String] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT address, address_type, text FROM handle_map") {
                // An address that cannot be read finds no headset.
                guard let identifier = PeripheralIdentifier(row) else { continue }
                maps[identifier] = row["text"]
            }
            return maps
        }
    }

    /// Keeps the handle map of a peripheral in place of an earlier one, or forgets it (nil).
    ///
    /// - Parameter time: when it was discovered.
    public func setHandleMap(
        _ text: String?, of peripheral: PeripheralIdentifier, at time: MonotonicTime
    ) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        let address = peripheral.addressDescription
        let type = peripheral.addressType.rawValue
        try connection.write { db in
            guard let text else {
                return try db.execute(
                    sql: "DELETE FROM handle_map WHERE address = ? AND address_type = ?", arguments: [address, type])
            }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO handle_map (address, address_type, text, host_boot_id, boottime_ns)
                    VALUES (?, ?, ?, ?, ?)
                    """, arguments: [address, type, text, hostBoot, time.nanoseconds])
            try db.execute(
                sql: """
                    DELETE FROM handle_map WHERE (address, address_type) IN (
                        SELECT address, address_type FROM handle_map ORDER BY host_boot_id DESC, boottime_ns DESC
                        LIMIT -1 OFFSET ?)
                    """, arguments: [Self.handleMapsKept])
        }
    }
}

extension PeripheralIdentifier {
    /// Reads the columns `address` and `address_type`; nil where they hold none.
    init?(_ row: Row) {
        self.init("\(row["address"] as String)/\(row["address_type"] as String)")
    }
}
