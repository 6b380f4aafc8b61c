import Headsets
import YAMLReading

extension ConfigurationParser {
    /// What a person sets about a headset: a mapping of the model's settings, each with one value, or with a list of one for
    /// each channel.
    mutating func settings(_ value: YAMLValue, of headset: Configuration.Headset) -> HeadsetSettings {
        let known = headset.profile?.settings ?? []
        let names = known.isEmpty ? "no settings with this model" : known.map(\.name).joined(separator: ", ")
        var stated = HeadsetSettings()
        guard let entries = value.entries else {
            if !value.isOpen { complain(value, "\(value.kind) is not a mapping", "allowed: \(names)") }
            return stated
        }
        for (key, setting) in entries {
            let name = key.text ?? ""
            let allowed = known.first { $0.name == name }?.values.joined(separator: ", ") ?? names
            let elements = setting.elements ?? [setting]
            let values = elements.compactMap { text($0, limit: 64, allowed: "allowed: \(allowed)") }
            guard values.count == elements.count else { continue }
            do throws(HeadsetSettingError) {
                try stated.state(name, values, isList: setting.elements != nil, of: known)
            } catch {
                let isMisspelt = known.allSatisfy { $0.name != name } && !known.isEmpty
                complain(
                    key, error.problem,
                    isMisspelt ? Spelling.suggestion(for: name, among: known.map(\.name)) : "allowed: \(error.allowed)")
            }
        }
        return stated
    }
}
