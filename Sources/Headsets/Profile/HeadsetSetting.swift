package import Bluetooth

/// Something that a person may set about a headset, such as the gain of its amplifiers: data, from which commands, decoder and
/// scales of the profile follow.
package struct HeadsetSetting: Hashable, Sendable {
    /// The name in a configuration, lower case with `_`; unique within a model.
    package var name: String
    /// What it is, in one sentence for people.
    package var meaning: String
    /// The unit of the values, such as `Hz`; nil where they have none.
    package var unit: String?
    /// The values that it can have, as they are written; at least one.
    package var values: [String]
    /// The value where a person states none, one of ``values``; nil where the headset is left as it is.
    package var usual: String?
    /// How many channels can have values of their own; nil for a setting of the whole headset.
    package var channelCount: Int?

    /// Creates a setting.
    package init(
        name: String, meaning: String, unit: String? = nil, values: [String], usual: String?, channelCount: Int? = nil
    ) {
        self.name = name
        self.meaning = meaning
        self.unit = unit
        self.values = values
        self.usual = usual
        self.channelCount = channelCount
    }

    /// A setting that is on or off.
    package init(name: String, meaning: String, usual: Bool, channelCount: Int? = nil) {
        self.init(
            name: name, meaning: meaning, values: ["true", "false"], usual: usual ? "true" : "false",
            channelCount: channelCount)
    }
}

/// The settings of one headset that a person has stated, all of which its model has, with values that they can have.
package struct HeadsetSettings: Hashable, Sendable {
    private struct Statement: Hashable, Sendable {
        var name: String
        var values: [String]
        var isPerChannel: Bool
    }

    private var statements: [Statement] = []

    /// Creates settings of which none is stated.
    package init() {}

    /// True where nothing is stated.
    package var isEmpty: Bool { statements.isEmpty }

    /// States a setting.
    ///
    /// - Parameters:
    ///   - name: the setting's name.
    ///   - values: one value; for a setting of single channels also one for each channel, in their order. A list that is
    ///     shorter leaves the other channels as they usually are.
    ///   - isList: true where the values are one a channel, even if it is only one.
    ///   - known: the settings of the model.
    /// - Throws: ``HeadsetSettingError``; then nothing is stated.
    package mutating func state(
        _ name: String, _ values: [String], isList: Bool, of known: [HeadsetSetting]
    ) throws(HeadsetSettingError) {
        guard let setting = known.first(where: { $0.name == name }) else {
            throw .unknownSetting(name, known: known.map(\.name))
        }
        guard !statements.contains(where: { $0.name == name }) else { throw .statedTwice(name) }
        if let wrong = values.first(where: { !setting.values.contains($0) }) {
            throw .valueNotAllowed(wrong, setting: name, allowed: setting.values)
        }
        let countMaximum = isList ? setting.channelCount ?? 0 : 1
        guard !values.isEmpty, values.count <= countMaximum else {
            throw .wrongCount(values.count, setting: name, maximum: setting.channelCount)
        }
        statements.append(Statement(name: name, values: values, isPerChannel: isList))
    }

    /// The value that was stated for a setting of the whole headset; nil where none was.
    package subscript(name: String) -> String? { statements.first { $0.name == name }?.values.first }

    /// The value that was stated for a channel, from 0; nil where none was.
    package subscript(name: String, channel: Int) -> String? {
        guard let statement = statements.first(where: { $0.name == name }) else { return nil }
        guard statement.isPerChannel else { return statement.values.first }
        return channel < statement.values.count ? statement.values[channel] : nil
    }
}

/// Why a setting cannot be stated.
package enum HeadsetSettingError: Error, Hashable, Sendable {
    /// The model has no such setting; `known` are those that it has.
    case unknownSetting(String, known: [String])
    /// The setting has other values.
    case valueNotAllowed(String, setting: String, allowed: [String])
    /// There are so many values, of which a channel each could have one; `maximum` is nil for a setting of the whole headset.
    case wrongCount(Int, setting: String, maximum: Int?)
    /// The setting was stated before.
    case statedTwice(String)

    /// Only a person can correct it.
    package var disposition: Disposition { .stop }

    /// What is wrong, without what would be right.
    package var problem: String {
        switch self {
        case .unknownSetting(let name, _): "'\(name)' is no setting of the model"
        case .valueNotAllowed(let value, _, _): "'\(value)' is no value of the setting"
        case .wrongCount(let count, _, nil): "a list of \(count) is not one value for the whole headset"
        case .wrongCount(let count, _, .some(_)): "\(count) values are not one for each of the first channels"
        case .statedTwice(let name): "'\(name)' is stated twice"
        }
    }

    /// What would be right.
    package var allowed: String {
        switch self {
        case .unknownSetting(_, let known): known.isEmpty ? "no settings with this model" : known.joined(separator: ", ")
        case .valueNotAllowed(_, _, let allowed): allowed.joined(separator: ", ")
        case .wrongCount(_, _, nil): "one value"
        case .wrongCount(_, _, .some(let maximum)): "one value for all, or a list of 1 ... \(maximum)"
        case .statedTwice: "once"
        }
    }
}

extension HeadsetSettingError: CustomStringConvertible {
    /// What is wrong and what would be right.
    package var description: String { "\(problem) (allowed: \(allowed))" }
}
