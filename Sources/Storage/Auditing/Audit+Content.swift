import Evidence
import Foundation
import GRDB

/// Whether rows, and what is said of them, are as they were written.
extension Audit {
    /// Looks at all rows, and at the file beside them.
    func lookAtRows(
        of streams: [Row], since begins: [Int64: Int64], _ connections: AuditConnections?,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) throws -> [Int64: RowSums] {
        var ranges = RowRanges()
        for stream in streams {
            let id: Int64 = stream["id"]
            let undigested = try Row.fetchOne(
                db, sql: "SELECT first_n, last_n FROM undigested_rows WHERE stream_id = ?", arguments: [id])
            let audited = AuditedStream(
                id: id, channelCount: stream["channel_count"], identity: StreamIdentity(uuid: stream["uuid"] ?? ""),
                undigested: undigested.map { ($0[0] as Int64)...($0[1] as Int64) })
            try ranges.add(audited, since: begins[id], in: db)
        }
        let file = file
        return try RowPasses(ranges: ranges, progress: progress).run(in: db, or: connections) { try file.run() }
    }

    /// Of each stream where the block begins that holds an instant; nothing for one that began later.
    func firstNs(of streams: [Row], since unixNanoseconds: Int64) throws -> [Int64: Int64] {
        var begins: [Int64: Int64] = [:]
        for stream in streams {
            let id: Int64 = stream["id"]
            let n = try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(first_n, CAST(reference_n + (?2 - reference_unix_ns) / period_ns AS INTEGER)) FROM segment_time
                    WHERE stream_id = ?1 AND start_unix_ns <= ?2 ORDER BY first_n DESC LIMIT 1
                    """, arguments: [id, unixNanoseconds])
            if let n { begins[id] = try RowRanges.start(of: id, at: n, in: db) }
        }
        return begins
    }

    /// Compares the tables that say what samples mean with the sums that were kept.
    mutating func checkFacts(of streams: [Row]) throws {
        let names = Dictionary(streams.map { ($0["id"] as Int64, $0["name"] as String) }) { first, _ in first }
        for table in DigestedTable.all {
            let there = try table.sums(of: scope.recording?.rawValue, in: db)
            let kept = try table.keptSums(of: scope.recording?.rawValue, in: db)
            for owner in Set(there.keys).union(kept.keys).sorted() {
                let (now, written) = (there[owner] ?? OwnedSum(), kept[owner] ?? OwnedSum())
                if now == written { continue }
                let stream: Int64? = table.owner == .stream ? owner : nil
                let location = words(for: owner, of: table, streamName: stream.flatMap { names[$0] })
                let detail =
                    now.rowCount == written.rowCount
                    ? "\(table.name)\(location): what stands there is not what this program wrote"
                    : "\(table.name)\(location): \(written.rowCount) rows were written, \(now.rowCount) are there"
                report.findings.append(
                    AuditReport.Finding(check: .factsAreAsWritten, streamID: stream, n: nil, detail: detail))
            }
        }
        try checkDeclarations()
        try checkViews()
        report.unprotected =
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT (SELECT count(*) FROM channel_correction) + (SELECT count(*) FROM annotation WHERE source = 'sql')
                    """) ?? 0
    }

    private func words(for owner: Int64, of table: DigestedTable, streamName: String?) -> String {
        switch table.owner {
        case .table: ""
        case .hostBoot: " of host boot \(owner)"
        case .headset: " of headset \(owner)"
        case .recording: " of recording \(owner)"
        case .stream: streamName.map { " of \($0)" } ?? ""
        case .refit: " of refit \(owner)"
        case .link: " of link \(owner)"
        }
    }

    /// A channel is what its declaration says, but for what corrections have changed since.
    private mutating func checkDeclarations() throws {
        func value(_ column: String) -> String {
            """
            coalesce((SELECT \(column) FROM channel_correction
                WHERE stream_id = d.stream_id AND number = d.number AND \(column) IS NOT NULL ORDER BY id DESC LIMIT 1),
                d.\(column))
            """
        }
        let columns = ["name", "unit", "scale", "\"offset\""]
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT d.stream_id, d.number, c.number, \(columns.map { "c.\($0) IS NOT \(value($0))" }.joined(separator: ", "))
                FROM channel_declaration AS d JOIN stream AS st ON st.id = d.stream_id
                LEFT JOIN channel AS c ON c.stream_id = d.stream_id AND c.number = d.number
                WHERE (?1 IS NULL OR st.recording_id = ?1) AND (c.number IS NULL
                    OR \(columns.map { "c.\($0) IS NOT \(value($0))" }.joined(separator: " OR ")))
                ORDER BY 1, 2 LIMIT \(AuditReport.findingLimit)
                """, arguments: [scope.recording?.rawValue])
        for row in rows {
            let number: Int = row[1]
            let wrong = zip(["name", "unit", "scale", "offset"], 3...).filter { row[$1] == true }.map(\.0)
            let isGone = (row[2] as Int?) == nil
            let what =
                isGone
                ? "channel \(number) is not there"
                : "the \(wrong.joined(separator: ", ")) of channel \(number) "
                    + (wrong.count == 1 ? "is" : "are") + " neither as the headset declared nor as a correction says"
            report.findings.append(
                AuditReport.Finding(check: .channelsAreAsDeclared, streamID: row[0], n: nil, detail: what))
        }
    }
}
