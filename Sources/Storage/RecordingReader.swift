import GRDB
import GRDBSQLite
import Headsets
import Synchronization

extension Store {
    /// A reader of one recording, on a snapshot of this moment.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    public func reader(of recording: RecordingID) throws(StorageError) -> RecordingReader {
        try RecordingReader(store: self, recording: recording)
    }
}

/// Reads one recording in constant memory, from one consistent snapshot: what is committed later is not seen.
///
/// The snapshot is a read transaction of an own connection, held while the reader exists; meanwhile the write-ahead log
/// grows by what is written. A database in memory has no second connection: there, later commits are seen.
public final class RecordingReader: Sendable {
    /// Everything but the sample rows.
    public let contents: RecordingContents
    private let queue: any DatabaseWriter
    private let path: String
    private let ownsQueue: Bool

    init(store: Store, recording: RecordingID) throws(StorageError) {
        self.path = store.path ?? ":memory:"
        do {
            if let path = store.path {
                var configuration = DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true)
                // The transaction outlives the call that begins it.
                configuration.allowsUnsafeTransactions = true
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                self.queue = queue
                self.ownsQueue = true
                self.contents = try queue.inDatabase { db in
                    try db.execute(sql: "BEGIN")
                    return try RecordingContents.read(recording, in: db)
                }
            } else {
                let writer = store.connection.writer
                self.queue = writer
                self.ownsQueue = false
                self.contents = try writer.read { db in try RecordingContents.read(recording, in: db) }
            }
        } catch {
            throw StorageError(error, path: path)
        }
    }

    deinit {
        if ownsQueue { try? queue.close() }
    }

    /// Reads the rows of a stream, in ascending order of n, in pieces whose memory is reused.
    ///
    /// - Parameters:
    ///   - stream: a stream of the recording.
    ///   - range: the n's wanted; n's without a row are simply not there.
    ///   - rowsPerChunk: the most rows of a piece; at least 1.
    ///   - body: gets each piece; it must copy what it keeps. Its error ends the reading and is thrown on.
    /// - Throws: ``StorageError``, or what `body` throws.
    public func forEachChunk(
        of stream: StreamID, in range: ClosedRange<Int64>, rowsPerChunk: Int, _ body: (borrowing SampleChunk) throws -> Void
    ) throws {
        guard let contents = contents.streams.first(where: { $0.id == stream }) else {
            throw StorageError.notFound(what: "stream \(stream.rawValue) in recording \(contents.id.rawValue)")
        }
        let channelCount = contents.description.channels.count
        do {
            try queue.unsafeRead { db in
                try Self.readRows(
                    of: stream, channelCount: channelCount, in: range, rowsPerChunk: max(1, rowsPerChunk), db: db, body)
            }
        } catch let error as DatabaseError {
            throw StorageError(error, path: path)
        }
    }

    private static func readRows(
        of stream: StreamID, channelCount: Int, in range: ClosedRange<Int64>, rowsPerChunk: Int, db: Database,
        _ body: (borrowing SampleChunk) throws -> Void
    ) throws {
        let columns = (1...channelCount).map { "c\($0)" }.joined(separator: ", ")
        let statement = try db.cachedStatement(
            sql: "SELECT n, \(columns) FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n")
        let handle = statement.sqliteStatement
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        sqlite3_bind_int64(handle, 1, stream.rawValue)
        sqlite3_bind_int64(handle, 2, range.lowerBound)
        sqlite3_bind_int64(handle, 3, range.upperBound)
        var chunk = SampleChunk()
        chunk.n.reserveCapacity(rowsPerChunk)
        chunk.values.reserveCapacity(rowsPerChunk * channelCount)
        chunk.missingChannels.reserveCapacity(rowsPerChunk)
        while true {
            let code = sqlite3_step(handle)
            if code == SQLITE_ROW { append(handle, channelCount: channelCount, to: &chunk) }
            if chunk.n.count == rowsPerChunk || (code == SQLITE_DONE && !chunk.n.isEmpty) {
                try body(chunk)
                chunk.n.removeAll(keepingCapacity: true)
                chunk.values.removeAll(keepingCapacity: true)
                chunk.missingChannels.removeAll(keepingCapacity: true)
            }
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
            }
        }
    }

    private static func append(_ handle: OpaquePointer, channelCount: Int, to chunk: inout SampleChunk) {
        chunk.n.append(sqlite3_column_int64(handle, 0))
        var missing: UInt8 = 0
        for channel in 0..<channelCount {
            // A NULL reads as 0; only a 0 has to be asked for its type.
            let value = sqlite3_column_int(handle, Int32(channel + 1))
            if value == 0, sqlite3_column_type(handle, Int32(channel + 1)) == SQLITE_NULL { missing |= 1 << UInt8(channel) }
            chunk.values.append(value)
        }
        chunk.missingChannels.append(missing)
    }
}

extension RecordingContents {
    /// Reads everything but the rows.
    static func read(_ recording: RecordingID, in db: Database) throws -> RecordingContents {
        let found = try Row.fetchOne(
            db, sql: "SELECT * FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
        guard let row = found else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
        let annotations = try Row.fetchAll(
            db,
            sql: """
                SELECT * FROM annotation_time WHERE recording_id = ? AND onset_unix_ns IS NOT NULL ORDER BY onset_unix_ns
                """, arguments: [recording.rawValue]
        ).map {
            AnnotationContents(
                onsetUnixNanoseconds: $0["onset_unix_ns"], durationSeconds: $0["duration_seconds"],
                description: $0["description"])
        }
        return RecordingContents(
            id: recording, headsetName: row["headset"], model: row["model"], serialNumber: row["serial_number"],
            label: row["label"], subject: row["subject"], task: row["task"], startUnixNanoseconds: row["start_unix_ns"],
            streams: try StreamRow.fetch(of: recording, in: db).map { try StreamContents.read($0, in: db) },
            annotations: annotations)
    }
}

extension StreamContents {
    /// Reads extent, gaps and time map of a stream.
    static func read(_ stream: StreamRow, in db: Database) throws -> StreamContents {
        let sums = try Row.fetchOne(
            db, sql: "SELECT first_n, last_n, rows FROM stream_overview WHERE stream_id = ?",
            arguments: [stream.id.rawValue])
        let gaps = try Row.fetchAll(
            db,
            sql: """
                SELECT first_n, count, channel, cause, recovered FROM gap
                WHERE stream_id = ? AND count IS NOT NULL ORDER BY first_n, channel
                """, arguments: [stream.id.rawValue]
        ).map { row in
            guard let cause = GapCause(rawValue: row["cause"]) else {
                throw StorageError.notFound(what: "gap cause \(row["cause"] as String) in this version")
            }
            return GapContents(
                firstN: row["first_n"], count: row["count"], channel: row["channel"], cause: cause, recovered: row["recovered"])
        }
        let segments = try Row.fetchAll(
            db,
            sql: "SELECT * FROM segment_time WHERE stream_id = ? AND reference_unix_ns IS NOT NULL ORDER BY first_n",
            arguments: [stream.id.rawValue]
        ).map {
            TimeSegment(
                firstN: $0["first_n"], lastN: $0["last_n"], referenceN: $0["reference_n"],
                referenceUnixNanoseconds: $0["reference_unix_ns"], periodNanoseconds: $0["period_ns"])
        }
        return StreamContents(
            id: stream.id, position: stream.position, description: stream.description, firstN: sums?["first_n"],
            lastN: sums?["last_n"], rowCount: sums?["rows"] ?? 0, gaps: gaps, segments: segments)
    }
}
