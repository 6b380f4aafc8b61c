import Foundation
import GRDB

/// What a centre is sent. Everything of one call is of one snapshot.
extension Store {
    /// The recordings that are this machine's to send, in the order in which they were asked for: not those that are deleted,
    /// not those from before the database was copied to another machine, and not those that came from another database.
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
                    ORDER BY r.id
                    """
            ).map(RecordingID.init)
        }
    }

    /// All host boots and their clocks, as JSON for the function `ship_host_boots` of a centre.
    package func hostBootDocument() throws(StorageError) -> String {
        try database.read { db in try ShippingDocument.hostBoots(in: db) }
    }

    /// What is to be sent of a recording next.
    ///
    /// - Parameters:
    ///   - states: what is at the centre, by the stream's UUID.
    ///   - blocksFrom: by the stream's UUID and chain, the block from which on digests are sent.
    ///   - series: what is at the centre of the tables that grow beside the samples; nil where it takes none of them.
    ///   - rowLimit: rows of each stream, of the newest and of older ones each.
    package func shipment(
        of recording: RecordingID, states: [String: ShippedState], blocksFrom: [String: [String: Int64]],
        series: [RowSeries: RowSeries.State]?, rowLimit: Int
    ) throws(StorageError) -> RecordingShipment {
        try database.read { db in
            let streams = try Row.fetchAll(
                db,
                sql: "SELECT id, uuid, sampling_frequency, channel_count FROM stream WHERE recording_id = ? ORDER BY id",
                arguments: [recording.rawValue])
            let own = try Row.fetchOne(
                db, sql: "SELECT uuid, stopped_host_boot_id IS NOT NULL FROM recording WHERE id = ?",
                arguments: [recording.rawValue])
            guard let own else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
            let carried = try CarriedRows(of: recording, in: db)
            return RecordingShipment(
                recording: recording, uuid: own[0],
                document: try ShippingDocument.recording(recording, carried: carried, blocksFrom: blocksFrom, in: db),
                streams: try streams.map { row in
                    try ShipmentReader(row, rowLimit: rowLimit, in: db).shipment(after: states[row["uuid"]] ?? ShippedState())
                }, series: try series.map { try SeriesReader(carried, in: db).shipments(after: $0) } ?? [], isEnded: own[1])
        }
    }

    /// Why what a centre has of a stream cannot have come from this database; nil where it can.
    ///
    /// - Parameters:
    ///   - uuid: of the stream.
    ///   - heads: the last block of each chain there.
    package func divergence(
        of uuid: String, from heads: [(end: BlockEnd, digest: String)], _ state: ShippedState
    ) throws(StorageError) -> String? {
        try database.read { db in
            guard let stream = try Int64.fetchOne(db, sql: "SELECT id FROM stream WHERE uuid = ?", arguments: [uuid]) else {
                return nil
            }
            for head in heads {
                let own = try Row.fetchOne(
                    db, sql: "SELECT row_count, lower(hex(digest)) FROM block WHERE stream_id = ? AND chain = ? AND number = ?",
                    arguments: [stream, head.end.chain, head.end.number])
                let rows = own.map { $0[0] as Int64 } ?? 0
                if rows < head.end.rowCount {
                    return "the centre has more of its \(head.end.chain) rows than this database"
                }
                if rows == head.end.rowCount, own?[1] != head.digest {
                    return "block \(head.end.number) of its \(head.end.chain) rows is another one at the centre"
                }
            }
            let last = try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [stream])
            if let there = state.head?.upperBound ?? state.doneN, there > last ?? Int64.min {
                return "the centre has more of its rows than this database"
            }
            return nil
        }
    }
}
