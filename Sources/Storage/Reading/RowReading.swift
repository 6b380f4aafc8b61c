import GRDB
import GRDBSQLite

/// The reading of a stream's rows from one transaction to the next.
struct RowReading: ~Copyable {
    let stream: StreamID
    let channelCount: Int
    let rowsPerChunk: Int
    /// Rows that were not handed over yet.
    private(set) var chunk = SampleChunk()
    /// The rows that were stepped through last; they go to ``chunk`` many at a time.
    private let row: UnsafeMutablePointer<Int64>
    private let values: UnsafeMutablePointer<Int32>
    private let missing: UnsafeMutablePointer<UInt8>
    private var count = 0

    private static let rowsAtOnce = 64

    init(stream: StreamID, channelCount: Int, rowsPerChunk: Int) {
        self.stream = stream
        self.channelCount = channelCount
        self.rowsPerChunk = rowsPerChunk
        row = .allocate(capacity: Self.rowsAtOnce)
        values = .allocate(capacity: Self.rowsAtOnce * channelCount)
        missing = .allocate(capacity: Self.rowsAtOnce)
        chunk.n.reserveCapacity(rowsPerChunk)
        chunk.values.reserveCapacity(rowsPerChunk * channelCount)
        chunk.missingChannels.reserveCapacity(rowsPerChunk)
    }

    deinit {
        row.deallocate()
        values.deallocate()
        missing.deallocate()
    }

    /// Reads rows up to a limit, and hands each full chunk over.
    ///
    /// A damaged page may have rows in any order, and of any n; whoever gets them writes to memory by n. So each has to follow
    /// the one before it, within the range.
    ///
    /// - Returns: where to go on; nil where the range is done.
    /// - Throws: `DatabaseError`, `SQLITE_CORRUPT` where the rows are not what the key or the table says.
    mutating func read(
        _ range: ClosedRange<Int64>, limit: Int, without late: inout LateSamples, in db: Database,
        _ body: (borrowing SampleChunk) throws -> Void
    ) throws -> Int64? {
        let columns = (1...channelCount).map { "c\($0)" }.joined(separator: ", ")
        let statement = try db.cachedStatement(
            sql: "SELECT n, \(columns) FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n LIMIT ?")
        let handle = statement.sqliteStatement
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        sqlite3_bind_int64(handle, 1, stream.rawValue)
        sqlite3_bind_int64(handle, 2, range.lowerBound)
        sqlite3_bind_int64(handle, 3, range.upperBound)
        sqlite3_bind_int64(handle, 4, Int64(limit))
        var stepCount = 0
        // No recording comes to the least number there is.
        var last = max(range.lowerBound, .min + 1) - 1
        while true {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE {
                flush()
                return stepCount < limit || last == .max ? nil : last + 1
            }
            guard code == SQLITE_ROW else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
            }
            stepCount += 1
            let n = sqlite3_column_int64(handle, 0)
            guard n > last, n <= range.upperBound else {
                throw damage("a row of n \(n) where one of \(last + 1) ... \(range.upperBound) is due")
            }
            last = n
            if late.holdsRow(last) { continue }
            guard append(handle, n: last, without: &late) else {
                throw damage("a value that is no number of 32 bits, in the row of n \(last)")
            }
            if count == Self.rowsAtOnce || chunk.n.count + count == rowsPerChunk { flush() }
            if chunk.n.count == rowsPerChunk {
                try body(chunk)
                chunk.n.removeAll(keepingCapacity: true)
                chunk.values.removeAll(keepingCapacity: true)
                chunk.missingChannels.removeAll(keepingCapacity: true)
            }
        }
    }

    /// - Returns: false where one of the values is no number of 32 bits.
    @inline(__always)
    private mutating func append(_ handle: OpaquePointer, n: Int64, without late: inout LateSamples) -> Bool {
        row[count] = n
        let values = values + count * channelCount
        var missing: UInt8 = 0
        var isWide = false
        for channel in 0..<channelCount {
            // A NULL reads as 0; only a 0 has to be asked for its type.
            let value = sqlite3_column_int64(handle, Int32(channel + 1))
            if value == 0, sqlite3_column_type(handle, Int32(channel + 1)) == SQLITE_NULL { missing |= 1 << UInt8(channel) }
            values[channel] = Int32(truncatingIfNeeded: value)
            if value != Int64(values[channel]) { isWide = true }
        }
        if late.hasChannels {
            for channel in 0..<channelCount where late.holdsChannel(channel + 1, of: n) {
                missing |= 1 << UInt8(channel)
                values[channel] = 0
            }
        }
        self.missing[count] = missing
        count += 1
        return !isWide
    }

    private func damage(_ detail: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "stream \(stream.rawValue) has \(detail)")
    }

    /// Puts what was stepped through into ``chunk``.
    private mutating func flush() {
        chunk.n.append(contentsOf: UnsafeBufferPointer(start: row, count: count))
        chunk.values.append(contentsOf: UnsafeBufferPointer(start: values, count: count * channelCount))
        chunk.missingChannels.append(contentsOf: UnsafeBufferPointer(start: missing, count: count))
        count = 0
    }
}
