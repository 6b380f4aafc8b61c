import Foundation
import GRDB
import Migrations

/// A trigger that is not one of eegsync's own: SQL that somebody has put into the database, to be run by whoever writes there.
///
/// Views and expressions of a database are kept from functions that reach beyond it by `PRAGMA trusted_schema = OFF`; a trigger
/// needs none of these to change what is recorded, while it is recorded, with the rights of the daemon. So a process that
/// writes removes it before its first transaction.
package struct ForeignTrigger: Hashable, Sendable {
    package let name: String
    /// The table or view that it watches.
    package let table: String
    /// Its text.
    package let sql: String

    /// Those of a database. A trigger is eegsync's own where a migration has its text, word by word.
    static func all(in db: Database) throws -> [ForeignTrigger] {
        try Row.fetchAll(db, sql: "SELECT name, tbl_name, sql FROM main.sqlite_schema WHERE type = 'trigger' ORDER BY name")
            .map { ForeignTrigger(name: $0[0], table: $0[1], sql: $0[2] ?? "") }
            .filter { trigger in
                trigger.sql.isEmpty || !Migration.all.contains { $0.sql.contains(trigger.sql + ";") }
            }
    }

    /// Removes those of a database.
    ///
    /// - Returns: what they were.
    static func removeAll(from db: Database) throws -> [ForeignTrigger] {
        let triggers = try all(in: db)
        for trigger in triggers {
            let name = trigger.name.replacingOccurrences(of: "\"", with: "\"\"")
            try db.execute(sql: "DROP TRIGGER main.\"\(name)\"")
        }
        return triggers
    }
}
