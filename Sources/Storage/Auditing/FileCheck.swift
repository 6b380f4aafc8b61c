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

    /// Looks at every page of the file.
    func run() throws {
        guard let path else { return }
        var words: [String] = []
        do {
            let queue = try DatabaseQueue(
                path: path, configuration: DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true))
            defer { try? queue.close() }
            words = try queue.read { db in
                try String.fetchAll(db, sql: "PRAGMA integrity_check(\(AuditReport.findingLimit))").filter { $0 != "ok" }
            }
        } catch let error as DatabaseError where error.isOfDamagedFile {
            words = [error.message ?? "it is damaged"]
        }
        let findings = words.map { AuditReport.Finding(check: .fileIsWhole, streamID: nil, n: nil, detail: $0) }
        found.withLock { $0 = findings }
    }
}
