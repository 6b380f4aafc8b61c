import Headsets
import YAMLReading

extension ConfigurationParser {
    /// Longer names are cut in views; none of the 10-5 system's has more than 5 characters.
    private static let nameLengthMaximum = 32

    /// The names of a headset's EEG channels; as many as the model has.
    mutating func montage(_ value: YAMLValue, model: String) -> Montage? {
        let profile = described.first { $0.model == model }.map { DescribedProfile($0) as any HeadsetProfile }
        let count = (profile ?? (try? HeadsetCatalog.builtIn.profile(model: model))).map { Montage.channelCount(of: $0) }
        let allowed =
            switch count {
            case .some(.some(let count)): "allowed is a list of \(count) different names such as AF7"
            default: "allowed is a list of different names such as AF7"
            }
        if case .some(.none) = count {
            complain(value, "a headset of model '\(model)' names its channels itself", "allowed is no 'montage'")
            return nil
        }
        var names: [String] = []
        for element in elements(value, allowed) {
            guard let name = text(element, limit: Self.nameLengthMaximum, allowed: allowed) else { continue }
            let isLegal = name.unicodeScalars.allSatisfy {
                switch $0 {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "'": true
                default: false
                }
            }
            if !isLegal { complain(element, "\(element.kind) has characters other than letters, digits, - _ '", allowed) }
            if names.contains(where: { $0.lowercased() == name.lowercased() }) {
                complain(element, "the name '\(name)' is taken by another channel", allowed)
            }
            names.append(name)
        }
        if case .some(.some(let count)) = count, let written = value.elements?.count, written != count {
            complain(value, "there are \(written) names for \(count) channels", allowed)
        }
        return Montage(names)
    }
}
