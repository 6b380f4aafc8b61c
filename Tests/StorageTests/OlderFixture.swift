import Foundation
import GRDB
import Migrations
import Testing

@testable import Storage

/// Databases as older versions have left them, and merges of these.
extension MergeFixture {
    /// Makes a database one of an older version: what it holds, as far as the schema of that step has tables and columns for
    /// it.
    ///
    /// - Parameter step: the last step that it has.
    func makeOlder(_ name: String, upTo step: String) throws {
        let (older, present) = (directory.path(name + ".older"), path(name))
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: older, configuration: configuration)
        _ = try queue.writeWithoutTransaction { db in try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
        try DatabaseSchema.migrator.migrate(queue, upTo: step)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH DATABASE ? AS present", arguments: [present])
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                        AND name NOT IN ('grdb_migrations', 'gap_cause') ORDER BY rowid
                    """)
            for table in tables { try Self.copy(table, in: db) }
            // Sums that a later step begins with.
            if tables.contains("digest_sum") {
                let later = Migration.all.drop { $0.identifier != step }.dropFirst().flatMap(\.digestedTables)
                for table in try String.fetchAll(db, sql: "SELECT DISTINCT table_name FROM digest_sum")
                where later.contains(table) || !tables.contains(table) {
                    try db.execute(sql: "DELETE FROM digest_sum WHERE table_name = ?", arguments: [table])
                }
            }
            let views = try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM present.sqlite_schema WHERE type = 'view' AND name IN (
                        SELECT view_name FROM present.stream UNION SELECT view_name || '_minute' FROM present.stream)
                    """)
            for view in views { try db.execute(sql: view) }
        }
        try queue.close()
        for name in try files(of: name) { try FileManager.default.removeItem(atPath: directory.path(name)) }
        try FileManager.default.moveItem(atPath: older, toPath: present)
    }

    /// Copies the columns that a table had.
    private static func copy(_ table: String, in db: Database) throws {
        let columns = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM pragma_table_info(?1, 'main') INTERSECT SELECT name FROM pragma_table_info(?1, 'present')
                """, arguments: [table]
        ).map { "\"\($0)\"" }.joined(separator: ", ")
        // Triggers may have filled it already.
        try db.execute(sql: "DELETE FROM main.\(table)")
        if columns.isEmpty { return }
        try db.execute(sql: "INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM present.\(table)")
    }

    /// The names of a database and of what stands beside it.
    func files(of name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            .filter { $0.hasPrefix(name + ".sqlite") }.sorted()
    }

    /// What these hold, by name.
    func bytes(of name: String) throws -> [String: Data] {
        let names = try files(of: name)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: directory.path($0)))) })
    }

    /// Merges a file of an older version as the command does. Fails where that has left a trace at it.
    @discardableResult
    func mergeOlder(_ other: String, into here: String, isRehearsal: Bool = false) throws -> MergeReport {
        let before = try bytes(of: other)
        defer { #expect((try? bytes(of: other)) == before) }
        let store = try AcquisitionStore(path: path(here), hostBoot: Fixture.boot)
        defer { try? store.close() }
        let home = try TemporaryDirectory()
        defer { withExtendedLifetime(home) {} }
        let copy = try #require(try OlderDatabase(path: path(other))).broughtUpToDate(in: home.url.path)
        let source = try MergeSource(path: path(other), copy: copy, hostBoot: Fixture.boot)
        #expect(source.isOfOlderVersion)
        return try store.merge(source, isRehearsal: isRehearsal, at: Fixture.start)
    }
}
