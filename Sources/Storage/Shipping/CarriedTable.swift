import GRDB

/// A table of which a centre keeps the rows as they are: the evidence of times, what was there before somebody corrected it,
/// and what reports of headset, link and signal.
package struct CarriedTable: Hashable, Sendable {
    /// To what of a recording a row belongs.
    enum Owner: Hashable, Sendable {
        case recording
        case stream
        case link
        case refit

        /// The column that says it; nil for the recording.
        var column: String? {
            switch self {
            case .recording: nil
            case .stream: "stream_id"
            case .link: "link_id"
            case .refit: "refit_id"
            }
        }
    }

    /// The table.
    package let name: String
    let owner: Owner
    /// What distinguishes a row from the other ones of its owner.
    let number: String
    /// And beside that; nil where it is enough.
    var part: String?
    /// Of a table that grows while it is recorded: which rows belong to the recording `?1`; nil for a small one, which is
    /// compared row by row.
    var growth: String?
    /// True where a row counts how often the same happened again, also while later rows are there.
    var isRepeated = false

    /// All of them, those that others refer to first.
    package static let all = small + growing

    /// Those whose rows may change, or go.
    static let small = [
        CarriedTable(name: "machine", owner: .recording, number: "id"),
        CarriedTable(name: "merged_machine", owner: .recording, number: "machine_id"),
        CarriedTable(name: "machine_boot", owner: .recording, number: "host_boot_id"),
        CarriedTable(name: "channel_declaration", owner: .stream, number: "number"),
        CarriedTable(name: "channel_correction", owner: .stream, number: "id"),
        CarriedTable(name: "refit", owner: .stream, number: "id"),
        CarriedTable(name: "replaced_segment", owner: .refit, number: "first_n"),
        CarriedTable(name: "undigested_rows", owner: .stream, number: "first_n"),
        CarriedTable(name: "headset_message", owner: .link, number: "number"),
        CarriedTable(name: "adoption", owner: .recording, number: "id"),
        CarriedTable(name: "recording_edit", owner: .recording, number: "id"),
    ]

    /// Those that grow: rows are added with higher numbers, and of those that are there only the last may change, and counts of
    /// what is repeated. Where rows of lower numbers came in between, by `eegsync merge`, their count shows it.
    static let growing: [CarriedTable] =
        [
            CarriedTable(name: "arrival", owner: .stream, number: "n", growth: ofRecording),
            CarriedTable(name: "signal_check", owner: .stream, number: "first_n", part: "channel", growth: ofRecording),
            CarriedTable(name: "merge_conflict", owner: .stream, number: "id", growth: ofRecording),
            CarriedTable(name: "impedance", owner: .recording, number: "id", growth: "t.recording_id = ?1"),
            CarriedTable(name: "streaming_return", owner: .recording, number: "id", growth: "t.recording_id = ?1"),
            CarriedTable(name: "process", owner: .recording, number: "id", growth: processes),
            CarriedTable(name: "suspension", owner: .recording, number: "id", growth: during("resumed_boottime_ns")),
            CarriedTable(name: "full_disk", owner: .recording, number: "id", growth: during("ended_boottime_ns")),
        ]
        + [
            ("status_report", "boottime_ns", false), ("connection_attempt", "began_boottime_ns", true),
            ("connection_event", "boottime_ns", true), ("link_quality", "boottime_ns", false),
            ("clock_observation", "boottime_ns", false),
        ].map { name, time, isRepeated -> CarriedTable in
            let rows = RecordingExport.duringRecording(time, id: "?1")
            // All rows of the headset are looked through now and then, by its index: those of others are not.
            let growth = isRepeated ? "t.headset_id = (SELECT headset_id FROM recording WHERE id = ?1) AND \(rows)" : rows
            return CarriedTable(name: name, owner: .recording, number: "id", growth: growth, isRepeated: isRepeated)
        }

    /// Of a table that grows: which rows a series of it has, beside a condition on their number; `?1` is the recording or the
    /// stream, `?3` the part.
    var ofSeries: String { (growth ?? "FALSE") + (part.map { " AND t.\($0) = ?3" } ?? "") }

    /// Of a table whose rows count repetitions: those before the number `?2` that have counted any.
    var repetitions: String {
        """
        SELECT t.\(number), t.count FROM \(name) AS t
        WHERE \(ofSeries) AND t.\(number) < ?2 AND t.count > 1 ORDER BY t.\(number)
        """
    }

    /// Rows of streams are asked for by their stream.
    private static let ofRecording = "t.stream_id = ?1"

    /// Of the machine, from the request on; until the end of the recording, where it has one.
    private static func during(_ time: String) -> String {
        """
        EXISTS (SELECT 1 FROM recording AS r WHERE r.id = ?1
            AND (t.host_boot_id, t.\(time)) >= (r.requested_host_boot_id, r.requested_boottime_ns)
            AND (r.stopped_host_boot_id IS NULL
                OR (t.host_boot_id, t.\(time)) <= (r.stopped_host_boot_id, r.stopped_boottime_ns)))
        """
    }

    /// From the one before, or in which the recording was requested, to the first one after it: that one shows how the one
    /// before it ended.
    private static let processes = """
        t.id >= coalesce((SELECT max(p.id) FROM process AS p JOIN recording AS r ON r.id = ?1
            WHERE (p.host_boot_id, p.started_boottime_ns) <= (r.requested_host_boot_id, r.requested_boottime_ns)), 0)
        AND t.id <= coalesce((SELECT min(p.id) FROM process AS p JOIN recording AS r ON r.id = ?1
            WHERE (p.host_boot_id, p.started_boottime_ns) > (r.stopped_host_boot_id, r.stopped_boottime_ns)), t.id)
        """
}

/// Makes rows of carried tables JSON: numbers that only this database has become UUIDs.
struct CarriedRows {
    let recording: RecordingID
    private let hostBoots: [Int64: String]
    private let streams: [Int64: String]
    private let links: [Int64: String]

    init(of recording: RecordingID, in db: Database) throws {
        func names(_ sql: String, _ arguments: StatementArguments = []) throws -> [Int64: String] {
            let rows = try SQLRequest<Row>(sql: sql, arguments: arguments, cached: true).fetchAll(db)
            return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
        }
        self.recording = recording
        hostBoots = try names("SELECT id, uuid FROM host_boot")
        streams = try names("SELECT id, uuid FROM stream WHERE recording_id = ?", [recording.rawValue])
        links = try names("SELECT id, uuid FROM link WHERE recording_id = ?", [recording.rawValue])
    }

    /// The small tables.
    func smallTables(in db: Database) throws -> [RecordingDocument.Table] {
        try CarriedTable.small.map { table in
            let condition = RecordingExport.condition(of: table.name)
            let rows = try Row.fetchAll(
                db, sql: "SELECT t.* FROM \(table.name) AS t WHERE \(condition)",
                arguments: condition.contains("?1") ? [recording.rawValue] : [])
            return RecordingDocument.Table(name: table.name, lines: rows.map { line($0, of: table) })
        }
    }

    /// A row, and what distinguishes it.
    func line(_ row: Row, of table: CarriedTable) -> RecordingDocument.Line {
        let members = [
            "\"owner\":\(ShippingDocument.quoted(owner(of: row, table)))", "\"number\":\(row[table.number] as Int64)",
            "\"part\":\(table.part.map { row[$0] as Int64 } ?? 0)",
        ].joined(separator: ",")
        return RecordingDocument.Line(key: "{\(members)}", json: "{\(members),\"row\":\(object(row))}")
    }

    private func owner(of row: Row, _ table: CarriedTable) -> String {
        guard let column = table.owner.column else { return "" }
        let key: Int64 = row[column]
        return switch table.owner {
        case .recording: ""
        case .stream: streams[key] ?? ""
        case .link: links[key] ?? ""
        case .refit: "\(key)"
        }
    }

    private func object(_ row: Row) -> String {
        var members: [String] = []
        for (name, value) in row {
            let key = Int64.fromDatabaseValue(value)
            let member: (String, String)? =
                switch name {
                case "recording_id", "headset_id": nil
                case "host_boot_id": ("host_boot", Self.text(key.flatMap { hostBoots[$0] }))
                case "stream_id": ("stream", Self.text(key.flatMap { streams[$0] }))
                case "link_id": ("link", Self.text(key.flatMap { links[$0] }))
                default: (name, Self.json(value))
                }
            if let member { members.append("\(ShippingDocument.quoted(member.0)):\(member.1)") }
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func text(_ text: String?) -> String { text.map { ShippingDocument.quoted($0) } ?? "null" }

    /// Bytes are hexadecimal digits.
    private static func json(_ value: DatabaseValue) -> String {
        guard case .blob(let bytes) = value.storage else { return ShippingDocument.json(value) }
        return "\"" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
    }
}
