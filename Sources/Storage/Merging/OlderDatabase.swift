import Foundation
import GRDB
import GRDBSQLite
import Migrations

/// A database that an older version of eegsync has written, to be merged. Its file is read without a trace
/// (``TracelessAccess``); a copy is brought up to date, and the merge reads that.
///
/// Nothing is done here that an opening for writing does beside the file: no snapshot, no witness, no lock, no file of keys.
package struct OlderDatabase: Sendable {
    package let path: String
    private let access: TracelessAccess

    /// Pages copied at a time, as for ``SchemaSnapshot``.
    private static let pagesPerStep: CInt = 2048
    /// The step in which corrections that were made before it get the time at which it is applied.
    private static let correctionStep = "m0023_evidence"

    private var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// Looks at a file.
    ///
    /// - Returns: nil where it is of this version, or where it cannot be looked at without a trace: who opens it says why.
    /// - Throws: `newerSchema`.
    package init?(path: String) throws(StorageError) {
        guard let access = TracelessAccess(path: path) else { return nil }
        do throws(StorageError) {
            let opening = DatabaseOpening(path: path, options: StoreOptions())
            guard let pending = try opening.inspect(access.name), !pending.isEmpty else { return nil }
        } catch {
            guard case .newerSchema = error else { return nil }
            throw error
        }
        self.path = path
        self.access = access
    }

    /// Makes a copy and brings it up to date. A second copy of the same file has the same UUIDs and times.
    ///
    /// - Parameters:
    ///   - directory: that of the copy alone. Who made it removes it with all that is in it, also after an error.
    ///   - reserve: what of the disk is not filled.
    ///   - progress: hears how much is copied, and that the copy is being changed.
    /// - Returns: the path of the copy.
    /// - Throws: ``MergeError`` where the file is damaged or is not as eegsync made it; `diskFull`; `busy` where a program has
    ///   begun to write to it meanwhile.
    package func broughtUpToDate(
        in directory: String, reserve: DiskReserve = DiskReserve(), progress: @escaping SchemaProgress = { _ in }
    ) throws -> String {
        // What the merge writes stands in the log of the other database first, beside the copy.
        try reserve.require(
            3 * SchemaSnapshot.bytes(of: path), at: directory,
            for: "to take over \(name), of an older version, through a copy")
        let target = directory + "/" + name
        do {
            // Before the rows are read: they have at least as much then.
            if FileManager.default.fileExists(atPath: Witness.path(of: path)) {
                try FileManager.default.copyItem(atPath: Witness.path(of: path), toPath: Witness.path(of: target))
            }
            try copy(to: target, sparing: reserve, progress)
            progress(.changing)
            try update(target)
        } catch let error as MergeError {
            throw error
        } catch {
            throw explained(error)
        }
        return target
    }

    /// Copies the file as it is at one instant, with what is committed in its log.
    private func copy(to target: String, sparing reserve: DiskReserve, _ progress: @escaping SchemaProgress) throws {
        let marks = access.marks
        let source = try DatabaseQueue(
            path: access.name,
            configuration: DatabaseOpening(path: path, options: StoreOptions()).configuration(isReadOnly: true))
        let copy = try DatabaseQueue(path: target, configuration: Self.throwaway)
        try source.read { source in
            // A transaction begins with the first read; others go on writing, and what they write is not in the copy.
            _ = try Int64.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
            try copy.writeWithoutTransaction { copy in
                try source.backup(to: copy, pagesPerStep: Self.pagesPerStep) { step in
                    try reserve.require(0, at: target, for: name)
                    progress(.copying(Double(step.completedPageCount) / Double(max(1, step.totalPageCount))))
                }
            }
        }
        try copy.close()
        try source.close()
        guard access.isAlone else { return }
        // SQLite takes what a log has into the copy when that is opened next.
        if DatabaseOpening.hasLog(path) {
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: target + "-wal")
        }
        guard access.marks == marks else {
            throw StorageError.busy(detail: "another program has begun to write to \(path) while it was copied")
        }
    }

    /// Applies the steps that are missing, once the copy is known to be whole and as eegsync made it.
    private func update(_ copy: String) throws {
        let queue = try DatabaseQueue(path: copy, configuration: Self.throwaway)
        // Before anything is made of its values: SQLite compares their types with those of the tables.
        let words = try queue.read { db in try String.fetchAll(db, sql: "PRAGMA quick_check(3)") }
        if words != ["ok"] { throw MergeError.damaged(path: path, detail: words.joined(separator: "; ")) }
        let pending = try queue.read(missingSteps)
        if let detail = try queue.read({ db in try MergeSource.foreignTable(in: db, before: pending.first) }) {
            throw MergeError.foreignSchema(path: path, detail: detail)
        }
        // The triggers of others are not run.
        _ = try queue.write(ForeignTrigger.removeAll)
        try DatabaseSchema.bringUpToDate(queue)
        try queue.write { db in
            if pending.contains(DerivedIdentity.migration) { try DerivedIdentity.write(in: db) }
            // When these were made nobody knows.
            if pending.contains(Self.correctionStep) {
                try db.execute(sql: "UPDATE channel_correction SET corrected_unix_seconds = 0")
            }
        }
        try queue.close()
    }

    /// The steps that the copy lacks. Its log may have had some that the file lacks.
    ///
    /// - Throws: `newerSchema`; ``MergeError/foreignSchema(path:detail:)`` where it lacks one and has later ones.
    private func missingSteps(in db: Database) throws -> [String] {
        let applied = try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
        let all = Migration.all.map(\.identifier)
        let unknown = applied.subtracting(all).sorted()
        if !unknown.isEmpty { throw StorageError.newerSchema(path: path, unknownMigrations: unknown) }
        let pending = all.filter { !applied.contains($0) }
        guard pending == all.suffix(pending.count) else {
            throw MergeError.foreignSchema(
                path: path, detail: "it lacks the step \(pending[0]) of the schema, and has later ones")
        }
        return pending
    }

    /// For a file that is thrown away: it needs neither a way back nor to survive a power cut.
    private static var throwaway: Configuration {
        var configuration = Configuration.ofOrdinaryPriority
        configuration.prepareDatabase { db in
            try TrustedFunctions.distrustSchema(of: db)
            for pragma in ["journal_mode = OFF", "synchronous = OFF"] { try db.execute(sql: "PRAGMA \(pragma)") }
        }
        return configuration
    }

    /// What an error means of the file. What the steps stumble over is what stands in it.
    private func explained(_ error: any Error) -> any Error {
        if let error = error as? CocoaError {
            return error.code == .fileWriteOutOfSpace
                ? StorageError.diskFull(detail: "there is no room for a copy of \(path)")
                : StorageError.cannotOpen(path: path, reason: error.localizedDescription)
        }
        switch StorageError(error, path: path) {
        case .corrupt(_, let detail): return MergeError.damaged(path: path, detail: detail)
        case .constraint(let detail), .sqlite(SQLITE_ERROR, let detail):
            return MergeError.damaged(path: path, detail: "it cannot be brought up to date: \(detail)")
        case .notFound(let what):
            return MergeError.damaged(path: path, detail: "it cannot be brought up to date: there is no \(what)")
        case let other: return other
        }
    }
}
