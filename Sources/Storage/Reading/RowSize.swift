import GRDB

/// How many bytes of the file a row takes, so that whoever says how long a disk lasts says the same.
package enum RowSize {
    /// Bytes that a row of eight channels takes over weeks, measured (`Tests/Weeks`); one of fewer channels takes less, so the
    /// disk lasts for no shorter.
    package static let standardBytes = 48.0
    /// Bytes that so many rows of eight channels will take; weeks that are simulated hold it to be so (`Tests/Weeks`).
    package static func forecast(rows: Int64) -> Int64 { Int64(Double(rows) * standardBytes) }

    /// So many rows are enough to measure: ten minutes of a Muse, beside which the empty schema's half megabyte is little.
    static let rowsMinimum: Int64 = 250_000
}

extension Store {
    /// Bytes of the database for each of its rows, all that is said of them included; ``RowSize/standardBytes`` while there are
    /// too few to measure.
    ///
    /// - Parameter rows: how many there are; nil for the sum of the blocks, which needs no more than a page for a million rows.
    package func bytesPerRow(rows: Int64? = nil) throws(StorageError) -> Double {
        try database.read { db in
            // Of whole rows: later fills of single channels are in rows that are counted already.
            let rows = try rows ?? Int64.fetchOne(db, sql: "SELECT sum(row_count) FROM block WHERE channel = 0") ?? 0
            guard rows >= RowSize.rowsMinimum else { return RowSize.standardBytes }
            // What is free in the file will be filled before it grows. The write-ahead log is as large for few rows as for
            // many.
            let bytes = try Int64.fetchOne(
                db,
                sql: """
                    SELECT (page_count - freelist_count) * page_size
                    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
                    """)
            return Double(bytes ?? 0) / Double(rows)
        }
    }
}
