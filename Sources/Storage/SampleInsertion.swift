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
                detail: "\(rows.values.count) values do not make rows of \(channelCount) channels (stream \(rows.stream.rawValue))")
        }
        let rowCount = rows.rowCount
        guard rows.missingChannels.isEmpty || rows.missingChannels.count == rowCount else {
            throw StorageError.constraint(detail: "\(rows.missingChannels.count) bit sets of missing channels for \(rowCount) rows")
        }
        let statement = try db.cachedStatement(sql: Self.insertions[channelCount - 1])
        let handle = statement.sqliteStatement
        // The statement goes back to GRDB's cache as it came.
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        sqlite3_bind_int64(handle, 1, rows.stream.rawValue)
        try rows.values.withUnsafeBufferPointer { values in
            for row in 0..<rowCount {
                sqlite3_bind_int64(handle, 2, rows.firstN + Int64(row))
                let missing = rows.missingChannels.isEmpty ? 0 : rows.missingChannels[row]
                for channel in 0..<channelCount {
                    if missing & (1 << UInt8(channel)) == 0 {
                        sqlite3_bind_int(handle, Int32(channel + 3), values[row * channelCount + channel])
                    } else {
                        sqlite3_bind_null(handle, Int32(channel + 3))
                    }
                }
                try step(handle, stream: rows.stream, n: rows.firstN + Int64(row))
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

    private static let insertions: [String] = (1...8).map { count in
        let columns = (1...count).map { "c\($0)" }.joined(separator: ", ")
        let marks = Array(repeating: "?", count: count + 2).joined(separator: ", ")
        return "INSERT INTO sample (stream_id, n, \(columns)) VALUES (\(marks))"
    }

    private static let fills: [String] = (1...8).map { channel in
        "UPDATE sample SET c\(channel) = ? WHERE stream_id = ? AND n = ? AND c\(channel) IS NULL"
    }
}
