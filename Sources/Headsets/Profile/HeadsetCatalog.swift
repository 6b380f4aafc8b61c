package import Bluetooth

/// The profiles that this program knows, by model identifier.
package struct HeadsetCatalog: Sendable {
    /// The profiles, in the order in which they are shown.
    package let profiles: [any HeadsetProfile]

    /// Creates a catalog.
    package init(profiles: [any HeadsetProfile]) {
        self.profiles = profiles
    }

    /// The profiles that are part of the program.
    package static let builtIn = HeadsetCatalog(profiles: [
        BufferedEEGProfile(), CytonProfile(), CytonBLEProfile(), ExploreProfile(), GanglionProfile(), HermesProfile(),
        MindWaveProfile(), MuseProfile(), TGAMProfile(), ThinkGearProfile(), UnicornProfile(),
    ])

    /// The model identifiers, in the order of ``profiles``.
    package var models: [String] { profiles.map(\.model) }

    /// The profile of a model.
    ///
    /// - Throws: ``HeadsetCatalogError/unknownModel(_:known:)``.
    package func profile(model: String) throws(HeadsetCatalogError) -> any HeadsetProfile {
        guard let profile = profiles.first(where: { $0.model == model }) else {
            throw .unknownModel(model, known: models)
        }
        return profile
    }
}

/// Why the catalog has no profile.
package enum HeadsetCatalogError: Error, Hashable, Sendable {
    /// No profile has the model identifier; `known` are those that exist.
    case unknownModel(String, known: [String])

    /// Only a person can correct the model's name.
    package var disposition: Disposition { .stop }
}

extension HeadsetCatalogError: CustomStringConvertible {
    /// What is wrong and which models there are.
    package var description: String {
        switch self {
        case .unknownModel(let model, let known):
            "the headset model \"\(model)\" is unknown; known models: \(known.joined(separator: ", "))"
        }
    }
}
