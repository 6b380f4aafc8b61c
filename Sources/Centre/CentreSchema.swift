import Migrations

/// The schema of a centre, and its steps.
package struct CentreSchema {
    private let connection: CentreConnection

    package init(_ connection: CentreConnection) { self.connection = connection }

    /// Of several that make or change a schema at once, one goes on.
    private static let lock = "SELECT pg_advisory_xact_lock(1162168147)"

    /// Makes the schema, or brings it up to date; what is there already stays.
    ///
    /// - Returns: the steps that were applied.
    /// - Throws: ``CentreError/schema(reason:)`` where the server is too old, or a newer eegsync has been there.
    package func bringUpToDate() throws(CentreError) -> [String] {
        let version = try connection.execute("SHOW server_version_num").first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
        guard version >= 150_000 else {
            throw .schema(reason: "the server is PostgreSQL \(version / 10_000); 15 or later is needed")
        }
        var applied: [String] = []
        try connection.inTransaction { () throws(CentreError) in
            try connection.execute(Self.lock)
            let present = try steps()
            try Self.requireKnown(present)
            for step in CentreStep.all where !present.contains(step.identifier) {
                try connection.execute(step.sql)
                try connection.execute("INSERT INTO schema_step (identifier) VALUES ($1)", [step.identifier])
                applied.append(step.identifier)
            }
        }
        return applied
    }

    /// The steps that the database has; none where it is no centre yet.
    private func steps() throws(CentreError) -> [String] {
        let exists = try connection.execute("SELECT to_regclass('public.schema_step') IS NOT NULL").first?.first == "t"
        return exists ? try connection.execute("SELECT identifier FROM schema_step").compactMap { $0.first ?? nil } : []
    }

    /// Whether rows of all tables are here: a step that earlier versions of a centre do not have.
    func keepsRows() throws(CentreError) -> Bool {
        try connection.execute("SELECT to_regclass('public.recording_row') IS NOT NULL").first?.first == "t"
    }

    private static func requireKnown(_ present: [String]) throws(CentreError) {
        let unknown = present.filter { identifier in !CentreStep.all.contains { $0.identifier == identifier } }
        if let first = unknown.min() {
            throw .schema(reason: "the centre has the step \(first) of a newer eegsync; install that one here, too")
        }
    }
}
