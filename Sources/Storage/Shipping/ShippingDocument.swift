import Foundation
import GRDB

/// The rows of small tables as JSON, numbers with all their digits: SQLite's own functions of JSON write 15 of a real number.
enum ShippingDocument {
    /// Blocks that a document has: some 30 MB of memory, and 4 MB of JSON. Weeks without a network leave a hundred thousand.
    static let blockLimit = 20_000

    /// A JSON array of objects, one for each row.
    static func rows(_ sql: String, _ arguments: StatementArguments = [], in db: Database) throws -> String {
        let rows = try Row.fetchAll(db, sql: sql, arguments: arguments)
        return "[" + rows.map { object($0) }.joined(separator: ",") + "]"
    }

    /// A JSON object of a row; those columns whose names end with `:json` are JSON already.
    static func object(_ row: Row) -> String {
        "{"
            + row.map { name, value in
                if name.hasSuffix(":json"), let text = String.fromDatabaseValue(value) {
                    return "\(quoted(String(name.dropLast(5)))):\(text)"
                }
                return "\(quoted(name)):\(json(value))"
            }.joined(separator: ",") + "}"
    }

    static func json(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null, .blob: "null"
        case .int64(let integer): "\(integer)"
        case .double(let real): real.isFinite ? "\(real)" : "null"
        case .string(let text): quoted(text)
        }
    }

    /// A JSON string. PostgreSQL keeps no character 0.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\0": quoted += "\u{FFFD}"
            case _ where scalar.value < 32: quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// All host boots and their clocks.
    static func hostBoots(in db: Database) throws -> String {
        let boots = try Row.fetchAll(db, sql: "SELECT id, uuid FROM host_boot ORDER BY id")
        return "["
            + (try boots.map { boot in
                let offsets = try rows(
                    """
                    SELECT id, boottime_ns, offset_ns, step_ns, is_synchronised FROM clock_offset
                    WHERE host_boot_id = ? ORDER BY id
                    """, [boot[0] as Int64], in: db)
                return "{\"uuid\":\(quoted(boot[1])),\"clock_offset\":\(offsets)}"
            }).joined(separator: ",") + "]"
    }

    private static func boot(_ column: String) -> String {
        "(SELECT uuid FROM host_boot WHERE id = t.\(column)_id) AS \(column)"
    }

    /// A recording with its headset and all that belongs to it.
    ///
    /// - Parameters:
    ///   - carried: rows of the recording.
    ///   - blocksFrom: for each stream and chain, the block from which on digests are sent.
    ///   - blockLimit: of all streams together.
    static func recording(
        _ id: RecordingID, carried: CarriedRows, blocksFrom: [String: [String: Int64]], blockLimit: Int = Self.blockLimit,
        in db: Database
    ) throws -> RecordingDocument {
        let key: StatementArguments = [id.rawValue]
        func one(_ sql: String) throws -> String { try Row.fetchOne(db, sql: sql, arguments: key).map { object($0) } ?? "null" }
        let recording = try one(
            """
            SELECT id, uuid, desired_state, label, subject, task, \(boot("requested_host_boot")), requested_boottime_ns,
                \(boot("started_host_boot")), started_boottime_ns, \(boot("stop_requested_host_boot")),
                stop_requested_boottime_ns,
                \(boot("stopped_host_boot")), stopped_boottime_ns
            FROM recording AS t WHERE id = ?
            """)
        let headset = try one(
            """
            SELECT uuid, name, model, serial_number FROM headset WHERE id = (SELECT headset_id FROM recording WHERE id = ?)
            """)
        let details = try rows("SELECT * FROM recording_detail WHERE recording_id = ?", key, in: db)
        let properties = try rows("SELECT key, value FROM recording_property WHERE recording_id = ?", key, in: db)
        let annotations = try table(
            "annotation", by: ["uuid"],
            """
            SELECT uuid, \(boot("host_boot")), boottime_ns, duration_seconds, description, source,
                (SELECT uuid FROM stream WHERE id = t.stream_id) AS stream, n, device_ticks, code,
                (SELECT uuid FROM annotation WHERE id = t.replaces) AS replaces, \(boot("withdrawn_host_boot")),
                withdrawn_boottime_ns
            FROM annotation AS t WHERE recording_id = ? ORDER BY id
            """, key, in: db)
        let links = try table(
            "link", by: ["uuid"],
            """
            SELECT uuid, \(boot("host_boot")), began_boottime_ns, ended_boottime_ns,
                (SELECT facts FROM provenance WHERE id = t.provenance_id) AS "facts:json"
            FROM link AS t WHERE recording_id = ? ORDER BY id
            """, key, in: db)
        var streams: [RecordingDocument.Stream] = []
        var blocksLeft = blockLimit
        let own = try Row.fetchAll(db, sql: "SELECT id, uuid FROM stream WHERE recording_id = ? ORDER BY id", arguments: key)
        for row in own {
            let uuid: String = row[1]
            let stream = try stream(row[0], uuid, blocksFrom: blocksFrom[uuid] ?? [:], blockLimit: blocksLeft, in: db)
            blocksLeft -= stream.blocks.lines.count
            streams.append(stream)
        }
        let small = try carried.smallTables(in: db)
        return RecordingDocument(
            uuid: try String.fetchOne(db, sql: "SELECT uuid FROM recording WHERE id = ?", arguments: key) ?? "",
            head: "\"recording\":\(recording),\"headset\":\(headset),\"recording_detail\":\(details),"
                + "\"recording_property\":\(properties)", tables: [annotations, links] + small, streams: streams,
            hasAllBlocks: blocksLeft > 0)
    }

    /// The rows of a table, each with the columns that distinguish it.
    private static func table(
        _ name: String, by keys: [String], _ sql: String, _ arguments: StatementArguments, in db: Database
    ) throws -> RecordingDocument.Table {
        RecordingDocument.Table(
            name: name, lines: try Row.fetchAll(db, sql: sql, arguments: arguments).map { line($0, by: keys) })
    }

    private static func line(_ row: Row, by keys: [String]) -> RecordingDocument.Line {
        let members = keys.map { "\(quoted($0)):\(json(row[$0]))" }
        return RecordingDocument.Line(key: "{\(members.joined(separator: ","))}", json: object(row))
    }

    /// Blocks of both chains of a stream, each from one on; at most so many, in their order.
    private static func blocks(
        of stream: Int64, from: [String: Int64], limit: Int, in db: Database
    ) throws -> (table: RecordingDocument.Table, last: [BlockEnd]) {
        var table = RecordingDocument.Table(name: "block", lines: [])
        var last: [BlockEnd] = []
        for chain in ["late", "live"] {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT chain, number, channel, first_n, last_n, row_count, lower(hex(digest)) AS digest FROM block
                    WHERE stream_id = ?1 AND chain = ?2 AND number >= ?3 ORDER BY number LIMIT ?4
                    """, arguments: [stream, chain, from[chain] ?? 0, limit - table.lines.count])
            table.lines += rows.map { line($0, by: ["chain", "number"]) }
            if let row = rows.last {
                last.append(BlockEnd(chain: chain, number: row["number"], rowCount: row["row_count"]))
            }
        }
        return (table, last)
    }

    private static func stream(
        _ id: Int64, _ uuid: String, blocksFrom: [String: Int64], blockLimit: Int, in db: Database
    ) throws -> RecordingDocument.Stream {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT uuid, position, name, bank, sampling_frequency, samples_per_count, counter_modulus, channel_count,
                    view_name FROM stream WHERE id = ?
                """, arguments: [id])
        let parts: [(name: String, keys: [String], sql: String)] = [
            (
                "channel", ["number"],
                "SELECT number, name, type, unit, scale, \"offset\", raw_minimum, raw_maximum FROM channel AS t"
            ),
            (
                "epoch", ["number"],
                """
                SELECT number, boot_identifier, first_n, first_index, \(boot("host_boot")), boottime_ns FROM epoch AS t
                """
            ),
            (
                "segment", ["first_n"],
                """
                SELECT first_n, last_n, epoch, \(boot("host_boot")), reference_n, reference_boottime_ns, period_ns, residual_ns,
                    observation_count, uncertainty_ns FROM segment AS t
                """
            ),
            (
                "gap", ["channel", "first_n"],
                """
                SELECT first_n, channel, count, cause, (SELECT meaning FROM gap_cause WHERE cause = t.cause) AS meaning,
                    recovered, \(boot("host_boot")), boottime_ns, certainty, uncertainty FROM gap AS t
                """
            ),
            ("loss_detection", ["first_n"], "SELECT first_n, means FROM loss_detection AS t"),
        ]
        let tables = try parts.map { try table($0.name, by: $0.keys, $0.sql + " WHERE stream_id = ?", [id], in: db) }
        let blocks = try blocks(of: id, from: blocksFrom, limit: blockLimit, in: db)
        let own = row.map { object($0) } ?? "{}"
        return RecordingDocument.Stream(
            uuid: uuid, own: String(own.dropFirst().dropLast()), tables: tables, blocks: blocks.table, lastBlocks: blocks.last)
    }
}
