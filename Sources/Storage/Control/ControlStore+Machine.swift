import GRDB

/// How a database came from one machine to another.
extension ControlStore {
    /// Says of every machine of which nobody has said it how the database came there.
    ///
    /// - Returns: how many machines that were.
    /// - Throws: ``StorageError/refused(reason:)`` where the database was copied and a recording from before is open:
    ///   two machines would go on with it.
    @discardableResult
    package func decideOrigin(_ origin: Machine.Origin) throws(StorageError) -> Int {
        try write { db in
            if origin == .copied {
                let open = try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT r.id FROM recording AS r
                        LEFT JOIN machine_boot AS b ON b.host_boot_id = r.requested_host_boot_id
                        LEFT JOIN machine AS m ON m.id = b.machine_id
                        WHERE (r.desired_state = 'recording' OR r.stopped_host_boot_id IS NULL)
                            AND (m.id IS NULL OR m.origin IS NOT NULL)
                            AND EXISTS (SELECT 1 FROM machine WHERE origin IS NULL)
                        LIMIT 1
                        """)
                if let open {
                    throw StorageError.refused(
                        reason:
                            "recording \(open) was begun on the machine before, and is open here, too; stop it here first, so "
                            + "that only one machine goes on with it")
                }
            }
            try db.execute(sql: "UPDATE machine SET origin = ? WHERE origin IS NULL", arguments: [origin.rawValue])
            return db.changesCount
        }
    }
}
