import Foundation
import Glibc

/// Who may create a database or change its schema: one process at a time, and none while an older version acquires.
///
/// The ``AcquisitionLock`` says it. Two processes may begin at the same moment, `eegsync run` and `eegsync record start` after
/// an installation or an upgrade: the second waits until the first is done, as long as it would wait for a transaction.
struct SchemaLock {
    /// Between two looks, in microseconds.
    private static let interval: UInt32 = 20_000
    /// For so many looks a holder may be without the word that says what it does: it writes it after it has the lock.
    private static let looksForTheWord = 5

    let opening: DatabaseOpening

    private var looks: Int { max(1, Int(opening.options.busyTimeoutSeconds * 1_000_000) / Int(Self.interval)) }

    /// What is missing of the schema; nil where there is no schema yet.
    private func pending() throws(StorageError) -> [String]? {
        FileManager.default.fileExists(atPath: opening.path) ? try opening.inspect() : nil
    }

    /// Takes the lock of the process that acquires, after a command that changes the schema at this moment.
    ///
    /// - Throws: `inUse` where another process acquires.
    func acquire() throws(StorageError) -> AcquisitionLock {
        for _ in 1..<looks {
            do {
                return try AcquisitionLock(database: opening.path, isUpdating: true)
            } catch {
                guard case .inUse = error, AcquisitionLock.holderIsUpdating(database: opening.path) else { throw error }
                usleep(Self.interval)
            }
        }
        return try AcquisitionLock(database: opening.path, isUpdating: true)
    }

    /// Takes the lock for a command, where there is something to change; no process begins to acquire while it holds.
    ///
    /// A database that is not there yet is created without it: a command would leave a lock file of its own pid, and whoever
    /// creates at the same moment waits in ``awaitCreation(_:)``.
    ///
    /// - Returns: nil where the schema is what this version wants, or there is none.
    /// - Throws: `olderSchemaInUse` where an older version acquires: it would go on with a schema that it does not know;
    ///   `busy` where another process changes the schema, and takes longer than a command waits.
    func holdForUpdate() throws(StorageError) -> AcquisitionLock? {
        var unexplained = 0
        for _ in 0..<looks {
            guard let pending = try pending() else {
                if !AcquisitionLock.holderIsUpdating(database: opening.path) { return nil }
                usleep(Self.interval)
                continue
            }
            if pending.isEmpty { return nil }
            do {
                let lock = try AcquisitionLock(database: opening.path, isUpdating: true)
                return try self.pending() == [] ? nil : lock
            } catch {
                guard case .inUse(let path, let pid) = error else { throw error }
                unexplained = AcquisitionLock.holderIsUpdating(database: path) ? 0 : unexplained + 1
                if unexplained == Self.looksForTheWord { throw .olderSchemaInUse(path: path, pid: pid) }
                usleep(Self.interval)
            }
        }
        throw .busy(detail: "another process brings the schema up to date")
    }

    /// Waits until another process has created the same database.
    ///
    /// - Returns: false where it has not, as long as a command waits.
    func awaitCreation(_ isComplete: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<looks {
            if try isComplete() { return true }
            usleep(Self.interval)
        }
        return false
    }
}
