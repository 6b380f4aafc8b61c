package import Bluetooth
import GRDB

/// On which machine a database is, and how it came there.
extension ControlStore {
    /// Notes the machine that acquires now.
    ///
    /// A board that is known is the same machine, whatever system was installed on it since. Where no board says its number,
    /// the machine-id decides.
    ///
    /// - Returns: true where the database was on another machine before, and nobody has said how it came here.
    @discardableResult
    package func note(_ machine: MachineIdentity, at time: MonotonicTime) throws(StorageError) -> Bool {
        try database.write { db in
            let known = try Int64.fetchOne(
                db,
                sql: """
                    SELECT id FROM machine WHERE board = ?1 OR (installation = ?2 AND (board IS NULL OR ?1 IS NULL))
                    ORDER BY board IS ?1 DESC, id DESC LIMIT 1
                    """, arguments: [machine.board, machine.installation])
            let id = try known ?? insert(machine, at: time, in: db)
            // Known so far because something was merged that it had recorded.
            try db.execute(sql: "DELETE FROM merged_machine WHERE machine_id = ?", arguments: [id])
            if db.changesCount > 0 { try db.execute(sql: "UPDATE machine SET origin = NULL WHERE id = ?", arguments: [id]) }
            try db.execute(
                sql: """
                    UPDATE machine SET board = coalesce(?2, board), installation = coalesce(?3, installation)
                    WHERE id = ?1 AND (board, installation) IS NOT (coalesce(?2, board), coalesce(?3, installation))
                    """, arguments: [id, machine.board, machine.installation])
            try db.execute(
                sql: "INSERT OR IGNORE INTO machine_boot (host_boot_id, machine_id) VALUES (?, ?)",
                arguments: [hostBootID, id])
            return try Bool.fetchOne(db, sql: "SELECT origin IS NULL FROM machine WHERE id = ?", arguments: [id]) ?? false
        }
    }

    private func insert(_ machine: MachineIdentity, at time: MonotonicTime, in db: Database) throws -> Int64 {
        try db.execute(
            sql: """
                INSERT INTO machine (uuid, board, installation, origin, host_boot_id, boottime_ns)
                VALUES (\(Self.newUUID), ?, ?, iif(EXISTS (SELECT 1 FROM machine), NULL, 'created'), ?, ?)
                """, arguments: [machine.board, machine.installation, hostBootID, time.nanoseconds])
        return db.lastInsertedRowID
    }

    /// A UUID of version 4 (RFC 9562, 5.4), as the triggers of m0035 make them.
    private static let newUUID = """
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' \
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        """

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
