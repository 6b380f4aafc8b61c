import GRDB

/// The history goes by age.
extension AcquisitionStore {
    /// Rows that one call removes at most. They are gone within milliseconds, so that no commit waits for longer.
    package static let trimLimit = 500

    /// Removes the oldest rows of the history, at most ``trimLimit`` of each table.
    ///
    /// What stays whatever its age: everything of a headset since its open recording was asked for, which is what can say
    /// about that recording's gaps; the latest process; and rows of a boot whose time nobody knows. A boot whose clock was
    /// never synchronised counts as old once a later, synchronised one has begun before `unixNanoseconds`; its own clock is
    /// believed only where no boot was ever synchronised.
    ///
    /// - Parameter unixNanoseconds: what happened before it is old.
    /// - Returns: how many rows were removed; with 0 nothing is left to be.
    package func trimHistory(before unixNanoseconds: Int64) throws(StorageError) -> Int {
        // Found by a reader, so that nobody waits for the search.
        let old = try database.read { db in
            try HistoryTable.all.map { table in
                (table.name, try Int64.fetchAll(db, sql: table.oldRows, arguments: [unixNanoseconds, Self.trimLimit]))
            }
        }
        let count = old.reduce(0) { $0 + $1.1.count }
        guard count > 0 else { return 0 }
        try database.write { db in
            for (table, rows) in old {
                let statement = try db.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?")
                for row in rows { try statement.execute(arguments: [row]) }
            }
        }
        return count
    }
}

/// A table whose rows go by age.
struct HistoryTable {
    let name: String
    /// The column by which a row ages.
    let time: String
    /// False for a table about the machine.
    var isOfHeadset = true
    /// Which rows go beyond their age.
    var condition = "TRUE"

    static let all = [
        HistoryTable(name: "connection_event", time: "boottime_ns", condition: hasNotHappenedSince),
        HistoryTable(name: "connection_attempt", time: "began_boottime_ns", condition: hasNotHappenedSince),
        HistoryTable(name: "streaming_return", time: "boottime_ns"),
        HistoryTable(name: "link_quality", time: "boottime_ns"),
        HistoryTable(name: "suspension", time: "resumed_boottime_ns", isOfHeadset: false),
        HistoryTable(name: "full_disk", time: "ended_boottime_ns", isOfHeadset: false),
        HistoryTable(
            name: "process", time: "alive_boottime_ns", isOfHeadset: false,
            condition: "t.id < (SELECT max(id) FROM process)"),
    ]

    /// What is counted is as old as its last time.
    private static let hasNotHappenedSince = "coalesce(t.last_boottime_ns, 0) < o.end_ns"

    /// Keys of old rows; `?1` is the instant, `?2` the most that are wanted. By headset and boot, through the table's index.
    var oldRows: String {
        let headsets = isOfHeadset ? "CROSS JOIN headset AS h" : ""
        let ofHeadset = isOfHeadset ? "t.headset_id = h.id AND" : ""
        let isFree =
            isOfHeadset
            ? """
            NOT EXISTS (SELECT 1 FROM recording AS r WHERE r.headset_id = t.headset_id AND r.stopped_host_boot_id IS NULL
                AND (t.host_boot_id, t.\(time)) >= (r.requested_host_boot_id, r.requested_boottime_ns))
            """ : "TRUE"
        return """
            WITH old_boot AS (
                SELECT b.host_boot_id AS id, CASE
                    WHEN b.is_synchronised OR NOT EXISTS (SELECT 1 FROM clock_offset WHERE is_synchronised)
                        THEN ?1 - b.offset_ns
                    WHEN EXISTS (SELECT 1 FROM host_boot_clock AS later
                        WHERE later.host_boot_id > b.host_boot_id AND later.is_synchronised AND later.offset_ns < ?1)
                        THEN 0x7fffffffffffffff
                    ELSE 0 END AS end_ns
                FROM host_boot_clock AS b)
            SELECT t.id FROM old_boot AS o \(headsets) CROSS JOIN \(name) AS t
            WHERE o.end_ns > 0 AND \(ofHeadset) t.host_boot_id = o.id AND t.\(time) < o.end_ns
                AND \(condition) AND \(isFree)
            LIMIT ?2
            """
    }
}
