import Headsets

extension ConfigurationParser {
    /// Longer names are cut in views; none of the 10-5 system's has more than 5 characters.
    private static let nameLengthMaximum = 32

    /// The names of a headset's EEG channels; as many as the model has.
    mutating func montage(_ value: ConfigurationNode, model: String) -> Montage? {
        let profile = described.first { $0.model == model }.map { DescribedProfile($0) as any HeadsetProfile }
        let count = (profile ?? (try? HeadsetCatalog.builtIn.profile(model: model))).map { Montage.channelCount(of: $0) }
        let allowed =
            switch count {
            case .some(.some(let count)): "a list of \(count) different names such as AF7"
            default: "a list of different names such as AF7"
            }
        if case .some(.none) = count {
            problems.append(value.problem("a headset of model '\(model)' tells its channels itself", allowed: "no 'montage'"))
            return nil
        }
        var names: [String] = []
        for element in list(value, allowed: allowed) {
            guard let name = text(element, allowed: allowed, limit: Self.nameLengthMaximum) else { continue }
            let isLegal = name.unicodeScalars.allSatisfy {
                switch $0 {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "'": true
                default: false
                }
            }
            if !isLegal {
                problems.append(
                    element.problem("\(element.kind) has characters other than letters, digits, - _ '", allowed: allowed))
            }
            if names.contains(where: { $0.lowercased() == name.lowercased() }) {
                problems.append(element.problem("the name '\(name)' is taken by another channel", allowed: allowed))
            }
            names.append(name)
        }
        if case .some(.some(let count)) = count, let written = value.elements?.count, written != count {
            problems.append(value.problem("there are \(written) names for \(count) channels", allowed: allowed))
        }
        return Montage(names)
    }
}
