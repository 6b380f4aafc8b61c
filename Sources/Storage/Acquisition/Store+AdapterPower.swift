public import Bluetooth
import GRDB

/// Which adapters a person wants off.
extension Store {
    /// The addresses of all such adapters. One that cannot be read is none.
    public func switchedOffAdapters() throws(StorageError) -> [UInt64] {
        try connection.read { db in
            try String.fetchAll(db, sql: "SELECT address FROM switched_off_adapter ORDER BY address").compactMap { address in
                PeripheralIdentifier(address, defaultType: .public)?.address
            }
        }
    }

    /// Keeps whether a person wants an adapter off.
    ///
    /// - Parameter time: when it was found out.
    public func setSwitchedOff(_ isSwitchedOff: Bool, adapter: UInt64, at time: MonotonicTime) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        let address = PeripheralIdentifier(address: adapter, type: .public).addressDescription
        try connection.write { db in
            guard isSwitchedOff else {
                return try db.execute(sql: "DELETE FROM switched_off_adapter WHERE address = ?", arguments: [address])
            }
            try db.execute(
                sql: "INSERT OR REPLACE INTO switched_off_adapter (address, host_boot_id, boottime_ns) VALUES (?, ?, ?)",
                arguments: [address, hostBoot, time.nanoseconds])
        }
    }
}
