import Headsets

extension ConfigurationParser {
    /// What a person sets about a headset: a mapping of the model's settings, each with one value, or with a list of one for
    /// each channel.
    mutating func settings(_ value: ConfigurationNode, of headset: Configuration.Headset) -> HeadsetSettings {
        let known = headset.profile?.settings ?? []
        let names = known.isEmpty ? "no settings with this model" : known.map(\.name).joined(separator: ", ")
        var stated = HeadsetSettings()
        guard let entries = value.entries else {
            problems.append(value.problem("\(value.kind) is not a mapping", allowed: names))
            return stated
        }
        for (name, line, setting) in entries {
            let allowed = known.first { $0.name == name }?.values.joined(separator: ", ") ?? names
            let elements = setting.elements ?? [setting]
            let values = elements.compactMap { text($0, allowed: allowed, limit: 64) }
            guard values.count == elements.count else { continue }
            do throws(HeadsetSettingError) {
                try stated.state(name, values, isList: setting.elements != nil, of: known)
            } catch {
                problems.append(
                    ConfigurationError.Problem(line: line, path: setting.path, why: error.problem, allowed: error.allowed))
            }
        }
        return stated
    }
}
