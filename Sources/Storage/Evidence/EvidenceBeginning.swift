import Evidence
import GRDB

/// What a database is given when it begins to keep evidence: identities of its streams, and the sums of what is there.
enum EvidenceBeginning {
    static func write(in db: Database) throws {
        let streams = try Row.fetchAll(db, sql: "SELECT id, recording_id FROM stream ORDER BY id")
        for stream in streams {
            let identity = try firstIdentity(ofStream: stream[0], recording: stream[1], in: db)
            try db.execute(
                sql: "UPDATE stream SET uuid = ? WHERE id = ?", arguments: [identity.uuid, stream[0] as Int64])
        }
        // A later step adds further ones, without rows.
        for table in DigestedTable.all where try db.tableExists(table.name) { try table.writeSums(in: db) }
    }

    /// The identity of a new stream of a recording that is in the database.
    static func newIdentity(ofStream stream: Int64, recording: Int64, in db: Database) throws -> StreamIdentity {
        guard let uuid = try String.fetchOne(db, sql: "SELECT uuid FROM recording WHERE id = ?", arguments: [recording]) else {
            throw StorageError.notFound(what: "recording \(recording)")
        }
        return StreamIdentity(recording: uuid, stream: stream)
    }

    /// The identity of a stream that was stored before streams had one.
    private static func firstIdentity(ofStream stream: Int64, recording: Int64, in db: Database) throws -> StreamIdentity {
        let found = try Row.fetchOne(
            db,
            sql: """
                SELECT b.uuid, r.requested_boottime_ns
                FROM recording AS r JOIN host_boot AS b ON b.id = r.requested_host_boot_id
                WHERE r.id = ?
                """, arguments: [recording])
        guard let found else { throw StorageError.notFound(what: "recording \(recording)") }
        return StreamIdentity(hostBoot: found[0], requested: found[1], recording: recording, stream: stream)
    }
}
