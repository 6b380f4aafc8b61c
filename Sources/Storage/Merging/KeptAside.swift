import GRDB

/// The other database's values of samples that are here with other ones, each kept once.
struct KeptAside {
    let db: Database
    let stream: Int64
    let channelCount: Int
    let origin: MergeOrigin

    /// Keeps rows, by index.
    ///
    /// - Returns: how many were not kept before.
    func keep(_ indexes: [Int], of rows: StoredRows) throws -> Int64 {
        guard !indexes.isEmpty else { return 0 }
        let columns = (1...channelCount).map { "c\($0)" }
        let marks = columns.indices.map { "?\($0 + 6)" }
        let insertion = try db.cachedStatement(
            sql: """
                INSERT INTO merge_conflict (stream_id, n, source, host_boot_id, boottime_ns, \(columns.joined(separator: ", ")))
                SELECT ?1, ?2, ?3, ?4, ?5, \(marks.joined(separator: ", ")) WHERE NOT EXISTS (
                    SELECT 1 FROM merge_conflict WHERE stream_id = ?1 AND n = ?2
                        AND (\(columns.joined(separator: ", "))) IS (\(marks.joined(separator: ", "))))
                """)
        var count: Int64 = 0
        for index in indexes {
            let missing = rows.missing[index]
            let values = rows.row(index).enumerated().map { channel, value in
                missing & (1 << UInt8(channel)) == 0 ? value.databaseValue : .null
            }
            let found: [DatabaseValue] = [
                stream.databaseValue, rows.n[index].databaseValue, origin.source.databaseValue, origin.hostBoot.databaseValue,
                origin.boottime.databaseValue,
            ]
            try insertion.execute(arguments: StatementArguments(found + values))
            count += Int64(db.changesCount)
        }
        return count
    }
}
