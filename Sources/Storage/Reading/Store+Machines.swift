import GRDB

/// A machine that has acquired into a database.
package struct Machine: Hashable, Sendable {
    /// How the database came to a machine.
    package enum Origin: String, Hashable, Sendable, CaseIterable {
        /// It, or its account of machines, began there.
        case created
        /// It was moved there: it goes on, and nowhere else.
        case moved
        /// It was copied there: the machine before goes on with its own.
        case copied
    }

    /// The key of its row.
    package var id: Int64
    /// Made once.
    package var uuid: String
    /// Nil while nobody has said how the database came there.
    package var origin: Origin?
    /// When it was first seen.
    package var firstSeen: StoredInstant
    /// Recordings that were asked for there.
    package var recordings: Int
}

extension Store {
    /// The machines that have acquired into the database, in the order in which they came.
    package func machines() throws(StorageError) -> [Machine] {
        let present = presentBoot
        return try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT m.id, m.uuid, m.origin, m.host_boot_id, m.boottime_ns, (
                        SELECT count(*) FROM recording AS r
                        LEFT JOIN machine_boot AS b ON b.host_boot_id = r.requested_host_boot_id
                        WHERE coalesce(b.machine_id, (SELECT min(id) FROM machine)) = m.id
                            -- Of one that came from a database that knew no machine it is not known.
                            AND (b.machine_id IS NOT NULL OR r.id NOT IN (SELECT recording_id FROM merged_recording))
                    ) AS recordings
                    FROM machine AS m WHERE m.id NOT IN (SELECT machine_id FROM merged_machine) ORDER BY m.id
                    """
            ).map { row in
                Machine(
                    id: row["id"], uuid: row["uuid"], origin: (row["origin"] as String?).flatMap(Machine.Origin.init),
                    firstSeen: try StoredInstant(
                        row["boottime_ns"], ofBoot: row["host_boot_id"], present: present, in: db),
                    recordings: row["recordings"])
            }
        }
    }
}
