public import Bluetooth
import GRDB

/// What the database knows about a headset itself.
extension Store {
    /// The key of the headset with a name in the configuration; nil where it was never recorded.
    public func headset(named name: String) throws(StorageError) -> HeadsetID? {
        try connection.read { db in
            try Int64.fetchOne(db, sql: "SELECT id FROM headset WHERE name = ?", arguments: [name]).map(HeadsetID.init)
        }
    }

    /// The serial number or other proof of identity; nil where none was seen yet.
    public func identityProof(of headset: HeadsetID) throws(StorageError) -> String? {
        try connection.read { db in
            try String.fetchOne(db, sql: "SELECT serial_number FROM headset WHERE id = ?", arguments: [headset.rawValue])
        }
    }

    /// Notes the proof of identity of a headset: once, because a headset does not become another one.
    ///
    /// - Throws: ``StorageError/refused(reason:)`` where the headset has another proof, or another headset of the model has
    ///   this one; ``StorageError/notFound(what:)``.
    public func setIdentityProof(_ proof: String, of headset: HeadsetID) throws(StorageError) {
        try connection.write { db in
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT name, model, serial_number FROM headset WHERE id = ?", arguments: [headset.rawValue])
            else { throw StorageError.notFound(what: "headset \(headset.rawValue)") }
            let name: String = row["name"]
            if let known: String = row["serial_number"] {
                if known == proof { return }
                throw StorageError.refused(reason: "headset \(name) is known as \(known) and cannot become \(proof)")
            }
            let owner = try String.fetchOne(
                db, sql: "SELECT name FROM headset WHERE model = ? AND serial_number = ?",
                arguments: [row["model"] as String, proof])
            if let owner { throw StorageError.refused(reason: "\(proof) is headset \(owner) and cannot be headset \(name)") }
            try db.execute(
                sql: "UPDATE headset SET serial_number = ? WHERE id = ?", arguments: [proof, headset.rawValue])
        }
    }

    /// Identifiers under which the headset was reached, the last success first.
    public func identifiers(of headset: HeadsetID) throws(StorageError) -> [PeripheralIdentifier] {
        try connection.read { db in try Self.identifiers(of: headset, in: db) }
    }

    static func identifiers(of headset: HeadsetID, in db: Database) throws -> [PeripheralIdentifier] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT address, address_type FROM headset_identifier
                WHERE headset_id = ? AND last_success_boottime_ns IS NOT NULL
                ORDER BY last_success_host_boot_id DESC, last_success_boottime_ns DESC, address, address_type
                """, arguments: [headset.rawValue]
        ).compactMap { row in PeripheralIdentifier(row) }
    }
}
