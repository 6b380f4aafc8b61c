import Bluetooth
import Headsets

/// A headset that was found in range and may be set up.
struct SetupCandidate: Hashable {
    var identifier: PeripheralIdentifier
    var model: String
    var modelName: String
    /// The local name that it advertises.
    var advertisedName: String?
    /// In dBm; nil where it could not be measured.
    var rssi: Int?
    /// The name that the configuration has for it already.
    var knownAs: String?

    /// The words by which a person distinguishes it.
    var words: String { "\(modelName)\(advertisedName.map { " \($0)" } ?? "") (\(identifier.addressDescription))" }
}

extension SetupCandidate {
    /// The candidates of a scan, the strongest first; what is connected to something is none.
    static func candidates(_ facts: ScanFacts) -> [SetupCandidate] {
        facts.headsets.compactMap { headset in
            guard headset.mode != .connected,
                let identifier = PeripheralIdentifier("\(headset.address)/\(headset.addressType)")
            else { return nil }
            return SetupCandidate(
                identifier: identifier, model: headset.model, modelName: headset.modelName, advertisedName: headset.name,
                rssi: headset.rssiDbm, knownAs: headset.knownAs)
        }
    }
}

/// A headset with the name that a person gave it.
struct NamedHeadset: Hashable {
    var name: String
    var candidate: SetupCandidate
    /// What it proved its identity by, once there was a link.
    var serialNumber: String?
}
