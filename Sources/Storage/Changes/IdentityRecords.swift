package import Bluetooth
import GRDB

/// An identifier under which a headset was proven to be reached, or failed to be.
package struct IdentifierUse: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var identifier: PeripheralIdentifier
    package var at: MonotonicTime
    package var succeeded: Bool

    package init(headset: HeadsetID, identifier: PeripheralIdentifier, at: MonotonicTime, succeeded: Bool) {
        self.headset = headset
        self.identifier = identifier
        self.at = at
        self.succeeded = succeeded
    }
}

extension IdentifierUse: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    /// How many identifiers of a headset are kept: enough for several machines and firmwares, bounded for a headset whose
    /// address rotates every 15 minutes for weeks.
    static let kept = 16

    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        let address = identifier.addressDescription
        let type = identifier.addressType.rawValue
        let word = succeeded ? "success" : "failure"
        try transaction.execute(
            """
            INSERT INTO headset_identifier (headset_id, address, address_type, \(word)_count, last_\(word)_host_boot_id,
                last_\(word)_boottime_ns) VALUES (?, ?, ?, 1, ?, ?)
            ON CONFLICT (headset_id, address, address_type) DO UPDATE SET \(word)_count = \(word)_count + 1,
                last_\(word)_host_boot_id = excluded.last_\(word)_host_boot_id,
                last_\(word)_boottime_ns = excluded.last_\(word)_boottime_ns
            """,
            [headset.rawValue, address, type, transaction.hostBoot, at.nanoseconds])
        guard succeeded else { return }
        try transaction.execute("DELETE FROM candidate WHERE address = ? AND address_type = ?", [address, type])
        // Proven to be this headset now, so it finds no other one any more: two headsets are never swapped.
        try transaction.execute(
            "DELETE FROM headset_identifier WHERE address = ? AND address_type = ? AND headset_id <> ?",
            [address, type, headset.rawValue])
        try transaction.execute(
            """
            DELETE FROM headset_identifier WHERE headset_id = ?1 AND (address, address_type) IN (
                SELECT address, address_type FROM headset_identifier WHERE headset_id = ?1
                ORDER BY last_success_host_boot_id DESC, last_success_boottime_ns DESC, address, address_type
                LIMIT -1 OFFSET \(Self.kept))
            """, [headset.rawValue])
    }
}

/// The serial number, or whatever else the headset proves its identity by.
package struct IdentityProofRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var proof: String

    package init(headset: HeadsetID, proof: String) {
        self.headset = headset
        self.proof = proof
    }
}

extension IdentityProofRecord: ChangeRecord {
    /// Of what replaces the one before, only the latest is worth writing.
    static var waitingMaximum: Int? { 1 }
    var subject: ChangeSubject { .headset(headset) }

    /// A proof that is there already stays, and one that is another headset's is not taken over.
    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "UPDATE OR IGNORE headset SET serial_number = ? WHERE id = ? AND serial_number IS NULL",
            [proof, headset.rawValue])
    }
}
