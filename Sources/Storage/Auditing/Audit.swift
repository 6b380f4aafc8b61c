import Evidence
import Foundation
import GRDB
import Synchronization

/// What an audit looks at.
package struct AuditScope: Sendable {
    /// The recording, or nil for all.
    package var recording: RecordingID?
    /// True: the rows' values, the facts about them and the file are left out.
    package var isQuick: Bool
    /// Rows of samples before it are left out, but for the block that holds it; nanoseconds since 1970, or nil for none.
    package var since: Int64?
    /// What an earlier audit has looked at, which is not looked at again; nor are the file's pages. Nil for none.
    package var earlier: AuditedExtent?
    /// How many threads read rows of a file.
    package var readerCount: Int

    package init(
        recording: RecordingID? = nil, isQuick: Bool = false, since: Int64? = nil, earlier: AuditedExtent? = nil,
        readerCount: Int = 1
    ) {
        self.earlier = earlier
        self.recording = recording
        self.isQuick = isQuick
        self.since = since
        self.readerCount = readerCount
    }
}

extension Store {
    /// Looks for whatever contradicts the evidence that was stored with the samples, in one consistent snapshot.
    ///
    /// - Parameters:
    ///   - scope: what to look at.
    ///   - progress: gets how many rows were looked at, and about how many there are; from any thread.
    /// - Throws: ``StorageError/notFound(what:)``, `busy`. Findings, damages of the file included, are not errors.
    package func audit(
        _ scope: AuditScope = AuditScope(), progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(StorageError) -> AuditReport {
        try database.perform { writer in
            let isOfFile = path != nil && !scope.isQuick
            let file = FileCheck(path: isOfFile && scope.earlier == nil ? path : nil)
            // Read before the snapshot, which has at least as much then.
            let witness = path.flatMap(Witness.read)
            func run(_ connections: AuditConnections?) throws -> AuditReport? {
                var report: AuditReport?
                let versions = try connections?.versions() ?? []
                do {
                    try writer.read { db in
                        if let recording = scope.recording { try Self.requireRecording(recording, in: db) }
                        guard try connections?.begin(unless: versions) ?? true else { return }
                        defer { try? connections?.end() }
                        var audit = Audit(db: db, scope: scope, file: file, witness: witness)
                        report = try audit.run(connections, progress: progress)
                    }
                } catch let error as DatabaseError where error.isOfDamagedFile {
                    // A transaction that has met a damage does not end well either.
                    return report ?? .damaged(error.message ?? "it is damaged")
                }
                return report
            }
            do {
                let connections = isOfFile ? try AuditConnections(path: path, count: scope.readerCount) : nil
                // Something is committed about once a second; to begin takes less than a millisecond.
                for _ in 0..<20 {
                    if let report = try run(connections) { return report }
                }
                return try run(nil) ?? AuditReport()
            } catch let error as DatabaseError where error.isOfDamagedFile {
                return .damaged(error.message ?? "it is damaged")
            }
        }
    }

    /// An audit of one recording.
    package func audit(recording: RecordingID) throws(StorageError) -> AuditReport {
        try audit(AuditScope(recording: recording))
    }
}

/// The checks, in one transaction.
struct Audit {
    let db: Database
    let scope: AuditScope
    let file: FileCheck
    /// What stands beside the database.
    let witness: Witness?
    var report = AuditReport()

    init(db: Database, scope: AuditScope, file: FileCheck, witness: Witness?) {
        self.db = db
        self.scope = scope
        self.file = file
        self.witness = witness
    }

    /// Runs all checks. Where the file is damaged, what cannot be read is a finding, and the other checks go on.
    mutating func run(
        _ connections: AuditConnections?, progress: @escaping @Sendable (Int64, Int64) -> Void
    ) throws -> AuditReport {
        report.checked = scope.isQuick ? [.arithmetic, .extent, .clock] : [.arithmetic, .extent, .clock, .content]
        var streams: [Row] = []
        try Self.tolerating(&self) { audit in
            let found = try Row.fetchAll(
                audit.db,
                sql: """
                    SELECT id, recording_id, name, bank, channel_count, uuid, sampling_frequency FROM stream
                    WHERE (?1 IS NULL OR recording_id = ?1) AND recording_id NOT IN (SELECT recording_id FROM deletion)
                    ORDER BY recording_id, id
                    """, arguments: [audit.scope.recording?.rawValue])
            streams = found.filter(Self.isWhole)
            guard streams.count == found.count else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the table stream lacks a value")
            }
        }
        var surprising: [Int64: Set<String>] = [:]
        try Self.tolerating(&self) { surprising = try $0.checkNumbers(of: streams) }
        var begins = try scope.since.map { try firstNs(of: streams, since: $0) } ?? [:]
        if let earlier = scope.earlier {
            try Self.tolerating(&self) { audit in
                try audit.checkExtent(earlier, of: streams)
                begins = try audit.firstNs(of: streams, after: earlier)
            }
        }
        try Self.tolerating(&self) { $0.report.extent = try $0.extent(of: streams) }
        var sums: [Int64: RowSums] = [:]
        if !scope.isQuick {
            let divided = streams.filter { stream in
                SurprisingNumbers.channelCounts.contains(stream["channel_count"])
                    && surprising[stream["id"]]?.isDisjoint(with: SurprisingNumbers.dividing) ?? true
            }
            try Self.tolerating(&self) { sums = try $0.lookAtRows(of: divided, since: begins, connections, progress: progress) }
            try Self.tolerating(&self) { try $0.checkFacts(of: streams) }
            try Self.tolerating(&self) { try $0.checkWitness($0.witness, of: streams) }
            report.findings += file.findings
            if file.isOfFile { report.checked.insert(.file) }
            if scope.earlier == nil { try Self.tolerating(&self) { try $0.checkReferences() } }
        }
        for stream in streams {
            // What cannot be computed has a finding already.
            guard surprising[stream["id"]]?.isDisjoint(with: SurprisingNumbers.summed) ?? true else {
                report.findings += sums[stream["id"]]?.findings ?? []
                continue
            }
            try Self.tolerating(&self) { audit in
                try audit.checkStream(stream, since: begins[stream["id"]], rows: sums[stream["id"]])
            }
        }
        return report
    }

    private mutating func checkStream(_ row: Row, since: Int64?, rows: RowSums?) throws {
        let id: Int64 = row["id"]
        let counted = try rows ?? countedRows(of: id, since: since)
        var sums = try sums(of: row, since: since, counted: counted)
        if !scope.isQuick, var content = rows?.content {
            content.heads = try ChainEnd.all(of: id, in: db).mapValues(\.digest)
            sums.content = content
        }
        sums.clock = try checkClock(of: row, since: since)
        try checkTimedGaps(of: id, since: since)
        report.streams.append(sums)
        report.findings += rows?.findings ?? []
        if sums.residual != 0 { try findHoles(stream: id, sums: sums) }
        try checkGaps(stream: id)
        if let rows, since == nil {
            try checkChannels(stream: id, channelCount: row["channel_count"], nulls: rows.nulls, beyond: rows.beyond)
        }
        try checkSegments(stream: id, sums: sums)
        if since == nil { try checkExtents(stream: id, firstRow: counted.firstN, lastRow: counted.lastN) }
        try list(
            .epochsAscend, stream: id,
            """
            SELECT first_n, 'epoch ' || number || ' begins at ' || first_n || ', before epoch ' || (number - 1)
            FROM (SELECT number, first_n, lag(first_n) OVER (ORDER BY number) AS before FROM epoch WHERE stream_id = ?1)
            WHERE first_n < before ORDER BY number
            """)
    }

    /// Whether a row of `stream` has what the schema demands; a damaged page may lack it.
    private static func isWhole(_ stream: Row) -> Bool {
        ["id", "recording_id", "name", "bank", "channel_count", "sampling_frequency"].allSatisfy { column in
            (stream[column] as DatabaseValue?)?.isNull == false
        }
    }

    /// Runs a check. A part of the file that cannot be read is a finding.
    private static func tolerating(_ audit: inout Audit, _ check: (inout Audit) throws -> Void) throws {
        do {
            try check(&audit)
        } catch let error as DatabaseError where error.isOfDamagedFile {
            audit.report.checked.insert(.file)
            audit.report.findings.append(
                AuditReport.Finding(
                    check: .fileIsWhole, streamID: nil, n: nil,
                    detail: "a part of the file cannot be read: \(error.message ?? "it is damaged")"))
        }
    }

    /// Runs a query for (n, words) and keeps its first rows as findings. `?1` is the stream.
    mutating func list(_ check: AuditReport.Check, stream: Int64?, _ sql: String, _ more: [Int64] = []) throws {
        var arguments = StatementArguments(more)
        if let stream { arguments = StatementArguments([stream] + more) }
        let rows = try Row.fetchAll(db, sql: "\(sql) LIMIT \(AuditReport.findingLimit)", arguments: arguments)
        report.findings += rows.map { row in
            AuditReport.Finding(check: check, streamID: stream, n: row[0], detail: row[1] ?? "a value is missing")
        }
    }
}

extension DatabaseError {
    /// True where SQLite found the file damaged.
    var isOfDamagedFile: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
}
