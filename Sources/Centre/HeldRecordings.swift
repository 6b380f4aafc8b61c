import Evidence
import Storage

/// What a centre holds of recordings of which everything was sent, by a digest of what it says of each: one answer, with a line
/// for each, says it of many.
struct HeldRecordings {
    /// A recording of which the centre has everything where it holds that.
    struct Whole: Hashable {
        var recording: RecordingID
        var uuid: String
        /// See ``RecordingShipment/whole``.
        var digest: DigestSum
        /// What is there of its streams, by their UUIDs, and of the tables that grow beside them.
        var streams: [String: ShippedState]
        var series: [RowSeries: RowSeries.State]
        /// That of what is said of it, see ``DocumentVersions``; nil where the centre counts none.
        var version: Int64?
        /// Whether all but samples was sent just now, so that it is there, though nothing that is asked for says so.
        var wasSentWhole: Bool

        /// True where the centre says nothing of a recording that is there: it has no sample, and no row of a table that grows.
        var isSilent: Bool { version == nil && series.isEmpty && streams.values.allSatisfy { $0 == ShippedState() } }

        /// What the centre's answer is a digest of.
        var text: String {
            func cell(_ number: Int64?) -> String { number.map { "\($0)" } ?? "" }
            let streams = streams.filter { $0.value != ShippedState() }.sorted { $0.key < $1.key }.map { uuid, state in
                [
                    uuid, cell(state.doneN), Multirange(state.heads).written, cell(state.late?.number),
                    cell(state.late?.rowCount),
                ].joined(separator: " ")
            }
            let series = series.sorted { Self.order($0.key) < Self.order($1.key) }.map { series, state in
                "\(series.table) \(series.owner) \(series.part) \(state.last) \(state.count) \(state.isComplete)"
            }
            return [streams.joined(separator: "\n"), series.joined(separator: "\n"), cell(version)].joined(separator: "\n\n")
        }

        private static func order(_ series: RowSeries) -> (String, String, Int64) { (series.table, series.owner, series.part) }
    }

    private let connection: CentreConnection
    /// See ``ShipmentTable/statesQuery``.
    private let statesQuery: String
    /// SQL that gives the version of the recording `r`.
    private let version: String

    init(_ connection: CentreConnection, _ table: ShipmentTable, hasVersions: Bool) {
        (self.connection, statesQuery) = (connection, table.statesQuery)
        version = hasVersions ? "ship_version(r.recording)" : "NULL::bigint"
    }

    /// Those recordings of which the centre does not hold what is supposed.
    func others(than wholes: [Whole]) throws(CentreError) -> [Whole] {
        if wholes.isEmpty { return [] }
        let streams = wholes.flatMap { whole in whole.streams.keys.map { (stream: $0, recording: whole.uuid) } }
        let rows = try connection.execute(
            query,
            [Self.array(wholes.map(\.uuid)), Self.array(streams.map(\.stream)), Self.array(streams.map(\.recording))])
        var digests: [String: String] = [:]
        for row in rows {
            if let recording = row[0], let digest = row[1] { digests[recording] = digest }
        }
        return wholes.filter { digests[$0.uuid] != Digest(of: $0.text).hexadecimal }
    }

    /// UUIDs as the server reads an array.
    private static func array(_ uuids: [String]) -> String { "{\(uuids.joined(separator: ","))}" }

    /// Of each recording `$1` the digest of what ``Whole/text`` says; `$2` are streams, `$3` their recordings. Texts are in the
    /// order of their bytes, whatever the database's collation.
    private var query: String {
        """
        WITH held AS MATERIALIZED (
            SELECT w.recording, string_agg(concat(s.stream, ' ', s.done_n, ' ', s.heads, ' ', s.late_number, ' ',
                s.late_row_count), E'\n' ORDER BY s.stream) AS text
            FROM unnest($2::uuid[], $3::uuid[]) AS w (stream, recording) JOIN (\(statesQuery)) AS s ON s.stream = w.stream
            WHERE s.done_n IS NOT NULL OR s.heads <> '{}' OR s.late_number IS NOT NULL OR s.late_row_count IS NOT NULL
            GROUP BY w.recording)
        SELECT r.recording, encode(sha256(convert_to(concat(h.text, E'\n\n', (
            SELECT string_agg(concat(q.table_name, ' ', q.owner, ' ', q.part, ' ', q.last_number, ' ', q.row_count, ' ',
                q.is_complete::text), E'\n' ORDER BY q.table_name COLLATE "C", q.owner COLLATE "C", q.part)
            FROM ship_series(r.recording) AS q), E'\n\n', \(version)), 'UTF8')), 'hex')
        FROM unnest($1::uuid[]) AS r (recording) LEFT JOIN held AS h ON h.recording = r.recording
        """
    }
}
