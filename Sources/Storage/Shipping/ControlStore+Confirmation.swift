package import Bluetooth
import GRDB

/// What somebody else holds.
extension ControlStore {
    /// Notes up to which block of each chain of a stream a destination holds it; what was noted before counts no more.
    package func confirm(
        _ ends: [BlockEnd], of stream: StreamID, at destination: String, now: MonotonicTime
    ) throws(StorageError) {
        // No wish: the acquisition need not look.
        try database.write { db in
            for end in ends {
                try db.execute(
                    sql: """
                        INSERT INTO confirmation (stream_id, chain, destination, number, row_count, host_boot_id, boottime_ns)
                        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM stream WHERE id = ?1)
                        ON CONFLICT (stream_id, chain, destination) DO UPDATE SET number = excluded.number,
                            row_count = excluded.row_count, host_boot_id = excluded.host_boot_id,
                            boottime_ns = excluded.boottime_ns
                            WHERE (number, row_count) <> (excluded.number, excluded.row_count)
                        """,
                    arguments: [
                        stream.rawValue, end.chain, destination, end.number, end.rowCount, hostBootID, now.nanoseconds,
                    ])
            }
        }
    }
}
