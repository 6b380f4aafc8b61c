import GRDB

/// A database that is written from what a centre has of one recording: the same tables and views as an export of the recording
/// has, in one file without a write-ahead log, not synchronised to the disk.
///
/// Small tables first, then samples, then ``finish()``. Whoever writes it removes the file after an error.
package final class FetchedDatabase {
    private let path: String
    private let queue: DatabaseQueue

    /// Creates the tables.
    ///
    /// - Parameter path: a file that does not exist yet, or is empty.
    /// - Throws: ``StorageError``, such as `directoryMissing`, `diskFull`.
    package init(path: String) throws(StorageError) {
        try DatabaseOpening.checkDirectory(of: path)
        self.path = path
        do {
            queue = try RecordingExport.newDatabase(at: path)
        } catch {
            throw StorageError(error, path: path)
        }
    }

    /// Inserts rows of small tables, those that others refer to first.
    ///
    /// - Throws: ``StorageError/constraint(detail:)`` where rows contradict each other.
    package func insert(_ tables: [FetchedTable]) throws(StorageError) {
        try write { db in
            for table in tables {
                // A cause that this version does not know comes with its meaning; the others are there.
                // A trigger has declared channels as they are corrected.
                let verbs = ["gap_cause": "INSERT OR IGNORE", "channel_declaration": "INSERT OR REPLACE"]
                let verb = verbs[table.name] ?? "INSERT"
                let marks = Array(repeating: "?", count: table.columns.count).joined(separator: ", ")
                let statement = try db.makeStatement(
                    sql: "\(verb) INTO \(table.name) (\(table.columns.joined(separator: ", "))) VALUES (\(marks))")
                for row in table.rows { try statement.execute(arguments: StatementArguments(row.map(\.databaseValue))) }
            }
        }
    }

    /// The columns of a table, with their types: `INTEGER`, `REAL`, `TEXT` or `BLOB`.
    package func columns(of table: CarriedTable) throws(StorageError) -> [(name: String, type: String)] {
        do {
            return try queue.read { db in
                try db.columns(in: table.name).map { ($0.name, $0.type.uppercased()) }
            }
        } catch {
            throw StorageError(error, path: path)
        }
    }

    /// Inserts samples.
    ///
    /// - Throws: ``StorageError/constraint(detail:)`` where a sample is there already.
    package func insert(_ pieces: [SamplePiece], of stream: StreamID) throws(StorageError) {
        try write { db in
            let samples = SampleInsertion(db: db)
            for piece in pieces { try samples.insert(SampleRows(piece, of: stream)) }
        }
    }

    /// Gives samples the values that came late. A sample may have its value already, where it was sent with it.
    ///
    /// - Throws: ``StorageError/constraint(detail:)`` where a sample is not there, or has another value.
    package func fill(_ patches: [SamplePatch], of stream: StreamID) throws(StorageError) {
        try write { db in
            for patch in patches {
                guard (1...8).contains(patch.channel) else {
                    throw StorageError.constraint(detail: "there is no channel \(patch.channel) (stream \(stream.rawValue))")
                }
                let column = "c\(patch.channel)"
                let statement = try db.cachedStatement(
                    sql: """
                        UPDATE sample SET \(column) = ?1 WHERE stream_id = ?2 AND n = ?3
                            AND (\(column) IS NULL OR \(column) = ?1)
                        """)
                for (index, value) in patch.values.enumerated() {
                    guard let value else { continue }
                    let n = patch.firstN + Int64(index)
                    try statement.execute(arguments: [value, stream.rawValue, n])
                    if db.changesCount == 1 { continue }
                    throw StorageError.constraint(
                        detail: "channel \(patch.channel) of row \(n) of stream \(stream.rawValue) is another one, or the row "
                            + "is not there")
                }
            }
        }
    }

    /// Writes the sums of digests and the views, and closes the file.
    package func finish() throws(StorageError) {
        try write { db in
            for table in DigestedTable.all { try table.writeSums(in: db) }
            try StreamView.createAll(in: db)
        }
        do {
            try queue.close()
        } catch {
            throw StorageError(error, path: path)
        }
    }

    private func write(_ body: (Database) throws -> Void) throws(StorageError) {
        do {
            try queue.write(body)
        } catch {
            throw StorageError(error, path: path)
        }
    }
}

extension SampleRows {
    /// The samples of a piece, row after row.
    fileprivate init(_ piece: SamplePiece, of stream: StreamID) {
        let (rowCount, channelCount) = (piece.rowCount, piece.channels.count)
        var values = [Int32](repeating: 0, count: rowCount * channelCount)
        var missing = [UInt8](repeating: 0, count: rowCount)
        for (channel, column) in piece.channels.enumerated() {
            for (row, value) in column.enumerated() {
                if let value { values[row * channelCount + channel] = value } else { missing[row] |= 1 << UInt8(channel) }
            }
        }
        self.init(
            stream: stream, channelCount: channelCount, firstN: piece.firstN, values: values,
            missingChannels: missing.allSatisfy { $0 == 0 } ? [] : missing)
    }
}
