import GRDB
import Migrations

/// The tables, views and triggers of a database, as this version of the program has them.
enum DatabaseSchema {
    /// Creates the schema in a database that holds nothing, and otherwise applies the steps that are missing.
    static func bringUpToDate(_ writer: any DatabaseWriter) throws {
        if try writer.read(isMissing) {
            try writer.write { db in
                // Another process may have been quicker.
                if try isMissing(in: db) { try db.execute(sql: Migration.newDatabase) }
            }
        }
        try migrator.migrate(writer)
    }

    private static func isMissing(in db: Database) throws -> Bool {
        try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema LIMIT 1") == nil
    }

    /// The steps, one after the other.
    static var migrator: DatabaseMigrator {
        // `.immediate` leaves foreign keys on; `.deferred` switches them off, and would check every sample of the database
        // again.
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        for migration in Migration.all {
            let checks: DatabaseMigrator.ForeignKeyChecks = migration.isWithoutForeignKeys ? .deferred : .immediate
            migrator.registerMigration(migration.identifier, foreignKeyChecks: checks) { db in
                try db.execute(sql: migration.sql)
                if migration.remakesStreamViews { try StreamView.createAll(in: db) }
                if migration.beginsEvidence { try EvidenceBeginning.write(in: db) }
                for table in DigestedTable.all where migration.digestedTables.contains(table.name) {
                    try table.writeSums(in: db)
                }
            }
        }
        return migrator
    }
}
