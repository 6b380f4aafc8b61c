import GRDB

/// A recording that was deleted, or is being: what is left of it, by which nobody takes it for lost.
package struct Deletion: Hashable, Sendable {
    /// Why a recording was deleted.
    package enum Means: String, Codable, Hashable, Sendable {
        /// A person deleted it.
        case delete
        /// A rule about age or size.
        case prune
        /// Its participant was erased: nothing more is said of it.
        case forget
    }

    package var recording: RecordingID
    package var means: Means
    /// The user of this machine who asked for it.
    package var requestedBy: String
    /// When, in UTC nanoseconds since 1970; nil where the clock is not known.
    package var unixNanoseconds: Int64?
    /// How many rows it had; nil where that is erased.
    package var rowCount: Int64?
    /// False while something of it is left: it goes in many small transactions, which the next deletion goes on with.
    package var isComplete: Bool

    /// True where a recording was deleted, or is being.
    static func isNoted(_ recording: RecordingID, in db: Database) throws -> Bool {
        try SQLRequest<Bool>(
            sql: "SELECT EXISTS (SELECT 1 FROM deletion WHERE recording_id = ?)", arguments: [recording.rawValue], cached: true
        ).fetchOne(db) ?? false
    }

    /// True where a stream belonged to a recording that was deleted, or is being.
    static func isNoted(stream uuid: String, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM deleted_stream WHERE uuid = ?)", arguments: [uuid]) ?? false
    }
}

extension Audit {
    /// True where the database says that a stream was deleted; that this is said by eegsync, its digests show.
    func wasDeleted(stream uuid: String) throws -> Bool { try Deletion.isNoted(stream: uuid, in: db) }
}

extension Store {
    /// What was deleted, or is being, by recording.
    package func deletions() throws(StorageError) -> [Deletion] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT d.*, k.offset_ns + d.boottime_ns AS unix_ns FROM deletion AS d
                    JOIN host_boot_clock AS k ON k.host_boot_id = d.host_boot_id ORDER BY d.recording_id
                    """
            ).map { row in
                Deletion(
                    recording: RecordingID(rawValue: row["recording_id"]),
                    means: Deletion.Means(rawValue: row["means"]) ?? .delete, requestedBy: row["requested_by"],
                    unixNanoseconds: row.instant("unix_ns"), rowCount: row["row_count"], isComplete: row["is_complete"])
            }
        }
    }
}
