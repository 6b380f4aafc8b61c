import Foundation
import GRDB
import GRDBSQLite

/// What hears that a change of the schema makes progress: often while it does, never while it hangs.
package typealias SchemaProgress = @Sendable (SchemaStep) -> Void

/// What a change of the schema does.
package enum SchemaStep: Hashable, Sendable {
    /// The database is copied; the share that is done, 0 ... 1.
    case copying(Double)
    /// There is a copy, at a path.
    case copied(to: String)
    /// There is no copy, and why: there will be no way back to an older version.
    case notCopied(reason: String)
    /// The schema is changed.
    case changing
}

/// One change of the schema of a database that holds something: the copy before it, and its progress.
final class SchemaUpdate {
    /// Steps of SQLite's virtual machine between two calls of the progress handler: some milliseconds.
    private static let operations: Int32 = 1_000_000

    private let snapshot: SchemaSnapshot
    private let progress: SchemaProgress?

    /// - Parameter pending: what is to be applied; there is no update where that is nothing, or everything.
    init?(path: String, pending: [String]?, progress: SchemaProgress?) {
        guard let first = pending?.min() else { return nil }
        snapshot = SchemaSnapshot(database: path, migration: first)
        self.progress = progress
    }

    /// Copies the database. Where that is not possible the schema is changed all the same: a recording of weeks must not end
    /// for want of a way back.
    func takeSnapshot(_ configuration: Configuration) {
        let progress = progress ?? { _ in }
        let bytes = SchemaSnapshot.bytes(of: snapshot.database)
        guard bytes <= StoreOptions.snapshotBound else {
            return progress(.notCopied(reason: "it has \(bytes) bytes, more than \(StoreOptions.snapshotBound)"))
        }
        if let free = Self.freeBytes(beside: snapshot.database), free < bytes + StoreOptions.freeBytesAfterSnapshot {
            return progress(
                .notCopied(
                    reason: "it has \(bytes) bytes, the disk has \(free) free, and \(StoreOptions.freeBytesAfterSnapshot) "
                        + "are kept for what is recorded"))
        }
        do {
            try snapshot.make(configuration) { progress(.copying($0)) }
            progress(.copied(to: snapshot.path))
        } catch {
            progress(.notCopied(reason: "\(error)"))
        }
    }

    private static func freeBytes(beside path: String) -> Int64? {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    /// Has SQLite report while it works on a connection.
    func watch(_ db: Database) {
        progress?(.changing)
        sqlite3_progress_handler(
            db.sqliteConnection, Self.operations,
            { context in
                guard let context else { return 0 }
                Unmanaged<SchemaUpdate>.fromOpaque(context).takeUnretainedValue().progress?(.changing)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends ``watch(_:)``.
    func unwatch(_ db: Database) {
        sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
    }
}
