import Evidence
import GRDB

/// Everything of a recording that goes when it is deleted, as one digest: who has one with the same digest has all of it.
///
/// It is the sum of the digests of its rows, and so does not depend on their order. Of samples it has the last block of each
/// chain, whose own digest depends on all before; of a table that grows, up to which row it goes, and how many rows it has.
/// What stays when a recording is deleted, such as the history of connections, is none of it, nor is what goes by its age,
/// though the recording stays.
struct WholeRecording {
    private(set) var sum = DigestSum()

    /// Of what a centre has once a shipment was sent that is all that was left.
    init(_ shipment: RecordingShipment, in db: Database) throws {
        let series = shipment.series.filter { shipped in Self.growing.contains { $0.name == shipped.series.table } }
        try self.init(
            shipment.document, Dictionary(series.map { ($0.series, $0.after) }) { first, _ in first }, in: db)
    }

    /// Of what is in the database.
    init(_ recording: RecordingID, in db: Database) throws {
        let carried = try CarriedRows(of: recording, in: db)
        try self.init(
            try ShippingDocument.recording(recording, carried: carried, blocksFrom: [:], blockLimit: 0, in: db),
            try SeriesReader(carried, in: db).present(of: Self.growing), in: db)
    }

    private init(_ document: RecordingDocument, _ series: [RowSeries: RowSeries.State], in db: Database) throws {
        add(document.head)
        for table in document.tables where Self.goes(table.name) { add(table) }
        for stream in document.streams {
            add(stream.own)
            for table in stream.tables { add(table, of: stream.uuid) }
            let last = try Row.fetchAll(
                db,
                sql: """
                    SELECT chain, max(number) AS number, row_count, lower(hex(digest)) AS digest FROM block
                    WHERE stream_id = (SELECT id FROM stream WHERE uuid = ?) GROUP BY chain
                    """, arguments: [stream.uuid])
            for row in last { add("\(stream.uuid) block \(ShippingDocument.object(row))") }
        }
        for (series, state) in series where state.count > 0 {
            add("\(series.table) \(series.owner) \(series.part) \(state.last) \(state.count)")
        }
    }

    /// The tables that grow, as far as their rows go with the recording.
    private static let growing = CarriedTable.growing.filter { goes($0.name) }

    private static func goes(_ table: String) -> Bool {
        if HistoryTable.all.contains(where: { $0.name == table }) { return false }
        return OwnedRows.all.contains { $0.table == table } || OwnedRows.last.contains { $0.0 == table }
    }

    private mutating func add(_ table: RecordingDocument.Table, of stream: String = "") {
        for line in table.lines { add("\(stream) \(table.name) \(line.json)") }
    }

    private mutating func add(_ text: String) { sum.add(Digest(of: text)) }
}
