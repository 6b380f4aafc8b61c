import GRDB

/// The headset of a recording of another database, found here or made.
struct MergedHeadset {
    /// What it is called here.
    let name: String
    /// What it is called there, where that is another name.
    let formerName: String?
    /// Its key here.
    let key: Int64
    /// True where it was not here.
    let isNew: Bool

    /// Finds it by its UUID, else by model and serial number, else by what it has recorded that is here, too; else makes it,
    /// under a name that no other has.
    ///
    /// - Parameters:
    ///   - recording: its recording there.
    ///   - here: the same recording here; nil where it is not here.
    /// - Throws: `StorageError.refused` where the headset is of another model here.
    init(
        of recording: Int64, here: Int64?, from source: Database, to db: Database, keys: inout MergedKeys
    ) throws {
        let found = try Row.fetchOne(
            source, sql: "SELECT h.* FROM headset AS h JOIN recording AS r ON r.headset_id = h.id WHERE r.id = ?",
            arguments: [recording])
        guard let there = found else { throw StorageError.notFound(what: "headset of recording \(recording)") }
        let (named, model): (String, String) = (there["name"], there["model"])
        let (uuid, serial): (String?, String?) = (there["uuid"], there["serial_number"])
        let same = try Row.fetchOne(
            db,
            sql: """
                SELECT id, name, model, serial_number FROM headset WHERE uuid = ?1 OR (model = ?2 AND serial_number = ?3)
                ORDER BY uuid IS ?1 DESC LIMIT 1
                """, arguments: [uuid, model, serial])
        let known = try same ?? KnownRecording.headset(there["id"], of: here, in: source, here: db)
        if let known {
            guard known["model"] == model else {
                throw StorageError.refused(
                    reason: "headset \(named) is a \(model) there, and a \(known["model"] as String) here "
                        + "(\(known["name"] as String))")
            }
            (key, name, isNew) = (known["id"], known["name"], false)
            // A proof that is there already stays, and one that is another headset's is not taken over.
            if known["serial_number"] as String? == nil, serial != nil {
                try db.execute(
                    sql: "UPDATE OR IGNORE headset SET serial_number = ? WHERE id = ?",
                    arguments: [serial, known["id"] as Int64])
            }
        } else {
            name = try Self.freeName(named, in: db)
            try db.execute(
                sql: "INSERT INTO headset (name, model, serial_number, uuid) VALUES (?, ?, ?, ?)",
                arguments: [name, model, serial, uuid])
            (key, isNew) = (db.lastInsertedRowID, true)
        }
        formerName = name == named ? nil : named
        keys[.headset, there["id"]] = key
    }

    /// The name, or the first of `name-2`, `name-3` ... that no headset has.
    private static func freeName(_ name: String, in db: Database) throws -> String {
        var (candidate, number) = (name, 2)
        while try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM headset WHERE name = ?)", arguments: [candidate]) == true
        {
            candidate = "\(name)-\(number)"
            number += 1
        }
        return candidate
    }
}
