package import Bluetooth
import GRDB

/// Addresses of headsets that prove nothing about themselves, and names.
extension ControlStore {
    /// Wants a headset at an address, which nothing but the person proves to be its own.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such headset, ``StorageError/refused(reason:)`` where
    ///   the address is another headset's.
    package func adopt(
        _ identifier: PeripheralIdentifier, headset name: String, at now: MonotonicTime
    ) throws(StorageError) {
        guard let headset = try headset(named: name) else { throw StorageError.notFound(what: "headset \(name)") }
        let former = try identifiers(of: headset).first { $0 != identifier }
        try write { db in
            let owner = try String.fetchOne(
                db,
                sql: """
                    SELECT h.name FROM headset_identifier AS i JOIN headset AS h ON h.id = i.headset_id
                    WHERE i.address = ? AND i.address_type = ? AND i.headset_id <> ? AND i.last_success_boottime_ns IS NOT NULL
                    """,
                arguments: [identifier.addressDescription, identifier.addressType.rawValue, headset.rawValue])
            if let owner {
                throw StorageError.refused(reason: "\(identifier) is the address of headset \(owner), not of \(name)")
            }
            let recording = try Int64.fetchOne(
                db, sql: "SELECT id FROM recording WHERE headset_id = ? AND desired_state = 'recording'",
                arguments: [headset.rawValue])
            let adoption = AdoptionRecord(
                headset: headset, recording: recording.map(RecordingID.init), identifier: identifier, replaced: former,
                decision: .operator, at: now)
            try adoption.write(in: BatchTransaction(db: db, hostBoot: hostBootID))
        }
    }

    /// Gives a headset another name. Everything that was recorded of it stays its own.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such headset, ``StorageError/refused(reason:)`` where
    ///   another one has the name.
    package func renameHeadset(_ name: String, to other: String) throws(StorageError) {
        guard try headset(named: name) != nil else { throw StorageError.notFound(what: "headset \(name)") }
        guard try headset(named: other) == nil, !other.isEmpty else {
            throw StorageError.refused(reason: "the name \(other) is another headset's already")
        }
        try write { db in
            try db.execute(sql: "UPDATE headset SET name = ? WHERE name = ?", arguments: [other, name])
        }
    }
}
