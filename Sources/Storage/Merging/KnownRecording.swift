import GRDB

/// By what a recording of another database is known here: its UUID.
///
/// A recording from before recordings had UUIDs was given one when its database was brought up to date, at random. Copies for
/// which that was done apart from each other, or of which one came in as an older file, have it under different ones. It is
/// known all the same by one of its streams, whose UUIDs were derived; one without streams by the UUID that a merge derives.
enum KnownRecording {
    /// The UUID that a recording of another database has here; its own where it is not here.
    ///
    /// - Parameters:
    ///   - recording: its key there.
    ///   - uuid: its UUID there.
    static func uuid(of recording: Int64, called uuid: String, in source: Database, here db: Database) throws -> String {
        if try isHere(uuid, db) { return uuid }
        let streams = try String.fetchAll(
            source, sql: "SELECT uuid FROM stream WHERE recording_id = ? AND uuid IS NOT NULL ORDER BY id",
            arguments: [recording])
        for stream in streams {
            let known = try String.fetchOne(
                db, sql: "SELECT r.uuid FROM stream AS st JOIN recording AS r ON r.id = st.recording_id WHERE st.uuid = ?",
                arguments: [stream])
            if let known { return known }
        }
        // With streams the UUIDs of these decide: boots of simulations are the same ones everywhere.
        guard streams.isEmpty else { return uuid }
        let request = try Row.fetchOne(
            source,
            sql: """
                SELECT b.uuid, r.requested_boottime_ns
                FROM recording AS r JOIN host_boot AS b ON b.id = r.requested_host_boot_id WHERE r.id = ?
                """, arguments: [recording])
        guard let request else { return uuid }
        let derived = DerivedIdentity.recording(hostBoot: request[0], requested: request[1], key: recording)
        return try isHere(derived, db) ? derived : uuid
    }

    private static func isHere(_ uuid: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM recording WHERE uuid = ?)", arguments: [uuid]) ?? false
    }

    /// The headset here of a recording, else of a stream that a headset of the other database has recorded, too; nil where
    /// there is none.
    ///
    /// - Parameters:
    ///   - headset: its key there.
    ///   - recording: a recording of it that is here, by its key here.
    static func headset(
        _ headset: Int64, of recording: Int64?, in source: Database, here db: Database
    ) throws -> Row? {
        if let recording { return try self.headset("r.id = ?", [recording], in: db) }
        let streams = try String.fetchAll(
            source,
            sql: """
                SELECT st.uuid FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
                WHERE r.headset_id = ? AND st.uuid IS NOT NULL ORDER BY st.id
                """, arguments: [headset])
        for stream in streams {
            let condition = "r.id = (SELECT recording_id FROM stream WHERE uuid = ?)"
            if let known = try self.headset(condition, [stream], in: db) { return known }
        }
        return nil
    }

    private static func headset(_ condition: String, _ arguments: StatementArguments, in db: Database) throws -> Row? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT h.id, h.name, h.model, h.serial_number
                FROM headset AS h JOIN recording AS r ON r.headset_id = h.id WHERE \(condition)
                """, arguments: arguments)
    }
}
