package import Bluetooth
import GRDB

/// What the database knows about a headset itself.
extension Store {
    /// The key of the headset with a name in the configuration; nil where it was never recorded.
    package func headset(named name: String) throws(StorageError) -> HeadsetID? {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT id FROM headset WHERE name = ?", arguments: [name]).map(HeadsetID.init)
        }
    }

    /// The recording that was asked for last; nil where there is none.
    ///
    /// - Parameter headset: of the headset with this name; nil for all.
    package func newestRecording(of headset: String?) throws(StorageError) -> RecordingID? {
        try database.read { db in
            let number = try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(r.id) FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                    WHERE ?1 IS NULL OR h.name = ?1
                    """, arguments: [headset])
            return number.map(RecordingID.init)
        }
    }

    /// Identifiers under which the headset was reached, the last success first.
    package func identifiers(of headset: HeadsetID) throws(StorageError) -> [PeripheralIdentifier] {
        try database.read(headset.identifiers)
    }

    /// All changes of a headset's address that nothing proves, the oldest first.
    package func adoptionHistory(of headset: HeadsetID) throws(StorageError) -> [AdoptionRecord] {
        try database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM adoption WHERE headset_id = ? ORDER BY id", arguments: [headset.rawValue])
                .compactMap { row -> AdoptionRecord? in
                    guard let identifier = PeripheralIdentifier(row), let decision = AdoptionDecision(rawValue: row["decision"])
                    else { return nil }
                    return AdoptionRecord(
                        headset: headset, recording: (row["recording_id"] as Int64?).map(RecordingID.init),
                        identifier: identifier, replaced: PeripheralIdentifier(replacedIn: row), decision: decision,
                        at: MonotonicTime(nanoseconds: row["boottime_ns"]))
                }
        }
    }

    /// Throws where there is no headset of a name.
    ///
    /// - Throws: ``StorageError/notFound(what:)``.
    package func requireHeadset(named name: String) throws(StorageError) {
        guard try headset(named: name) != nil else { throw .notFound(what: "headset \(name)") }
    }
}

extension HeadsetID {
    /// Identifiers under which the headset was reached, the last success first.
    func identifiers(in db: Database) throws -> [PeripheralIdentifier] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT address, address_type FROM headset_identifier
                WHERE headset_id = ? AND last_success_boottime_ns IS NOT NULL
                ORDER BY last_success_host_boot_id DESC, last_success_boottime_ns DESC, address, address_type
                """, arguments: [rawValue]
        ).compactMap { row in PeripheralIdentifier(row) }
    }
}
