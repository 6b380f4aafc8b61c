import Storage

/// The temporary tables through which blocks of samples come to a centre: COPY writes into no table that rows are guarded in
/// (PostgreSQL 15, COPY, Notes), INSERT does.
enum PieceTable {
    private static let channels = 8
    private static let columns = (1...channels).map { "c\($0)" }.joined(separator: ", ")

    /// The statements that make them, for the session.
    static let creation = """
        CREATE TEMPORARY TABLE sample_block_copy (stream uuid, first_n bigint, row_count integer, \
        \((1...channels).map { "c\($0) integer[]" }.joined(separator: ", "))) ON COMMIT DELETE ROWS;
        CREATE TEMPORARY TABLE sample_patch_copy (stream uuid, channel integer, first_n bigint, values integer[]) \
        ON COMMIT DELETE ROWS
        """

    /// Sends the samples of a stream, within a transaction.
    static func send(_ stream: StreamShipment, through connection: CentreConnection) throws(CentreError) {
        if !stream.pieces.isEmpty {
            var copy = CopyStream()
            for piece in stream.pieces { append(piece, of: stream.uuid, to: &copy) }
            try connection.copy("COPY sample_block_copy FROM STDIN (FORMAT binary)", copy.bytes)
            try connection.execute(
                """
                INSERT INTO sample_block (stream, first_n, row_count, \(columns))
                SELECT stream, first_n, row_count, \(columns) FROM sample_block_copy;
                DELETE FROM sample_block_copy
                """)
        }
        guard !stream.patches.isEmpty else { return }
        var copy = CopyStream()
        for patch in stream.patches {
            copy.beginRow(fieldCount: 4)
            copy.append(uuid: stream.uuid)
            copy.append(integer: Int32(patch.channel))
            copy.append(bigint: patch.firstN)
            copy.append(integers: patch.values)
        }
        try connection.copy("COPY sample_patch_copy FROM STDIN (FORMAT binary)", copy.bytes)
        try connection.execute(
            """
            INSERT INTO sample_patch (stream, channel, first_n, values)
            SELECT stream, channel, first_n, values FROM sample_patch_copy;
            DELETE FROM sample_patch_copy
            """)
    }

    private static func append(_ piece: SamplePiece, of uuid: String, to copy: inout CopyStream) {
        copy.beginRow(fieldCount: 3 + channels)
        copy.append(uuid: uuid)
        copy.append(bigint: piece.firstN)
        copy.append(integer: Int32(piece.rowCount))
        for channel in 0..<channels {
            if channel < piece.channels.count { copy.append(integers: piece.channels[channel]) } else { copy.appendNull() }
        }
    }
}
