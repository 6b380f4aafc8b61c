import Migrations

/// The schema of a centre, and its steps.
package struct CentreSchema {
    private let connection: CentreConnection

    package init(_ connection: CentreConnection) { self.connection = connection }

    /// Of several that make or change a schema at once, one goes on. Where there is one already, no role of a machine or a
    /// reader can hold it.
    private static func lock(isThere: Bool) -> String {
        isThere ? "LOCK TABLE schema_step IN SHARE ROW EXCLUSIVE MODE" : "SELECT pg_advisory_xact_lock(1162168147)"
    }
    /// Who waits for longer learns why.
    private static let lockLimit = "SET LOCAL lock_timeout = '20s'"
    /// SQLSTATE `lock_not_available`.
    private static let noLock = "55P03"

    /// Makes the schema, or brings it up to date; what is there already stays.
    ///
    /// - Returns: the steps that were applied.
    /// - Throws: ``CentreError/schema(reason:remedy:)`` where the server is too old, a newer eegsync has been there, or the
    ///   database can be no centre: it has not all characters, or is already for something else.
    package func bringUpToDate() throws(CentreError) -> [String] {
        let version = try connection.execute("SHOW server_version_num").first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
        guard version >= 150_000 else {
            throw .schema(
                reason: "the server is PostgreSQL \(version / 10_000); 15 or later is needed",
                remedy: "install a newer PostgreSQL there; pg_upgrade brings over what the server has.")
        }
        let encoding = try connection.execute("SHOW server_encoding").first?.first.flatMap { $0 } ?? ""
        guard encoding == "UTF8" else {
            throw .schema(
                reason: "the database \(connection.destination) keeps texts as \(encoding); names and notes may be of any "
                    + "language, which needs UTF8",
                remedy: "make one that does: createdb --encoding UTF8 --locale C.UTF-8 --template template0 study; pg_dump and "
                    + "psql bring over what this one has.")
        }
        var applied: [String] = []
        try connection.inTransaction { () throws(CentreError) in
            try takeLock()
            try becomeOwner()
            let present = try steps()
            try Self.requireKnown(present)
            if present.isEmpty { try requireEmpty() }
            for step in CentreStep.all where !present.contains(step.identifier) {
                try connection.execute(step.sql)
                try connection.execute("INSERT INTO schema_step (identifier) VALUES ($1)", [step.identifier])
                applied.append(step.identifier)
            }
        }
        return applied
    }

    /// What a step makes belongs to whom the schema does: functions of two owners may not call each other. A superuser does it
    /// in the owner's stead.
    private func becomeOwner() throws(CentreError) {
        let owner = try connection.execute(
            """
            SELECT quote_ident(tableowner) FROM pg_tables
            WHERE schemaname = 'public' AND tablename = 'schema_step' AND tableowner <> current_user
            """
        ).first?.first.flatMap { $0 }
        if let owner { try connection.execute("SET LOCAL ROLE \(owner)") }
    }

    /// Waits until nobody else makes or changes the schema.
    private func takeLock() throws(CentreError) {
        try connection.execute(Self.lockLimit)
        do throws(CentreError) {
            try connection.execute(Self.lock(isThere: isThere()))
        } catch {
            guard case .refused(let state, _) = error, state == Self.noLock else { throw error }
            throw .schema(
                reason: "another session makes or changes the schema of \(connection.destination), or the views of its streams",
                remedy: "look which one does: SELECT pid, usename, query FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE "
                    + "locktype = 'advisory' OR relation = to_regclass('schema_step'); end it with pg_terminate_backend(PID), "
                    + "and try again.")
        }
        try connection.execute("SET LOCAL lock_timeout = 0")
    }

    /// Spreads blocks of samples over a cluster of Citus, by stream, after ``bringUpToDate()``; what is there goes along.
    ///
    /// - Returns: false where they are spread already.
    /// - Throws: ``CentreError/schema(reason:remedy:)`` where the database has not the extension.
    package func spreadBlocks() throws(CentreError) -> Bool {
        guard try connection.execute("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')").first?.first == "t"
        else {
            throw .schema(
                reason: "the database \(connection.destination) has not the extension citus",
                remedy: "install Citus 13 or later on this server and on each worker, with 'citus' first in "
                    + "shared_preload_libraries, CREATE EXTENSION citus in the database of each, and name them here: SELECT "
                    + "citus_set_coordinator_host('...'), and SELECT citus_add_node('...', 5432) for each worker.")
        }
        return try connection.execute("SELECT spread_blocks()").first?.first == "t"
    }

    /// The steps that the database has; none where it is no centre yet.
    private func steps() throws(CentreError) -> [String] {
        try isThere() ? try connection.execute("SELECT identifier FROM schema_step").compactMap { $0.first ?? nil } : []
    }

    private func isThere() throws(CentreError) -> Bool {
        try connection.execute("SELECT to_regclass('public.schema_step') IS NOT NULL").first?.first == "t"
    }

    /// What somebody else has in the schema `public`, but for what extensions have there.
    private static let others = """
        SELECT e.name FROM (
            SELECT c.relname::text AS name, c.oid AS key, 'pg_class'::regclass AS catalog FROM pg_class AS c
            WHERE c.relnamespace = to_regnamespace('public') AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            UNION ALL SELECT p.proname::text, p.oid, 'pg_proc'::regclass FROM pg_proc AS p
            WHERE p.pronamespace = to_regnamespace('public')) AS e
        WHERE NOT EXISTS (
            SELECT 1 FROM pg_depend AS d WHERE d.classid = e.catalog AND d.objid = e.key AND d.deptype = 'e')
        ORDER BY e.name LIMIT 1
        """

    /// Throws where the database is already for something else: the step `p0003_shipping` gives readers, and takes from
    /// everybody, rights of all tables and functions that it finds.
    private func requireEmpty() throws(CentreError) {
        guard let name = try connection.execute(Self.others).first?.first.flatMap({ $0 }) else { return }
        throw .schema(
            reason: "the database \(connection.destination) is no centre and has something else already, such as \(name); a "
                + "centre has a database of its own",
            remedy: "make one (createdb study), and name that with --database.")
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
