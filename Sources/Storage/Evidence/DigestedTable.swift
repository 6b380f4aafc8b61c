import Evidence
import Foundation
import GRDB

/// A table whose rows say what samples mean. The sum of their digests is kept in `digest_sum`, by the connections of this
/// program: what another one writes is not in it, and is found.
struct DigestedTable: Sendable {
    let name: String
    /// Of which rows there is one sum.
    let owner: Owner
    /// What is digested, in this order. A further column is no part of it, unless a migration says so.
    let columns: [String]
    /// Which rows are digested; `row` is the row.
    var condition: String?

    /// What the rows of one sum have in common: a column.
    enum Owner: Hashable, Sendable {
        /// They are all rows of the table.
        case table
        case hostBoot
        case headset(column: String)
        case recording(column: String)
        case stream
        case refit
        case link

        var column: String? {
            switch self {
            case .table: nil
            case .hostBoot: "host_boot_id"
            case .headset(let column), .recording(let column): column
            case .stream: "stream_id"
            case .refit: "refit_id"
            case .link: "link_id"
            }
        }
    }

    /// Everything that the times, the numbers, the units and the gaps of samples follow from.
    static let all = [
        DigestedTable(name: "host_boot", owner: .table, columns: ["id", "uuid"]),
        DigestedTable(
            name: "clock_offset", owner: .hostBoot,
            columns: ["id", "boottime_ns", "offset_ns", "step_ns", "is_synchronised"]),
        DigestedTable(name: "headset", owner: .headset(column: "id"), columns: ["name", "model", "serial_number"]),
        DigestedTable(
            name: "recording", owner: .recording(column: "id"),
            columns: [
                "headset_id", "desired_state", "label", "subject", "task", "requested_host_boot_id", "requested_boottime_ns",
                "started_host_boot_id", "started_boottime_ns", "stop_requested_host_boot_id", "stop_requested_boottime_ns",
                "stopped_host_boot_id", "stopped_boottime_ns",
            ]),
        DigestedTable(
            name: "stream", owner: .recording(column: "recording_id"),
            columns: [
                "id", "position", "name", "bank", "sampling_frequency", "samples_per_count", "counter_modulus", "channel_count",
                "view_name", "uuid",
            ]),
        // Names, units, scales and offsets are checked against the declaration and the corrections.
        DigestedTable(name: "channel", owner: .stream, columns: ["number", "type", "raw_minimum", "raw_maximum"]),
        DigestedTable(
            name: "channel_declaration", owner: .stream, columns: ["number", "name", "unit", "scale", "\"offset\""]),
        DigestedTable(
            name: "epoch", owner: .stream,
            columns: ["number", "boot_identifier", "first_n", "first_index", "host_boot_id", "boottime_ns"]),
        DigestedTable(name: "segment", owner: .stream, columns: segmentColumns),
        DigestedTable(
            name: "gap", owner: .stream,
            columns: [
                "first_n", "channel", "count", "cause", "recovered", "host_boot_id", "boottime_ns", "certainty", "uncertainty",
            ]),
        DigestedTable(name: "loss_detection", owner: .stream, columns: ["first_n", "means"]),
        DigestedTable(name: "arrival", owner: .stream, columns: ["n", "boottime_ns", "device_ticks"]),
        DigestedTable(
            name: "refit", owner: .stream,
            columns: ["id", "host_boot_id", "boottime_ns", "version", "evidence_count", "shift_max_ns", "shift_mean_ns"]),
        DigestedTable(name: "replaced_segment", owner: .refit, columns: segmentColumns),
        DigestedTable(
            name: "annotation", owner: .recording(column: "recording_id"),
            columns: [
                "id", "host_boot_id", "boottime_ns", "duration_seconds", "description", "source", "stream_id", "n",
                "device_ticks", "code", "replaces", "withdrawn_host_boot_id", "withdrawn_boottime_ns",
            ],
            condition: "row.source <> 'sql'"),
        DigestedTable(
            name: "clock_observation", owner: .headset(column: "headset_id"),
            columns: ["id", "boot_identifier", "device_ticks", "tick_frequency", "host_boot_id", "boottime_ns"]),
        DigestedTable(name: "undigested_rows", owner: .stream, columns: ["first_n", "last_n"]),
        DigestedTable(
            name: "machine", owner: .table,
            columns: ["id", "uuid", "board", "installation", "origin", "host_boot_id", "boottime_ns"]),
        DigestedTable(name: "machine_boot", owner: .table, columns: ["host_boot_id", "machine_id"]),
        DigestedTable(name: "provenance", owner: .table, columns: ["id", "facts"]),
        DigestedTable(
            name: "link", owner: .recording(column: "recording_id"),
            columns: ["id", "headset_id", "host_boot_id", "began_boottime_ns", "ended_boottime_ns", "provenance_id"]),
        DigestedTable(
            name: "recording_detail", owner: .recording(column: "recording_id"),
            columns: [
                "session", "run", "operator", "notes", "time_zone", "subject_name", "subject_sex", "subject_birthdate",
                "subject_handedness",
            ]),
        DigestedTable(name: "recording_property", owner: .recording(column: "recording_id"), columns: ["key", "value"]),
        DigestedTable(
            name: "recording_edit", owner: .recording(column: "recording_id"),
            columns: ["id", "field", "before", "after", "host_boot_id", "boottime_ns"]),
        DigestedTable(
            name: "deletion", owner: .table,
            columns: [
                "id", "recording_id", "means", "requested_by", "host_boot_id", "boottime_ns", "headset_id", "row_count",
                "start_unix_ns", "end_unix_ns", "is_complete",
            ]),
        DigestedTable(name: "deleted_stream", owner: .table, columns: ["stream_id", "deletion_id", "uuid"]),
        DigestedTable(
            name: "headset_message", owner: .link,
            columns: [
                "number", "kind", "text", "bytes", "count", "byte_count", "host_boot_id", "first_boottime_ns",
                "last_boottime_ns",
            ]),
    ]

    private static let segmentColumns = [
        "first_n", "last_n", "epoch", "host_boot_id", "reference_n", "reference_boottime_ns", "period_ns", "residual_ns",
        "observation_count", "uncertainty_ns",
    ]

    // MARK: Keeping the sums

    /// Has a connection keep the sums from now on: triggers of its own, which no other program has.
    static func keepSums(in db: Database) throws {
        try RowDigestFunctions.add(to: db)
        for table in all { try db.execute(sql: table.triggers) }
    }

    private var triggers: String {
        func text(_ event: String, _ row: String, _ statement: String) -> String {
            let condition = condition.map { "WHEN \($0.replacing("row.", with: row + ".")) " } ?? ""
            return """
                CREATE TEMP TRIGGER digest_\(name)_\(event) AFTER \(event.uppercased()) ON main.\(name) \(condition)BEGIN
                    \(statement);
                END;
                """
        }
        let owned = "WHERE table_name = '\(name)' AND owner_id ="
        return [
            text(
                "insert", "NEW",
                """
                INSERT INTO digest_sum (table_name, owner_id, row_count, sum)
                VALUES ('\(name)', \(ownerColumn(of: "NEW")), 1, \(digest(of: "NEW")))
                ON CONFLICT (table_name, owner_id) DO UPDATE
                SET row_count = row_count + 1, sum = digest_sum_with(sum, excluded.sum)
                """),
            text(
                "update", "NEW",
                """
                UPDATE digest_sum SET sum = digest_sum_changed(sum, '\(name)', \(values(of: "OLD")), \(values(of: "NEW")))
                \(owned) \(ownerColumn(of: "OLD"))
                """),
            text(
                "delete", "OLD",
                """
                UPDATE digest_sum SET row_count = row_count - 1, sum = digest_sum_without(sum, \(digest(of: "OLD")))
                \(owned) \(ownerColumn(of: "OLD"))
                """),
        ].joined(separator: "\n")
    }

    private func digest(of row: String) -> String { "row_digest('\(name)', \(values(of: row)))" }

    private func values(of row: String) -> String { columns.map { column($0, of: row) }.joined(separator: ", ") }

    private func column(_ column: String, of row: String) -> String { "\(row).\(column)" }

    private func ownerColumn(of row: String) -> String { owner.column.map { column($0, of: row) } ?? "0" }

    // MARK: Computing the sums

    /// The sums of the rows that are there, by owner.
    ///
    /// - Parameter recording: whose rows are wanted, and those of all recordings; nil for all.
    func sums(of recording: Int64? = nil, in db: Database) throws -> [Int64: OwnedSum] {
        let conditions = [condition, ownerCondition(of: "row")].compactMap(\.self).joined(separator: " AND ")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(ownerColumn(of: "row")), \(columns.map { column($0, of: "row") }.joined(separator: ", "))
                FROM \(name) AS row WHERE \(conditions)
                """, arguments: [recording])
        var sums: [Int64: OwnedSum] = [:]
        while let row = try rows.next() {
            let values = row.databaseValues
            // A damaged page may lack what the schema demands.
            guard let owner = Int64.fromDatabaseValue(row[0]) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table \(name) has a row of nobody's")
            }
            sums[owner, default: OwnedSum()].add(RowDigestFunctions.digest(table: name, of: values.dropFirst()))
        }
        return sums
    }

    /// The sums that were kept, by owner.
    func keptSums(of recording: Int64? = nil, in db: Database) throws -> [Int64: OwnedSum] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT owner_id, row_count, sum FROM digest_sum AS kept
                WHERE table_name = '\(name)' AND \(ownerCondition(of: "kept", column: "owner_id"))
                """, arguments: [recording])
        let sums = try rows.map { row in
            guard let owner = Int64.fromDatabaseValue(row[0]), let rowCount = Int64.fromDatabaseValue(row[1]) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table digest_sum lacks a number")
            }
            let sum = Data.fromDatabaseValue(row[2]).flatMap { DigestSum(Array($0)) }
            return (owner, OwnedSum(rowCount: rowCount, sum: sum ?? DigestSum()))
        }
        return Dictionary(sums) { first, _ in first }
    }

    /// Which owners belong to the recording `?1`, or to all of them.
    private func ownerCondition(of row: String, column: String? = nil) -> String {
        guard let name = column ?? owner.column else { return "(?1 IS NULL OR TRUE)" }
        let owned =
            switch owner {
            case .table, .hostBoot: "TRUE"
            case .headset: "\(row).\(name) = (SELECT headset_id FROM recording WHERE id = ?1)"
            case .recording: "\(row).\(name) = ?1"
            case .stream: "\(row).\(name) IN (SELECT id FROM stream WHERE recording_id = ?1)"
            case .refit:
                """
                \(row).\(name) IN (
                    SELECT f.id FROM refit AS f JOIN stream AS s ON s.id = f.stream_id WHERE s.recording_id = ?1)
                """
            case .link: "\(row).\(name) IN (SELECT id FROM link WHERE recording_id = ?1)"
            }
        return "(?1 IS NULL OR \(owned))"
    }

    /// Writes the sums of the rows that are there, where none were kept so far.
    func writeSums(in db: Database) throws {
        for (owner, sum) in try sums(in: db).sorted(by: { $0.key < $1.key }) { try write(sum, of: owner, in: db) }
    }

    /// Writes the sums that were kept of a recording's rows to another database.
    func copySums(of recording: Int64, from source: Database, to target: Database) throws {
        for (owner, sum) in try keptSums(of: recording, in: source).sorted(by: { $0.key < $1.key }) {
            try write(sum, of: owner, in: target)
        }
    }

    private func write(_ sum: OwnedSum, of owner: Int64, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO digest_sum (table_name, owner_id, row_count, sum) VALUES (?, ?, ?, ?)",
            arguments: [name, owner, sum.rowCount, sum.data])
    }
}
