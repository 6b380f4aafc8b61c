import Evidence
import GRDB
import GRDBSQLite
import Headsets
import Synchronization

extension Store {
    /// A reader of one recording, on a snapshot of this moment.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording; ``StorageError/corrupt(path:detail:)``
    ///   where another program has changed what says of it when which sample was taken, to what no recording comes to.
    package func reader(of recording: RecordingID) throws(StorageError) -> RecordingReader {
        try RecordingReader(store: self, recording: recording)
    }
}

/// Reads one recording in constant memory, as it is when the reader is made: what is committed later is not seen.
///
/// It opens the file for reading only, through an own connection, and keeps nobody from writing. Its first transaction lasts
/// until rows are read; these come in short ones, because the write-ahead log cannot begin anew while a transaction is open and
/// would grow as long as an export takes. Rows never change while the recording is there, so all that may differ by then are
/// samples that were missing: the ledger of the first transaction says which these are, and they are left out
/// (``LateSamples``). Where the recording was deleted meanwhile, reading ends with an error. A database in memory has no second
/// connection: there, later commits are seen.
package final class RecordingReader: Sendable {
    /// Everything but the sample rows.
    package let contents: RecordingContents
    private let queue: any DatabaseWriter
    private let path: String
    private let ownsQueue: Bool
    /// What to leave out; nil while the first transaction is open.
    private let late: Mutex<[StreamID: LateSamples]?>
    /// The reader of the whole recording, and which channels of its streams are seen; nil in that reader itself.
    private let base: (reader: RecordingReader, channels: [StreamID: [Int]])?

    private let rowsPerTransaction: Int

    /// - Parameter rowsPerTransaction: By default 12 MB of a database, which a slow disk takes seconds to write elsewhere.
    init(store: some Store, recording: RecordingID, rowsPerTransaction: Int = 262_144) throws(StorageError) {
        self.rowsPerTransaction = rowsPerTransaction
        self.path = store.path ?? ":memory:"
        self.base = nil
        do {
            if let path = store.path {
                var configuration = DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true)
                // The transaction outlives the call that begins it.
                configuration.allowsUnsafeTransactions = true
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                self.queue = queue
                self.ownsQueue = true
                self.late = Mutex(nil)
                self.contents = try queue.inDatabase { [path] db in
                    try db.execute(sql: "BEGIN")
                    return try RecordingContents.readSound(recording, path: path, in: db)
                }
            } else {
                let writer = store.database.writer
                self.queue = writer
                self.ownsQueue = false
                self.late = Mutex([:])
                self.contents = try writer.read { [path] db in
                    try RecordingContents.readSound(recording, path: path, in: db)
                }
            }
        } catch {
            throw StorageError(error, path: path)
        }
    }

    /// A reader that sees what `contents` says, through another one.
    init(base: RecordingReader, contents: RecordingContents, channels: [StreamID: [Int]]) {
        self.contents = contents
        self.queue = base.queue
        self.path = base.path
        self.ownsQueue = false
        self.late = Mutex([:])
        self.rowsPerTransaction = base.rowsPerTransaction
        self.base = (base, channels)
    }

    deinit {
        if ownsQueue { try? queue.close() }
    }

    /// Whether rows were read, so that the first transaction is over and ``copy(to:)`` would copy a later state.
    package var hasReadRows: Bool { base?.reader.hasReadRows ?? (ownsQueue && late.withLock { $0 != nil }) }

    /// Whether this reader sees a part of the recording only.
    package var isSlice: Bool { base != nil }

    /// Runs a piece of work in the first transaction.
    func inFirstTransaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
        guard !hasReadRows else { throw StorageError.refused(reason: "the first transaction of the reader is over") }
        guard !isSlice else { throw StorageError.refused(reason: "a part of a recording cannot be copied") }
        return try queue.unsafeRead(body)
    }

    /// Ends the first transaction, as soon as it is known what to leave out from then on.
    private func endFirstTransaction() throws -> [StreamID: LateSamples] {
        try late.withLock { late in
            if let late { return late }
            let found = try queue.unsafeRead { db in
                let found = try LateSamples.find(of: contents, in: db)
                try db.execute(sql: "COMMIT")
                return found
            }
            late = found
            return found
        }
    }

    /// Reads the rows of a stream, in ascending order of n, in pieces whose memory is reused.
    ///
    /// - Parameters:
    ///   - stream: a stream of the recording.
    ///   - range: the n's wanted; n's without a row are simply not there.
    ///   - rowsPerChunk: the most rows of a piece; at least 1.
    ///   - body: gets each piece; it must copy what it keeps. Its error ends the reading and is thrown on.
    /// - Throws: ``StorageError``, `notFound` where the recording was deleted meanwhile; or what `body` throws.
    package func forEachChunk(
        of stream: StreamID, in range: ClosedRange<Int64>, rowsPerChunk: Int, _ body: (borrowing SampleChunk) throws -> Void
    ) throws {
        guard let contents = contents.streams.first(where: { $0.id == stream }) else {
            throw StorageError.notFound(what: "stream \(stream.rawValue) in recording \(self.contents.id.rawValue)")
        }
        if let base {
            guard let first = contents.firstN, let last = contents.lastN, range.overlaps(first...last) else { return }
            let range = range.clamped(to: first...last)
            let projection = ChannelProjection(base.channels[stream] ?? [], of: base.reader.contents, stream: stream)
            guard var projection else {
                return try base.reader.forEachChunk(of: stream, in: range, rowsPerChunk: rowsPerChunk, body)
            }
            return try base.reader.forEachChunk(of: stream, in: range, rowsPerChunk: rowsPerChunk) { chunk in
                projection.project(chunk)
                try body(projection.chunk)
            }
        }
        do {
            var late = try endFirstTransaction()[stream] ?? LateSamples()
            var rows = RowReading(
                stream: stream, channelCount: contents.description.channels.count, rowsPerChunk: max(1, rowsPerChunk))
            // What follows the last n of the first transaction came later.
            let end = ownsQueue ? min(range.upperBound, contents.lastN ?? range.lowerBound) : range.upperBound
            var next = Optional(range.lowerBound)
            while let first = next, first <= end {
                next = try queue.unsafeRead { db -> Int64? in
                    let next = try rows.read(first...end, limit: rowsPerTransaction, without: &late, in: db, body)
                    try requireRecording(in: db)
                    return next
                }
            }
            if !rows.chunk.n.isEmpty { try body(rows.chunk) }
        } catch let error as DatabaseError {
            throw StorageError(error, path: path)
        }
    }

    /// Throws where the recording was deleted, or is being. A deletion is noted before the first row goes: asked after rows
    /// were read, this says whether they were all there.
    private func requireRecording(in db: Database) throws {
        guard try Deletion.isNoted(contents.id, in: db) else { return }
        throw StorageError.notFound(
            what: "recording \(contents.id.rawValue) any more: it was deleted while it was read, and no file was written of "
                + "what was left")
    }
}

extension RecordingContents {
    /// Reads everything but the rows of a recording that is not deleted, and that times can be computed of.
    static func readSound(_ recording: RecordingID, path: String, in db: Database) throws -> RecordingContents {
        if try Deletion.isNoted(recording, in: db) {
            throw StorageError.notFound(what: "recording \(recording.rawValue) any more: it was deleted")
        }
        try SurprisingNumbers.refuse(recording, path: path, in: db)
        return try read(recording, in: db)
    }

    /// Reads everything but the rows.
    static func read(_ recording: RecordingID, in db: Database) throws -> RecordingContents {
        let found = try Row.fetchOne(
            db, sql: "SELECT * FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
        guard let row = found else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
        let annotations = try Row.fetchAll(
            db,
            sql: """
                SELECT t.*, a.stream_id AS stream_id FROM annotation_time AS t JOIN annotation AS a ON a.id = t.annotation_id
                WHERE t.recording_id = ? AND t.onset_unix_ns IS NOT NULL ORDER BY t.onset_unix_ns
                """, arguments: [recording.rawValue]
        ).map { row in
            let stream: Int64? = row["stream_id"]
            return AnnotationContents(
                onsetUnixNanoseconds: row.nanoseconds("onset_unix_ns") ?? 0, durationSeconds: row["duration_seconds"],
                description: row["description"], source: row["source"],
                sample: stream.map { AnnotatedSample(stream: StreamID(rawValue: $0), n: row.number("n") ?? 0) },
                deviceTicks: row["device_ticks"], code: row["code"])
        }
        return RecordingContents(
            id: recording, headsetName: row["headset"], model: row["model"], serialNumber: row["serial_number"],
            label: row["label"], subject: row["subject"], task: row["task"], startUnixNanoseconds: row.instant("start_unix_ns"),
            streams: try StreamRow.fetch(of: recording, in: db).map { try StreamContents.read($0, in: db) },
            annotations: annotations, provenance: try Provenance.read(recording, in: db))
    }
}

extension StreamContents {
    /// Reads extent, gaps and time map of a stream.
    static func read(_ stream: StreamRow, in db: Database) throws -> StreamContents {
        let sums = try Row.fetchOne(
            db, sql: "SELECT first_n, last_n, rows, loss_detection FROM stream_overview WHERE stream_id = ?",
            arguments: [stream.id.rawValue])
        let gaps = try Row.fetchAll(
            db,
            sql: """
                SELECT g.*, CASE WHEN g.count = 0 THEN (SELECT missing FROM gap_between_boots WHERE gap_id = g.id)
                    ELSE g.count - g.recovered END AS missing
                FROM gap AS g WHERE g.stream_id = ? AND g.count IS NOT NULL ORDER BY g.first_n, g.channel
                """, arguments: [stream.id.rawValue]
        ).map { row in
            guard let cause = GapCause(rawValue: row["cause"]) else {
                throw StorageError.notFound(what: "gap cause \(row["cause"] as String) in this version")
            }
            let missing = row.number("missing")
            let count = row.number("count") ?? 0
            return GapContents(
                firstN: row.number("first_n") ?? 0, count: count, channel: row["channel"], cause: cause,
                recovered: row.number("recovered") ?? 0, certainty: missing == nil ? "unknown" : row["certainty"],
                uncertainty: count == 0 ? nil : row.number("uncertainty"), missing: missing)
        }
        let segments = try Row.fetchAll(
            db,
            sql: "SELECT * FROM segment_time WHERE stream_id = ? AND reference_unix_ns IS NOT NULL ORDER BY first_n",
            arguments: [stream.id.rawValue]
        ).map(TimeSegment.init)
        return StreamContents(
            id: stream.id, position: stream.position, description: stream.description, firstN: sums?.number("first_n"),
            lastN: sums?.number("last_n"), rowCount: sums?.number("rows") ?? 0, gaps: gaps, segments: segments,
            lossDetection: sums?["loss_detection"] ?? LossDetection.nothing.rawValue,
            chainHeads: try ChainEnd.all(of: stream.id.rawValue, in: db).mapValues(\.digest),
            epochs: try Row.fetchAll(
                db, sql: "SELECT first_n, first_index FROM epoch WHERE stream_id = ? ORDER BY first_n",
                arguments: [stream.id.rawValue]
            ).map { EpochContents(firstN: $0.number("first_n") ?? 0, firstIndex: $0.number("first_index") ?? 0) })
    }
}

extension TimeSegment {
    /// A row of the view `segment_time` that has a time.
    init(_ row: Row) {
        self.init(
            firstN: row.number("first_n") ?? 0, lastN: row.number("last_n") ?? 0, referenceN: row.number("reference_n") ?? 0,
            referenceUnixNanoseconds: row.nanoseconds("reference_unix_ns") ?? 0, periodNanoseconds: row["period_ns"],
            hostBoot: row["host_boot_id"], uncertaintyNanoseconds: row["uncertainty_ns"])
    }
}
