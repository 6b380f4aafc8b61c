import ArgumentParser
import Bluetooth
import Headsets
import Simulation

/// A model as it is imitated: one of those that rehearsals have, and whose radio is Bluetooth Low Energy.
struct ImitatedModel: Sendable {
    /// The name that people write, such as `muse` or `ganglion2`.
    let name: String
    /// What the daemon takes it for.
    let profile: any HeadsetProfile
    /// False where it by design never sends some of its samples.
    let sendsAllSamples: Bool
    /// Makes one, by its number from 1.
    let make: @Sendable (Int) -> HeadsetSpecification

    /// All of them. Beside each model as it comes from its maker there are its varieties, of which a person takes the first.
    static let all: [ImitatedModel] = SimulatedModel.all.flatMap { simulated -> [ImitatedModel] in
        let profile = simulated.profile
        // A serial port over Bluetooth Classic is no GATT database.
        guard !profile.usesSerialPort,
            let usual = HeadsetSpecification.headset(ofModel: profile.model), usual.identifier.addressType != .classic
        else { return [] }
        let model = ImitatedModel(
            name: profile.model, profile: profile, sendsAllSamples: simulated.varieties[0].sendsAllSamples,
            make: { HeadsetSpecification.headset(ofModel: profile.model, number: $0) ?? usual })
        let varieties = simulated.varieties.dropFirst().map { variety in
            ImitatedModel(
                name: variety.name, profile: profile, sendsAllSamples: variety.sendsAllSamples,
                make: { _ in variety.specification(0) })
        }
        return [model] + varieties
    }

    /// Those of a headset of the model that has its services discovered.
    var streams: [StreamDescription] { profile.adapted(to: make(1).database).streams }

    /// Their names in a row.
    static var names: String { all.map(\.name).joined(separator: ", ") }

    /// The one of a name.
    static func named(_ name: String) throws -> ImitatedModel {
        guard let model = all.first(where: { $0.name == name }) else {
            throw ValidationError("'\(name)' is no file and cannot be imitated; there are \(names).")
        }
        return model
    }
}
