import Evidence
import GRDB

/// What recordings, headsets, annotations and links from before they had UUIDs are called in a copy that is merged.
///
/// The step that gives them UUIDs makes random ones: others in each copy, so that the same file would come in again with each
/// merge. These are of version 8 (RFC 9562, 5.8), derived as those of streams are, of what no two recordings share and every
/// copy of the database has.
enum DerivedIdentity {
    /// The step that gives UUIDs.
    static let migration = "m0035_identity"

    /// The UUID of a recording.
    ///
    /// - Parameters:
    ///   - hostBoot: the kernel's random identifier of the boot in which the recording was asked for.
    ///   - requested: when that was, in nanoseconds of that boot.
    ///   - key: its key in its own database.
    static func recording(hostBoot: String, requested: Int64, key: Int64) -> String {
        uuid(of: "recording", [hostBoot, "\(requested)", "\(key)"])
    }

    private static func uuid(of kind: String, _ parts: [String]) -> String {
        Digest(of: "eegsync \(kind)\n" + parts.map { $0 + "\n" }.joined()).uuid
    }

    /// Gives all recordings of a database theirs, and what belongs to them. A headset is named by its first recording: its own
    /// name may change, and its serial number may become known later.
    static func write(in db: Database) throws {
        let recordings = try Row.fetchAll(
            db,
            sql: """
                SELECT r.id, r.headset_id, b.uuid, r.requested_boottime_ns
                FROM recording AS r JOIN host_boot AS b ON b.id = r.requested_host_boot_id ORDER BY r.id
                """)
        var headsets: Set<Int64> = []
        for row in recordings {
            let (key, headset): (Int64, Int64) = (row[0], row[1])
            let uuid = recording(hostBoot: row[2], requested: row[3], key: key)
            try name("recording", key, uuid, in: db)
            if headsets.insert(headset).inserted { try name("headset", headset, Self.uuid(of: "headset", [uuid]), in: db) }
            // Of two copies that went on apart, each has an annotation of the next number.
            let annotations = try Row.fetchAll(
                db,
                sql: """
                    SELECT a.id, b.uuid, a.boottime_ns, a.source, a.description
                    FROM annotation AS a JOIN host_boot AS b ON b.id = a.host_boot_id WHERE a.recording_id = ?
                    """, arguments: [key])
            try nameAll("annotation", annotations, of: uuid, in: db)
            let links = try Row.fetchAll(
                db,
                sql: """
                    SELECT l.id, b.uuid, l.began_boottime_ns
                    FROM link AS l JOIN host_boot AS b ON b.id = l.host_boot_id WHERE l.recording_id = ?
                    """, arguments: [key])
            try nameAll("link", links, of: uuid, in: db)
        }
    }

    /// Names rows of a recording, each by all its columns.
    private static func nameAll(_ table: String, _ rows: [Row], of recording: String, in db: Database) throws {
        for row in rows {
            let parts = row.databaseValues.map { String.fromDatabaseValue($0) ?? "\(Int64.fromDatabaseValue($0) ?? 0)" }
            try name(table, row[0], uuid(of: table, [recording] + parts), in: db)
        }
    }

    private static func name(_ table: String, _ key: Int64, _ uuid: String, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE \(table) SET uuid = ? WHERE id = ?").execute(arguments: [uuid, key])
    }
}
