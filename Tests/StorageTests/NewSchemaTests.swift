import Foundation
import GRDB
import Migrations
import Testing

@testable import Storage

/// `Migrations/schema.sql` is written by the test below with EEGSYNC_WRITE_DOCUMENTATION=1.
@Suite("The schema of a new database")
struct NewSchemaTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Migrations/schema.sql"
    ).standardizedFileURL

    private static let heading = """
        -- The schema of a new database: what the steps in sql/ make of an empty one. Made of them, not by hand
        -- (Tests/StorageTests/NewSchemaTests.swift).

        """

    /// What a database holds that all steps were applied to.
    private static func migrated() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try DatabaseSchema.migrator.migrate(queue)
        return queue
    }

    /// The tables with their rows, then what refers to them, each as the statement that makes it.
    private static func script(_ db: Database) throws -> String {
        let number = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        var statements = ["PRAGMA application_id = \(number)"]
        for type in ["table", "index", "view", "trigger"] {
            statements += try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
                arguments: [type])
            if type == "table" { for table in try tables(db) { statements += try rows(of: table, db) } }
        }
        return heading + statements.map { "\n\($0);\n" }.joined()
    }

    private static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    }

    /// One statement that inserts all rows of a table; none where it has none.
    private static func rows(of table: String, _ db: Database) throws -> [String] {
        let name = table.quotedDatabaseIdentifier
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(name)").map { row in
            let values = try row.databaseValues.map {
                try String.fetchOne(db, sql: "SELECT quote(?)", arguments: [$0]) ?? "NULL"
            }
            return "    (" + values.joined(separator: ", ") + ")"
        }
        return rows.isEmpty ? [] : ["INSERT INTO \(name) VALUES\n" + rows.joined(separator: ",\n")]
    }

    /// Everything that the schema of a database says, and all its rows.
    private func content(_ db: Database) throws -> [String: [Row]] {
        var content = ["": try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")]
        for table in try Self.tables(db) {
            content[table] = try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) ORDER BY 1")
        }
        content["number"] = try Row.fetchAll(db, sql: "PRAGMA application_id")
        return content
    }

    @Test("is made of the steps")
    func isCurrent() throws {
        let script = try Self.migrated().read(Self.script)
        if ProcessInfo.processInfo.environment["EEGSYNC_WRITE_DOCUMENTATION"] == "1" {
            try script.write(to: Self.file, atomically: true, encoding: .utf8)
            return
        }
        #expect(
            try String(contentsOf: Self.file, encoding: .utf8) == script,
            "a step was added: run this test with EEGSYNC_WRITE_DOCUMENTATION=1 and look at the difference")
        #expect(Migration.newDatabase == script)
    }

    @Test("is what the steps make of an empty database, to the letter and the row")
    func isThatOfTheSteps() throws {
        let queue = try DatabaseQueue()
        try DatabaseSchema.bringUpToDate(queue)
        let new = try queue.read(content)
        #expect(try new == Self.migrated().read(content))
        #expect(new["gap_cause"]?.isEmpty == false && new["grdb_migrations"]?.count == Migration.all.count)
        // No step is left to be applied, and to apply them again changes nothing.
        #expect(try queue.read(DatabaseSchema.migrator.hasCompletedMigrations))
        try DatabaseSchema.bringUpToDate(queue)
        #expect(try queue.read(content) == new)
    }

    @Test("is not made in a database that holds the first steps only")
    func oldSchema() throws {
        let queue = try DatabaseQueue()
        try DatabaseSchema.migrator.migrate(queue, upTo: "m0003_not_sent")
        try DatabaseSchema.bringUpToDate(queue)
        #expect(try queue.read(content) == Self.migrated().read(content))
    }
}
