import GRDB
import GRDBSQLite

/// The hot path: rows go from the batch's arrays into SQLite through raw binds, which is as fast as C.
struct SampleInsertion {
    let db: Database

    /// Inserts consecutive rows. A row that is there already is a constraint error, never silent.
    func insert(_ rows: SampleRows) throws {
        let channelCount = rows.channelCount
        guard (1...8).contains(channelCount), rows.values.count % channelCount == 0 else {
            throw StorageError.constraint(
                detail: "\(rows.values.count) values do not make rows of \(channelCount) channels "
                    + "(stream \(rows.stream.rawValue))")
        }
        let rowCount = rows.rowCount
        guard rows.missingChannels.isEmpty || rows.missingChannels.count == rowCount else {
            throw StorageError.constraint(
                detail: "\(rows.missingChannels.count) bit sets of missing channels for \(rowCount) rows")
        }
        let pageSize = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA page_size")) ?? 1024
        let rowsPerTurn = max(1, pageSize / 1024) * Self.rowsPerTurn
        for first in stride(from: 0, to: rowCount, by: rowsPerTurn) {
            let end = try insertGroups(of: rows, in: first..<min(rowCount, first + rowsPerTurn))
            try insertSingly(rows, in: first..<end)
        }
    }

    private func insertSingly(_ rows: SampleRows, in range: Range<Int>) throws {
        guard !range.isEmpty else { return }
        let statement = try db.cachedStatement(sql: Self.insertions[rows.channelCount - 1])
        let handle = statement.sqliteStatement
        // The statement goes back to GRDB's cache as it came.
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        try rows.values.withUnsafeBufferPointer { values in
            for row in range.reversed() {
                bind(row, of: rows, values, to: handle, after: 0)
                try step(handle, stream: rows.stream, n: rows.firstN + Int64(row))
            }
        }
    }

    /// Inserts as many whole groups of rows as the range holds, from its end, each by one statement. Returns the end of what is
    /// left; a group that breaks a constraint is left to the caller, whose single rows show which one it is.
    private func insertGroups(of rows: SampleRows, in range: Range<Int>) throws -> Int {
        guard range.count >= Self.rowsPerGroup else { return range.upperBound }
        let statement = try db.cachedStatement(sql: Self.groupInsertions[rows.channelCount - 1])
        let handle = statement.sqliteStatement
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        return try rows.values.withUnsafeBufferPointer { values in
            var end = range.upperBound
            while end - Self.rowsPerGroup >= range.lowerBound {
                for offset in 0..<Self.rowsPerGroup {
                    bind(end - 1 - offset, of: rows, values, to: handle, after: offset * (rows.channelCount + 2))
                }
                let code = sqlite3_step(handle)
                sqlite3_reset(handle)
                if code & 0xFF == SQLITE_CONSTRAINT { break }
                guard code == SQLITE_DONE else {
                    throw DatabaseError(
                        resultCode: ResultCode(rawValue: code),
                        message: "\(db.lastErrorMessage ?? "") (stream \(rows.stream.rawValue), row "
                            + "\(rows.firstN + Int64(end - 1)) or before)")
                }
                end -= Self.rowsPerGroup
            }
            return end
        }
    }

    /// Binds stream, n and values of a row to the parameters after the first `count`.
    @inline(__always)
    private func bind(
        _ row: Int, of rows: SampleRows, _ values: UnsafeBufferPointer<Int32>, to handle: OpaquePointer, after count: Int
    ) {
        let channelCount = rows.channelCount
        sqlite3_bind_int64(handle, Int32(count + 1), rows.stream.rawValue)
        sqlite3_bind_int64(handle, Int32(count + 2), rows.firstN + Int64(row))
        let missing = rows.missingChannels.isEmpty ? 0 : rows.missingChannels[row]
        for channel in 0..<channelCount {
            if missing & (1 << UInt8(channel)) == 0 {
                sqlite3_bind_int(handle, Int32(count + channel + 3), values[row * channelCount + channel])
            } else {
                sqlite3_bind_null(handle, Int32(count + channel + 3))
            }
        }
    }

    /// Sets one channel of rows that were stored without it. A row that is not there, or has the channel, is an error.
    func fill(_ fill: ChannelFill) throws {
        guard (1...8).contains(fill.channel) else {
            throw StorageError.constraint(detail: "there is no channel \(fill.channel) (stream \(fill.stream.rawValue))")
        }
        let statement = try db.cachedStatement(sql: Self.fills[fill.channel - 1])
        let handle = statement.sqliteStatement
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        sqlite3_bind_int64(handle, 2, fill.stream.rawValue)
        for (index, value) in fill.values.enumerated() {
            sqlite3_bind_int(handle, 1, value)
            sqlite3_bind_int64(handle, 3, fill.firstN + Int64(index))
            try step(handle, stream: fill.stream, n: fill.firstN + Int64(index))
            guard db.changesCount == 1 else {
                throw StorageError.constraint(
                    detail: "channel \(fill.channel) of row \(fill.firstN + Int64(index)) of stream \(fill.stream.rawValue) "
                        + "is not missing")
            }
        }
    }

    private func step(_ handle: OpaquePointer, stream: StreamID, n: Int64) throws {
        let code = sqlite3_step(handle)
        guard code == SQLITE_DONE else {
            let message = db.lastErrorMessage ?? ""
            sqlite3_reset(handle)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: "\(message) (stream \(stream.rawValue), row \(n))")
        }
        sqlite3_reset(handle)
    }

    /// Rows that one statement inserts, so that they share its fixed cost (locks, foreign key, halt): a quarter of a row's.
    /// 25 divide a second of 250 Hz; their 250 parameters are far below SQLite's limit of 32,766.
    private static let rowsPerGroup = 25

    /// Rows that are inserted last to first, for each KiB of a page. Rows that always come at the end leave SQLite's pages 87 %
    /// full; about two pages of them in reverse leave more (44.9 bytes for a row of 8 channels of 24 bits in pages of 1 KiB,
    /// 46.1 instead of 47.2 in pages of 4 KiB). Far more are worse by half.
    private static let rowsPerTurn = 50

    private static let insertions: [String] = (1...8).map { insertion(channelCount: $0, rowCount: 1) }
    private static let groupInsertions: [String] = (1...8).map { insertion(channelCount: $0, rowCount: rowsPerGroup) }

    private static func insertion(channelCount: Int, rowCount: Int) -> String {
        let columns = (1...channelCount).map { "c\($0)" }.joined(separator: ", ")
        let marks = "(" + Array(repeating: "?", count: channelCount + 2).joined(separator: ", ") + ")"
        let rows = Array(repeating: marks, count: rowCount).joined(separator: ", ")
        return "INSERT INTO sample (stream_id, n, \(columns)) VALUES \(rows)"
    }

    private static let fills: [String] = (1...8).map { channel in
        "UPDATE sample SET c\(channel) = ? WHERE stream_id = ? AND n = ? AND c\(channel) IS NULL"
    }
}
