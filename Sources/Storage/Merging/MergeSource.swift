import Foundation
import GRDB
import Glibc
import Migrations

/// The database that is merged into another one: only read, and believed once its schema, its pages and its audit hold.
package struct MergeSource: Sendable {
    let store: ReadOnlyStore
    let path: String
    /// The name of the file, which is kept with what came from it.
    let name: String
    /// True where an older version has written the file, of which a copy is read.
    package let isOfOlderVersion: Bool

    /// Opens a file and judges it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - copy: a copy of it that was brought up to date (``OlderDatabase``), where an older version has written it.
    ///   - hostBoot: the boot of this machine.
    ///   - readerCount: how many threads read its rows.
    ///   - progress: gets how many rows the audit has looked at, and about how many there are; from any thread.
    /// - Throws: ``MergeError`` where it is not believed; `StorageError`, such as `newerSchema`, where it cannot be opened.
    package init(
        path: String, copy: String? = nil, hostBoot: HostBoot, readerCount: Int = 1,
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws {
        self.path = path
        name = URL(fileURLWithPath: path).lastPathComponent
        isOfOlderVersion = copy != nil
        store = try Self.open(copy ?? path, hostBoot: hostBoot)
        do {
            if let detail = try store.database.read({ db in try Self.foreignTable(in: db) }) {
                throw MergeError.foreignSchema(path: path, detail: detail)
            }
            // Before anything is made of its values: SQLite compares their types with those of the tables. A copy was looked at
            // before it was brought up to date.
            let words =
                try copy == nil
                ? store.database.read { db in try String.fetchAll(db, sql: "PRAGMA quick_check(3)") } : ["ok"]
            if words != ["ok"] { throw MergeError.damaged(path: path, detail: words.joined(separator: "; ")) }
            if let detail = try store.database.read(Self.surprisingRow) {
                throw MergeError.damaged(path: path, detail: detail)
            }
        } catch StorageError.corrupt(_, let detail) {
            throw MergeError.damaged(path: path, detail: detail)
        }
        let report = try store.audit(AuditScope(readerCount: readerCount), progress: progress)
        if !report.holds {
            throw MergeError.auditFails(
                path: path, findings: report.findings.prefix(3).map { "\($0.check.evidence.rawValue): \($0.detail)" })
        }
    }

    private static func open(_ path: String, hostBoot: HostBoot) throws -> ReadOnlyStore {
        do {
            return try ReadOnlyStore(unattended: path, hostBoot: hostBoot)
        } catch {
            let pending = (try? DatabaseOpening(path: path, options: StoreOptions()).inspect()) ?? []
            if pending.isEmpty { throw error }
            throw MergeError.olderSchema(path: path)
        }
    }

    /// True where a path names the same file.
    func isFile(_ other: String?) -> Bool {
        var (first, second) = (stat(), stat())
        guard let other, stat(path, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    /// How large it is, its log included.
    var bytes: Int64 { SchemaSnapshot.bytes(of: store.path ?? path) }

    /// The recordings that are not deleted there, by key, with their UUIDs.
    func recordings() throws(StorageError) -> [(key: Int64, uuid: String)] {
        try store.database.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT id, uuid FROM recording WHERE id NOT IN (SELECT recording_id FROM deletion) ORDER BY id"
            ).map { (key: $0[0], uuid: $0[1] ?? "") }
        }
    }

    // MARK: What stands in it

    /// Which table has a number that no recording comes to, or a row without a name; nil where none has.
    static func surprisingRow(in db: Database) throws -> String? {
        if let words = try SurprisingNumbers.first(in: db) { return words }
        for table in ["recording", "stream", "headset", "annotation"] {
            let isThere = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE coalesce(uuid, '') = '')")
            if isThere == true { return "the table \(table) has a row without a UUID" }
        }
        return nil
    }

    // MARK: The schema

    /// What of the tables is not as this program makes it, word by word; nil where all are. What restricts values is a part of
    /// it: SQLite's look at the pages compares them with it.
    ///
    /// - Parameter step: the first step that an older database lacks; nil for one of this version.
    static func foreignTable(in db: Database, before step: String? = nil) throws -> String? {
        let queue = try DatabaseQueue()
        let applied = Migration.all.prefix { $0.identifier != step }
        if step != nil, let last = applied.last {
            try DatabaseSchema.migrator.migrate(queue, upTo: last.identifier)
        } else {
            try DatabaseSchema.bringUpToDate(queue)
        }
        let (made, there) = (try queue.read(tables), try tables(db))
        for (table, text) in made.sorted(by: { $0.key < $1.key }) where there[table] != text {
            return there[table] == nil ? "there is no table \(table)" : "the table \(table) is another one"
        }
        return nil
    }

    /// The text of each table of eegsync's own. A view of a table's name is none.
    private static func tables(_ db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'grdb_*'")
        let texts = rows.compactMap { row in
            String.fromDatabaseValue(row[0]).map { ($0, String.fromDatabaseValue(row[1]) ?? "") }
        }
        return Dictionary(texts) { first, _ in first }
    }
}
