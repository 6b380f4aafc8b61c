import Storage

/// Brings one recording back from a centre into a database of its own.
package struct RecordingFetch {
    private let connection: CentreConnection
    /// Blocks that are read at a time: at most 65,536 rows.
    private static let blockLimit = 16
    /// What the server may take for a statement; its result is sent within it, over a slow line, too.
    package static let statementSeconds: Int32 = 3600

    package init(_ connection: CentreConnection) { self.connection = connection }

    /// The numbers, at the centre, of all recordings that this role may read and that fit; ascending. What is nil is not asked
    /// for.
    ///
    /// - Parameter since: UTC in nanoseconds since 1970, from which on they began.
    /// - Throws: ``CentreError``, `absent` where there is none.
    package func numbers(
        subject: String?, task: String?, label: String?, since: Int64?
    ) throws(CentreError) -> [Int64] {
        let rows = try connection.execute(
            """
            SELECT r.id FROM recording AS r
            WHERE ($1::text IS NULL OR r.subject = $1) AND ($2::text IS NULL OR r.task = $2)
                AND ($3::text IS NULL OR r.label = $3)
                AND ($4::bigint IS NULL
                    OR (SELECT start_unix_ns FROM recording_overview WHERE recording_id = r.id) >= $4::bigint)
            ORDER BY r.id
            """, [subject, task, label, since.map { "\($0)" }])
        let numbers = rows.compactMap { $0[0].flatMap { Int64($0) } }
        guard !numbers.isEmpty else { throw .absent(what: "recording that fits what was asked for") }
        return numbers
    }

    /// Writes a recording, as it is at the centre at one instant. One that goes on is written as far as it is.
    ///
    /// Whether what was written is what was recorded, an audit of the file says.
    ///
    /// - Parameters:
    ///   - name: the recording's UUID, or its number at the centre.
    ///   - path: a file that does not exist yet, or is empty; after an error the caller removes it.
    ///   - progress: gets how many rows are written, and how many there are.
    /// - Throws: ``CentreError``, `StorageError`.
    package func write(
        _ name: String, to path: String, progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws -> CentreRecording {
        try connection.inSnapshot {
            let recording = try CentreRecording(name, through: connection)
            try recording.requireWhole()
            let keepsRows = try CentreSchema(connection).keepsRows()
            if keepsRows { try requireWholeSeries(of: recording) }
            let reader = try FetchedTables(recording, through: connection)
            let tables = try reader.read()
            do {
                let database = try FetchedDatabase(path: path)
                try database.insert(tables)
                if keepsRows {
                    for table in CarriedTable.all {
                        try reader.forEachPart(of: table, columns: try database.columns(of: table)) {
                            try database.insert([$0])
                        }
                    }
                }
                var done: Int64 = 0
                for (index, stream) in recording.streams.enumerated() {
                    let key = StreamID(rawValue: Int64(index + 1))
                    try forEachPiece(of: stream) { pieces in
                        try database.insert(pieces, of: key)
                        done += pieces.reduce(0) { $0 + Int64($1.rowCount) }
                        progress(done, recording.rows)
                    }
                    try database.fill(try patches(of: stream), of: key)
                }
                try database.finish()
            } catch StorageError.constraint(let detail) {
                throw CentreError.contradiction(detail: detail)
            }
            return recording
        }
    }

    /// Throws where rows of a table that grows beside the samples are still to come.
    private func requireWholeSeries(of recording: CentreRecording) throws(CentreError) {
        let series = try connection.execute(
            """
            SELECT table_name, sum(row_count) FROM recording_series WHERE recording_id = $1::bigint AND NOT is_complete
            GROUP BY table_name ORDER BY table_name LIMIT 1
            """, [recording.key])
        if let row = series.first, let table = row[0], let count = row[1] {
            throw .incomplete(detail: "it has \(count) rows of \(table), and more are still to come")
        }
    }

    /// Which n there may be: sums of such fit.
    private static let numbers: ClosedRange<Int64> = -(1 << 52)...1 << 52

    /// Reads the blocks of a stream in the order of their n.
    private func forEachPiece(of stream: CentreRecording.Stream, _ body: ([SamplePiece]) throws -> Void) throws {
        let arrays = (1...stream.channelCount).map { "c\($0)" }.joined(separator: ", ")
        var last = Int64.min
        while true {
            var pieces: [SamplePiece] = []
            try connection.forEachRow(
                """
                SELECT first_n, row_count::bigint, \(arrays) FROM sample_block
                WHERE stream = $1::uuid AND first_n > $2::bigint ORDER BY first_n LIMIT \(Self.blockLimit)
                """, [stream.uuid, "\(last)"]
            ) { row throws(CentreError) in
                let (first, count) = (try row.bigint(0), try row.bigint(1))
                guard Self.numbers.contains(first) else {
                    throw .contradiction(detail: "a block of \(stream.name) begins at \(first), which no recording comes to")
                }
                var channels: [[Int32?]] = []
                for channel in 0..<stream.channelCount {
                    guard let values = try row.integers(Int32(channel + 2)), values.count == count else {
                        throw .contradiction(
                            detail: "the block at \(first) of \(stream.name) has not \(count) values of channel \(channel + 1)")
                    }
                    channels.append(values)
                }
                pieces.append(SamplePiece(firstN: first, channels: channels))
                last = first
            }
            if pieces.isEmpty { return }
            try body(pieces)
        }
    }

    private func patches(of stream: CentreRecording.Stream) throws(CentreError) -> [SamplePatch] {
        var patches: [SamplePatch] = []
        try connection.forEachRow(
            """
            SELECT channel::bigint, first_n, values FROM sample_patch WHERE stream = $1::uuid ORDER BY first_n, channel
            """, [stream.uuid]
        ) { row throws(CentreError) in
            let first = try row.bigint(1)
            guard Self.numbers.contains(first) else {
                throw .contradiction(detail: "late values of \(stream.name) begin at \(first), which no recording comes to")
            }
            patches.append(
                SamplePatch(channel: Int(try row.bigint(0)), firstN: first, values: try row.integers(2) ?? []))
        }
        return patches
    }
}
