import GRDB

/// An open database: what was recorded, what is missing, and what the operator wants.
///
/// What a process may do with it is its type: an ``AcquisitionStore`` writes what is recorded, a ``ControlStore`` what the
/// operator wants, and a ``ReadOnlyStore`` nothing. Each can read, by extensions of this protocol. Every call is synchronous
/// and safe from any thread; writes wait for each other. One process acquires into a database (see ``AcquisitionLock``), any
/// number of others may read it and change the operator's wishes.
package protocol Store: Sendable {
    /// The host boot that instants given to this store belong to.
    var hostBoot: HostBoot { get }
    /// The row of ``hostBoot``; nil where the database has not seen it.
    var presentBoot: Int64? { get }
    /// What is open.
    var database: OpenDatabase { get }
}

extension Store {
    /// The file, or nil for a database in memory.
    package var path: String? { database.path }

    /// Closes the database, and gives the acquisition lock back. Further calls throw, also of stores that share the database.
    package func close() throws(StorageError) { try database.close() }

    static func requireRecording(_ recording: RecordingID, in db: Database) throws {
        let exists = try SQLRequest<Bool>(
            sql: "SELECT EXISTS (SELECT 1 FROM recording WHERE id = ?)", arguments: [recording.rawValue], cached: true
        ).fetchOne(db)
        // What is being deleted is not there for anybody else.
        let isDeleted = try Deletion.isNoted(recording, in: db)
        guard exists == true, !isDeleted else {
            throw StorageError.notFound(what: "recording \(recording.rawValue)\(isDeleted ? " any more: it was deleted" : "")")
        }
    }
}
