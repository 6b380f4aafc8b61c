package import Bluetooth
import GRDB

/// One of a headset's model, heard at an address that nothing proves to be the headset's.
package struct CandidateRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var identifier: PeripheralIdentifier
    /// The local name that it advertised; nil where there was none.
    package var name: String?
    /// In dBm; nil where it was not heard but found connected.
    package var rssi: Int8?
    /// When it was heard last.
    package var at: MonotonicTime

    package init(headset: HeadsetID, identifier: PeripheralIdentifier, name: String?, rssi: Int8?, at: MonotonicTime) {
        self.headset = headset
        self.identifier = identifier
        self.name = name
        self.rssi = rssi
        self.at = at
    }
}

extension CandidateRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    /// How many candidates of a headset are kept.
    private static let kept = 16

    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO candidate (headset_id, address, address_type, name, rssi, host_boot_id, boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (headset_id, address, address_type) DO UPDATE SET name = coalesce(excluded.name, name),
                rssi = coalesce(excluded.rssi, rssi), host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns
            """,
            [
                headset.rawValue, identifier.addressDescription, identifier.addressType.rawValue, name,
                rssi.map { Int64($0) }, transaction.hostBoot, at.nanoseconds,
            ])
        try transaction.execute(
            """
            DELETE FROM candidate WHERE headset_id = ?1 AND (address, address_type) IN (
                SELECT address, address_type FROM candidate WHERE headset_id = ?1
                ORDER BY host_boot_id DESC, boottime_ns DESC, address, address_type LIMIT -1 OFFSET \(Self.kept))
            """, [headset.rawValue])
    }
}

/// Who decided about an address.
package enum AdoptionDecision: String, Hashable, Sendable, Codable, CaseIterable {
    /// A person: the headset is there.
    case `operator`
    /// Nobody: it was the only one in sight. It is provisional until a person confirms it.
    case automatic
    /// The headset is where it was before.
    case withdrawn
}

/// A change of a headset's address that nothing proves.
package struct AdoptionRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    /// The recording that it concerns; nil for none.
    package var recording: RecordingID?
    /// Where the headset is from then on.
    package var identifier: PeripheralIdentifier
    /// Where it was before; nil where nowhere.
    package var replaced: PeripheralIdentifier?
    package var decision: AdoptionDecision
    package var at: MonotonicTime

    package init(
        headset: HeadsetID, recording: RecordingID?, identifier: PeripheralIdentifier, replaced: PeripheralIdentifier?,
        decision: AdoptionDecision, at: MonotonicTime
    ) {
        self.headset = headset
        self.recording = recording
        self.identifier = identifier
        self.replaced = replaced
        self.decision = decision
        self.at = at
    }
}

extension AdoptionRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO adoption (headset_id, recording_id, address, address_type, replaced_address, replaced_address_type,
                decision, host_boot_id, boottime_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, recording?.rawValue, identifier.addressDescription, identifier.addressType.rawValue,
                replaced?.addressDescription, replaced?.addressType.rawValue, decision.rawValue, transaction.hostBoot,
                at.nanoseconds,
            ])
        guard decision == .withdrawn, let former = replaced else { return }
        try transaction.execute(
            "DELETE FROM headset_identifier WHERE headset_id = ? AND address = ? AND address_type = ?",
            [headset.rawValue, former.addressDescription, former.addressType.rawValue])
    }
}
