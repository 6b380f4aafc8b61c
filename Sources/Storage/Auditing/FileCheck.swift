import GRDB
import Synchronization

/// SQLite's own look at the file, through a connection of its own.
final class FileCheck: Sendable {
    private let path: String?
    private let found = Mutex<[AuditReport.Finding]>([])

    /// - Parameter path: nil for a database in memory, or where the file is not looked at.
    init(path: String?) {
        self.path = path
    }

    var isOfFile: Bool { path != nil }

    /// What ``run()`` has found.
    var findings: [AuditReport.Finding] { found.withLock(\.self) }

    /// Looks at every page of the file. Of `sample`, the order of the keys is left to ``RowPass``, which reads them all.
    func run() throws {
        guard let path else { return }
        var words: [String] = []
        do {
            let queue = try DatabaseQueue(
                path: path, configuration: DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true))
            defer { try? queue.close() }
            words = try queue.read { db in
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sample' ORDER BY name")
                let limit = AuditReport.findingLimit
                let pragmas = ["quick_check(\(limit))"] + tables.map { "integrity_check(\"\($0)\")" }
                return try pragmas.flatMap { try String.fetchAll(db, sql: "PRAGMA \($0)").filter { $0 != "ok" } }
            }
        } catch let error as DatabaseError where error.isOfDamagedFile {
            words = [error.message ?? "it is damaged"]
        }
        var seen: Set<String> = []
        let findings = words.filter { seen.insert($0).inserted }.prefix(AuditReport.findingLimit).map {
            AuditReport.Finding(check: .fileIsWhole, streamID: nil, n: nil, detail: $0)
        }
        found.withLock { $0 = findings }
    }
}
