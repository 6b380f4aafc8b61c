package import Bluetooth
import GRDB

/// The latest decision about the address of a headset.
package struct AdoptionWish: Hashable, Sendable {
    /// Rises with each decision.
    package var id: Int64
    package var headset: HeadsetID
    package var identifier: PeripheralIdentifier
    package var decision: AdoptionDecision
}

/// A candidate as `eegsync status` shows it.
package struct AddressCandidate: Hashable, Sendable {
    package var identifier: PeripheralIdentifier
    package var name: String?
    package var rssi: Int8?
}

/// What a person should know of the address of a headset that proves nothing.
package struct AddressActivity: Hashable, Sendable {
    /// Candidates of the last two minutes.
    package var candidates: [AddressCandidate]
    /// The address that was adopted by itself and that no person has confirmed; nil where there is none.
    package var provisional: PeripheralIdentifier?
    /// Where the headset was before that.
    package var replaced: PeripheralIdentifier?
}

extension AddressActivity {
    /// For how long a candidate counts as in sight after it was heard.
    private static let candidateAge = Duration.seconds(120)

    init(of headset: Int64, hostBoot: Int64?, at now: MonotonicTime, in db: Database) throws {
        let candidates = try Row.fetchAll(
            db,
            sql: """
                SELECT * FROM candidate WHERE headset_id = ? AND host_boot_id IS ? AND boottime_ns >= ?
                ORDER BY address, address_type
                """, arguments: [headset, hostBoot, (now - Self.candidateAge).nanoseconds])
        self.init(
            candidates: candidates.compactMap { row in
                PeripheralIdentifier(row).map {
                    AddressCandidate(
                        identifier: $0, name: row["name"], rssi: (row["rssi"] as Int64?).map { Int8(clamping: $0) })
                }
            })
        let latest = try Row.fetchOne(
            db, sql: "SELECT * FROM adoption WHERE headset_id = ? ORDER BY id DESC LIMIT 1", arguments: [headset])
        guard let latest, latest["decision"] == AdoptionDecision.automatic.rawValue else { return }
        provisional = PeripheralIdentifier(latest)
        replaced = PeripheralIdentifier(replacedIn: latest)
    }
}

extension PeripheralIdentifier {
    /// Reads the columns `address` and `address_type`; nil where they hold none.
    init?(_ row: Row) {
        self.init("\(row["address"] as String)/\(row["address_type"] as String)")
    }

    /// Reads the columns of the address that was replaced.
    init?(replacedIn row: Row) {
        guard let address: String = row["replaced_address"], let type: String = row["replaced_address_type"] else { return nil }
        self.init("\(address)/\(type)")
    }
}
