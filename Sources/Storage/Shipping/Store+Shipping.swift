import Evidence
import GRDB

/// What a centre is sent. Everything of one call is of one snapshot.
extension Store {
    /// The recordings that are this machine's to send, those that go on first, and else in the order in which they were asked
    /// for: not those that are deleted, not those from before the database was copied to another machine, and not those that
    /// came from another database.
    package func shippableRecordings() throws(StorageError) -> [RecordingID] {
        try database.read { db in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM recording AS r
                    LEFT JOIN machine_boot AS b ON b.host_boot_id = r.requested_host_boot_id
                    WHERE r.id NOT IN (SELECT recording_id FROM deletion)
                        AND r.id NOT IN (SELECT recording_id FROM merged_recording)
                        AND coalesce(b.machine_id, (SELECT min(id) FROM machine), 0)
                            >= (SELECT coalesce(max(id), 0) FROM machine WHERE origin = 'copied')
                    ORDER BY r.stopped_host_boot_id IS NOT NULL, r.id
                    """
            ).map(RecordingID.init)
        }
    }

    /// All host boots and their clocks, as JSON for the function `ship_host_boots` of a centre.
    package func hostBootDocument() throws(StorageError) -> String {
        try database.read { db in try ShippingDocument.hostBoots(in: db) }
    }

    /// What is to be sent of a recording next. Of one with very many blocks that the centre does not have, these come first, a
    /// part after the other.
    ///
    /// - Parameters:
    ///   - states: what is at the centre, by the stream's UUID.
    ///   - blocksFrom: by the stream's UUID and chain, the block from which on digests are sent.
    ///   - series: what is at the centre of the tables that grow beside the samples; nil where it takes none of them.
    ///   - rowLimit: rows of each stream, of the newest and of older ones each.
    ///   - headLimit: how many ranges of a stream the centre may have that were sent before older rows.
    ///   - blockLimit: blocks of all streams.
    /// - Throws: `notFound` where it is not there any more, or is being deleted: what is gone of it here stays at the centre.
    package func shipment(
        of recording: RecordingID, states: [String: ShippedState], blocksFrom: [String: [String: Int64]],
        series: [RowSeries: RowSeries.State]?, rowLimit: Int, headLimit: Int = ShippedState.headLimit, blockLimit: Int? = nil
    ) throws(StorageError) -> RecordingShipment {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            let streams = try Row.fetchAll(
                db,
                sql: "SELECT id, uuid, sampling_frequency, channel_count FROM stream WHERE recording_id = ? ORDER BY id",
                arguments: [recording.rawValue])
            let own = try Row.fetchOne(
                db, sql: "SELECT uuid, stopped_host_boot_id IS NOT NULL FROM recording WHERE id = ?",
                arguments: [recording.rawValue])
            guard let own else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
            let carried = try CarriedRows(of: recording, in: db)
            let document = try ShippingDocument.recording(
                recording, carried: carried, blocksFrom: blocksFrom, blockLimit: blockLimit ?? ShippingDocument.blockLimit,
                in: db)
            var shipment = RecordingShipment(
                recording: recording, uuid: own[0], document: document,
                streams: try streams.map { row in
                    let reader = ShipmentReader(row, rowLimit: rowLimit, headLimit: headLimit, in: db)
                    let before = states[row["uuid"]] ?? ShippedState()
                    var stream = try document.hasAllBlocks ? reader.shipment(after: before) : reader.waiting(after: before)
                    stream.lastBlocks = document.streams.first { $0.uuid == stream.uuid }?.lastBlocks ?? []
                    return stream
                },
                series: try series.map { try SeriesReader(carried, in: db).shipments(after: $0, isEnded: own[1]) } ?? [],
                isEnded: own[1])
            // A centre that takes no rows of tables that grow has no whole recording.
            let hasBacklog = shipment.streams.contains { $0.after.hasBacklog }
            if series != nil, shipment.isEnded, shipment.isComplete, !hasBacklog {
                shipment.whole = try WholeRecording(shipment, in: db).sum
            }
            return shipment
        }
    }

    /// A number that changes whenever somebody else has changed the database: nothing need be read before.
    package func changeNumber() throws(StorageError) -> Int64 { try database.dataVersion() }

    /// Up to which block of each chain a centre has a stream where it says that it has so much; nil where the stream is not
    /// here, or is being deleted.
    package func confirmed(
        _ state: ShippedState, of uuid: String
    ) throws(StorageError) -> (stream: StreamID, ends: [BlockEnd])? {
        try database.read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT id, uuid, sampling_frequency, channel_count FROM stream
                    WHERE uuid = ? AND recording_id NOT IN (SELECT recording_id FROM deletion)
                    """, arguments: [uuid])
            guard let row else { return nil }
            let reader = ShipmentReader(row, rowLimit: 1, headLimit: 1, in: db)
            return (stream: reader.stream, ends: try reader.confirmed(state))
        }
    }

    /// The UUIDs of the streams of a recording; none where it is not there.
    package func streamIdentities(of recording: RecordingID) throws(StorageError) -> [String] {
        try database.read { db in
            try String.fetchAll(db, sql: "SELECT uuid FROM stream WHERE recording_id = ?", arguments: [recording.rawValue])
        }
    }

    /// Why what a centre has of a stream cannot have come from this database; nil where it can.
    ///
    /// - Parameters:
    ///   - uuid: of the stream.
    ///   - heads: the last block of each chain there.
    ///   - state: nil for what nobody sends.
    package func divergence(
        of uuid: String, from heads: [(end: BlockEnd, digest: String)], _ state: ShippedState?
    ) throws(StorageError) -> String? {
        try database.read { db in
            let found = try Int64.fetchOne(
                db,
                sql: """
                    SELECT id FROM stream WHERE uuid = ? AND recording_id NOT IN (SELECT recording_id FROM deletion)
                    """, arguments: [uuid])
            guard let stream = found else { return nil }
            guard let state, heads.allSatisfy({ $0.end.rowCount >= 0 }) else {
                return "what the centre says it has of its rows has not come from eegsync"
            }
            for head in heads {
                let own = try Row.fetchOne(
                    db, sql: "SELECT row_count, lower(hex(digest)) FROM block WHERE stream_id = ? AND chain = ? AND number = ?",
                    arguments: [stream, head.end.chain, head.end.number])
                let rows = own.map { $0[0] as Int64 } ?? 0
                if rows < head.end.rowCount {
                    return "the centre has more of its \(head.end.chain) rows than this database"
                }
                // The last block there has grown here since: its first rows are those that are there.
                var digest = own.map { $0[1] as String }
                if rows > head.end.rowCount {
                    let beginning = BlockBeginning(stream: stream, chain: head.end.chain, number: Int(head.end.number))
                    digest = try beginning.digest(rows: Int(head.end.rowCount), in: db)?.hexadecimal
                }
                if digest != head.digest {
                    return "block \(head.end.number) of its \(head.end.chain) rows is another one at the centre"
                }
            }
            let last = try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [stream])
            if let there = state.newestN, there > last ?? Int64.min {
                return "the centre has more of its rows than this database"
            }
            return nil
        }
    }
}
