import GRDB
import Migrations

/// Whether the database's own views and triggers are those of this program: people read times and units through them.
extension Audit {
    /// Compares them, word by word. What another program has added beside them is its own affair.
    mutating func checkViews() throws {
        let rows = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger')")
        let there = Dictionary(rows.map { ($0[0] as String, $0[1] as String?) }) { first, _ in first }
        for (name, text) in try Self.made().sorted(by: { $0.key < $1.key }) {
            add(name, isThere: there[name] != nil, isSame: there[name] == text, stream: nil)
        }
        let streams = try Row.fetchAll(
            db,
            sql: """
                SELECT recording_id, view_name, min(id) FROM stream
                WHERE (?1 IS NULL OR recording_id = ?1) AND recording_id NOT IN (SELECT recording_id FROM deletion)
                GROUP BY recording_id, view_name ORDER BY 3
                """, arguments: [scope.recording?.rawValue])
        for stream in streams {
            let (name, recording): (String, RecordingID) = (stream[1], RecordingID(rawValue: stream[0]))
            let possible = try StreamView.possibleTexts(name, recording: recording, in: db)
            for view in [name, StreamView.minuteName(of: name)] {
                let isSame = possible.contains { $0[view] == there[view] ?? nil }
                add(view, isThere: there[view] != nil, isSame: isSame, stream: stream[2])
            }
        }
    }

    private mutating func add(_ name: String, isThere: Bool, isSame: Bool, stream: Int64?) {
        if isSame { return }
        let what = isThere ? "is not as this program makes it" : "is not there"
        report.findings.append(
            AuditReport.Finding(
                check: .viewsAreAsMade, streamID: stream, n: nil,
                detail: "the view or trigger \(name) \(what): what is read through it may be wrong"))
    }

    /// The text of each view and trigger of a new database, by name.
    private static func made() throws -> [String: String] {
        let queue = try DatabaseQueue()
        try DatabaseSchema.bringUpToDate(queue)
        let rows = try queue.read { db in
            try Row.fetchAll(
                db, sql: "SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') AND sql IS NOT NULL")
        }
        return Dictionary(rows.map { ($0[0] as String, $0[1] as String) }) { first, _ in first }
    }
}
