import Bluetooth
import Foundation
import GRDB
import GRDBSQLite

/// The move of keys out of a database of an older version, in which whoever might read recordings could read them.
///
/// 1. The keys are written into the ``PairingKeyFile``, on the disk, with a note that the database holds them, too.
/// 2. The migration drops their tables, with `secure_delete`: SQLite overwrites the pages.
/// 3. The write-ahead log, which holds pages as they were before, is written into the database and emptied.
/// 4. The note is taken away.
///
/// Whatever ends the process in between, the next one that opens the database for writing goes on: nothing is lost, for the
/// file is there before anything is overwritten, and step 3 is made again for as long as there is the note.
struct KeyMove {
    /// The migration that drops the tables.
    static let migration = "m0032_pairing_keys"
    private static let tables = ["long_term_key", "identity_resolving_key", "link_key"]

    let file: PairingKeyFile

    /// Step 1, and what step 2 needs. Nothing where the database has no such tables.
    ///
    /// - Throws: `readOnly` where somebody else than the owner of the database, such as a member of its group, would own the
    ///   file.
    func prepare(_ db: Database) throws {
        guard try Self.tables.allSatisfy({ try db.tableExists($0) }) else { return }
        guard file.isOwners else {
            throw StorageError.readOnly(
                detail: "keys of pairings are moved out of it, which its owner does: start eegsync run of this version")
        }
        let (bonds, linkKeys) = (try Self.bonds(in: db), try Self.linkKeys(in: db))
        let mayHaveHeld = try db.tableExists("headset") && Int.fetchOne(db, sql: "SELECT count(*) FROM headset") ?? 0 > 0
        if !bonds.isEmpty || !linkKeys.isEmpty || mayHaveHeld {
            try file.change { keys in
                for bond in bonds { keys.set(bond, with: bond.identity) }
                for key in linkKeys { keys.set(key, of: key.peripheral) }
                keys.areErasing = true
            }
        }
        // Answers with its new value.
        _ = try Int.fetchOne(db, sql: "PRAGMA secure_delete = ON")
    }

    /// Steps 3 and 4, where they are due.
    ///
    /// - Returns: false where a reader of an older snapshot holds the log back; the next opening tries again.
    @discardableResult
    func finish(_ writer: any DatabaseWriter) throws -> Bool {
        guard try file.keys().areErasing else { return true }
        let isEmptied = writer.writeWithoutTransaction { db in
            let result = try? db.checkpoint(.truncate)
            return result.map { $0.walFrameCount == $0.checkpointedFrameCount } ?? false
        }
        // Copies from before changes of the schema hold keys, too: as secret as the file, until they are removed.
        if let database = file.path.map({ String($0.dropLast("-keys".count)) }) {
            SchemaSnapshot.makeSecret(of: database)
        }
        guard isEmptied else { return false }
        try file.change { $0.areErasing = false }
        return true
    }

    // MARK: The tables of versions before

    private static func bonds(in db: Database) throws -> [Bond] {
        var bonds: [Bond] = []
        func add(_ row: Row, _ change: (inout Bond, SecretKey) -> Void) {
            guard let identity = PeripheralIdentifier(row), let value = SecretKey(row["value"] as Data) else { return }
            var bond = Bond(identity: identity)
            if let index = bonds.firstIndex(where: { $0.identity == identity }) { bond = bonds.remove(at: index) }
            change(&bond, value)
            bonds.append(bond)
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM long_term_key") {
            add(row) { bond, value in
                bond.longTermKeys.append(
                    LongTermKey(
                        type: row["type"], isForCentral: row["is_for_central"], encryptionSize: row["encryption_size"],
                        encryptedDiversifier: row["encrypted_diversifier"],
                        randomNumber: UInt64(bitPattern: row["random_number"]), value: value))
            }
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM identity_resolving_key") {
            add(row) { bond, value in bond.identityResolvingKey = value }
        }
        return bonds
    }

    private static func linkKeys(in db: Database) throws -> [LinkKey] {
        try Row.fetchAll(db, sql: "SELECT * FROM link_key").compactMap { row in
            guard let peripheral = PeripheralIdentifier(row["address"] as String, defaultType: .classic),
                let value = SecretKey(row["value"] as Data)
            else { return nil }
            return LinkKey(peripheral: peripheral, type: row["type"], pinLength: row["pin_length"], value: value)
        }
    }
}
