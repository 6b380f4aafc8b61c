import Bluetooth
import Headsets
import Yams

/// Reads a configuration and complains about everything in it that is not exactly right.
struct ConfigurationParser {
    /// The file's name, for messages.
    let file: String
    /// The models that this version knows.
    let models: [String]
    /// What describes those of them that are not built in.
    let described: [HeadsetDescriptor]

    var problems: [ConfigurationError.Problem] = []

    /// Creates a parser that accepts these models.
    init(file: String, models: [String], described: [HeadsetDescriptor] = []) {
        self.file = file
        self.models = models
        self.described = described
    }

    /// Parses a whole file.
    ///
    /// - Throws: ``ConfigurationError``, with all problems at once.
    static func parse(
        _ text: String, file: String, models: [String], described: [HeadsetDescriptor] = []
    ) throws(ConfigurationError) -> Configuration {
        var parser = ConfigurationParser(file: file, models: models, described: described)
        return try parser.parse(text)
    }

    private mutating func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        let root = ConfigurationNode(node: try compose(text), path: "")
        let found = fields(of: root, known: ["database", "central", "headsets", "limits", "log_level"])
        let configuration = Configuration(
            databasePath: databasePath(required("database", in: found, of: root, allowed: "an absolute path")),
            headsets: headsets(required("headsets", in: found, of: root, allowed: "a list of headsets")),
            central: found["central"].map { central($0) } ?? .automatic(Configuration.BlueZ(), Configuration.Kernel()),
            limits: found["limits"].map { limits($0) } ?? Configuration.Limits(),
            logLevel: found["log_level"].flatMap { word($0, as: Configuration.LogLevel.self) } ?? .info)
        guard problems.isEmpty else {
            let inOrder = problems.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            throw .invalid(file: file, problems: inOrder.map(\.element))
        }
        return configuration
    }

    private func compose(_ text: String) throws(ConfigurationError) -> Node {
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw ConfigurationError.malformed(file: file, line: nil, reason: "the file is empty")
            }
            return node
        } catch let error as ConfigurationError {
            throw error
        } catch let error as YamlError {
            throw .malformed(file: file, line: error.line, reason: error.reason)
        } catch {
            throw .malformed(file: file, line: nil, reason: "\(error)")
        }
    }

    // MARK: Sections

    private mutating func databasePath(_ value: ConfigurationNode?) -> String {
        guard let value, let path = text(value, allowed: "an absolute path", limit: 4096) else { return "" }
        if !path.hasPrefix("/") || path.hasSuffix("/") || path.unicodeScalars.contains("\0") {
            problems.append(value.problem("\(value.kind) is not the absolute path of a file", allowed: "an absolute path"))
        }
        return path
    }

    private mutating func headsets(_ value: ConfigurationNode?) -> [Configuration.Headset] {
        guard let value else { return [] }
        var result: [Configuration.Headset] = []
        for element in list(value, allowed: "a list of headsets") {
            let found = fields(
                of: element, known: ["name", "model", "identifiers", "serial", "passkey", "montage", "preset", "settings"])
            let name = headsetName(in: found, of: element, taken: result.map(\.name))
            let model = model(in: found, of: element, among: models)
            var headset = Configuration.Headset(
                name: name, model: model,
                serialNumber: found["serial"].flatMap { text($0, allowed: "1 ... 64 characters", limit: 64) },
                passkey: found["passkey"].flatMap { integer($0, in: 0...999_999) }.map { UInt32($0) },
                montage: found["montage"].flatMap { montage($0, model: model) },
                descriptor: described.first { $0.model == model },
                preset: found["preset"].flatMap { preset($0, model: model) })
            if let stated = found["settings"] { headset.settings = settings(stated, of: headset) }
            let isSerial = headset.profile?.usesSerialPort ?? false
            if let addresses = found["identifiers"] {
                headset.identifiers = identifiers(addresses, areClassic: isSerial)
                let taken = result.first { $0.identifiers.contains(where: headset.identifiers.contains) }
                if let taken {
                    problems.append(
                        addresses.problem("an address is that of '\(taken.name)', too", allowed: "each address once"))
                }
            }
            result.append(headset)
        }
        if value.elements?.isEmpty == true {
            problems.append(value.problem("no headset is named", allowed: "at least one headset"))
        }
        return result
    }

    /// One of the presets of the model's profile.
    private mutating func preset(_ value: ConfigurationNode, model: String) -> String? {
        let presets = (try? HeadsetCatalog.builtIn.profile(model: model))?.presets ?? []
        let allowed = presets.isEmpty ? "no preset with this model" : presets.joined(separator: ", ")
        guard let written = text(value, allowed: allowed, limit: 64) else { return nil }
        if presets.contains(written) { return written }
        problems.append(value.problem("\(value.kind) is no preset of the model", allowed: allowed))
        return nil
    }

    /// Addresses of Bluetooth Classic, whether they say so or not, for a headset with a serial port; else of Low Energy.
    private mutating func identifiers(_ value: ConfigurationNode, areClassic: Bool) -> [PeripheralIdentifier] {
        let allowed =
            areClassic
            ? "addresses of Bluetooth Classic such as 20:68:9D:00:13:24"
            : "addresses such as 00:55:DA:B0:13:24 or C0:55:DA:B0:13:24/random"
        return list(value, allowed: allowed).compactMap { element in
            guard let written = text(element, allowed: allowed, limit: 64) else { return nil }
            let identifier = PeripheralIdentifier(written, defaultType: areClassic ? .classic : .public)
            if let identifier, (identifier.addressType == .classic) == areClassic { return identifier }
            let transport = areClassic ? "Classic" : "Low Energy"
            let kind = identifier == nil ? "not a Bluetooth address" : "no address of Bluetooth \(transport)"
            problems.append(element.problem("\(element.kind) is \(kind)", allowed: allowed))
            return nil
        }
    }

    private mutating func central(_ value: ConfigurationNode) -> Configuration.Central {
        let allowed = "auto, bluez, kernel or simulation"
        let nothing = Configuration.Central.automatic(Configuration.BlueZ(), Configuration.Kernel())
        guard let kind = value.entries?.first(where: { $0.key == "kind" })?.value else {
            let why = value.entries == nil ? "\(value.kind) is not a mapping" : "'kind' is missing"
            problems.append(value.problem(why, allowed: "a mapping with 'kind': \(allowed)"))
            return nothing
        }
        switch kind.plainText ?? kind.node.scalar?.string {
        case "auto":
            let found = fields(of: value, known: ["kind", "adapter", "start_notify", "recover_adapter", "power_on"])
            return .automatic(bluez(found), kernel(found))
        case "bluez":
            return .bluez(bluez(fields(of: value, known: ["kind", "adapter", "start_notify", "recover_adapter"])))
        case "simulation":
            let found = fields(of: value, known: ["kind", "seed", "headsets"])
            let seed = found["seed"].flatMap { integer($0, in: 0...Int.max) } ?? 1
            let all = required("headsets", in: found, of: value, allowed: "a list of simulated headsets")
            return .simulation(Configuration.Simulation(seed: UInt64(seed), headsets: simulatedHeadsets(all)))
        case "kernel":
            return .kernel(kernel(fields(of: value, known: ["kind", "adapter", "power_on"])))
        default:
            problems.append(kind.problem("\(kind.kind) is no central", allowed: allowed))
        }
        return nothing
    }

    private mutating func kernel(_ found: [String: ConfigurationNode]) -> Configuration.Kernel {
        Configuration.Kernel(
            adapter: found["adapter"].flatMap { adapter($0) }, powersOn: found["power_on"].flatMap { flag($0) } ?? false)
    }

    private mutating func bluez(_ found: [String: ConfigurationNode]) -> Configuration.BlueZ {
        var settings = Configuration.BlueZ()
        settings.adapter = found["adapter"].flatMap { adapter($0) }
        settings.startNotify = found["start_notify"].map { identifiers($0, areClassic: false) } ?? []
        settings.recoversAdapter = found["recover_adapter"].flatMap { flag($0) } ?? false
        return settings
    }

    /// `hci0`, or the adapter's address.
    private mutating func adapter(_ value: ConfigurationNode) -> String? {
        let allowed = "a name such as hci0, or an address such as 00:AA:01:00:00:42"
        guard let written = text(value, allowed: allowed, limit: 32) else { return nil }
        let isName = written.hasPrefix("hci") && UInt16(written.dropFirst(3)) != nil
        if isName || (PeripheralIdentifier(written) != nil && !written.contains("/")) { return written }
        problems.append(value.problem("\(value.kind) is no adapter", allowed: allowed))
        return nil
    }

    private mutating func simulatedHeadsets(_ value: ConfigurationNode?) -> [Configuration.SimulatedHeadset] {
        guard let value else { return [] }
        var result: [Configuration.SimulatedHeadset] = []
        for element in list(value, allowed: "a list of simulated headsets") {
            let found = fields(of: element, known: ["name", "model", "serial"])
            let name = headsetName(in: found, of: element, taken: result.map(\.name))
            result.append(
                Configuration.SimulatedHeadset(
                    name: name, model: model(in: found, of: element, among: models.filter(Configuration.knownModels.contains)),
                    serialNumber: found["serial"].flatMap { text($0, allowed: "1 ... 64 characters", limit: 64) }))
        }
        return result
    }

    private mutating func limits(_ value: ConfigurationNode) -> Configuration.Limits {
        let found = fields(of: value, known: ["commit_interval_seconds", "buffer_rows", "synchronous"])
        var limits = Configuration.Limits()
        if let seconds = found["commit_interval_seconds"].flatMap({ number($0, in: 0.05...60, unit: "s") }) {
            limits.commitInterval = .nanoseconds(Int64((seconds * 1e9).rounded()))
        }
        if let rows = found["buffer_rows"].flatMap({ integer($0, in: 1_000...10_000_000) }) { limits.bufferRows = rows }
        if let mode = found["synchronous"].flatMap({ word($0, as: Configuration.Synchronous.self) }) {
            limits.synchronous = mode
        }
        return limits
    }

    // MARK: Values

    private mutating func headsetName(in found: [String: ConfigurationNode], of owner: ConfigurationNode, taken: [String])
        -> String
    {
        let allowed = "1 ... 64 letters, digits, '-', '_' or '.'"
        guard let value = required("name", in: found, of: owner, allowed: allowed),
            let name = text(value, allowed: allowed, limit: 64)
        else { return "" }
        let isLegal = name.unicodeScalars.allSatisfy {
            switch $0 {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
            default: false
            }
        }
        if !isLegal { problems.append(value.problem("\(value.kind) is no name for a headset", allowed: allowed)) }
        if taken.contains(name) {
            problems.append(value.problem("the name '\(name)' is taken by another headset", allowed: "a name of its own"))
        }
        return name
    }

    private mutating func model(
        in found: [String: ConfigurationNode], of owner: ConfigurationNode, among models: [String]
    ) -> String {
        let allowed = models.joined(separator: ", ")
        guard let value = required("model", in: found, of: owner, allowed: allowed),
            let model = text(value, allowed: allowed, limit: 64)
        else { return "" }
        if !models.contains(model) {
            problems.append(value.problem("\(value.kind) is no model that this version knows", allowed: allowed))
        }
        return model
    }

    mutating func text(_ value: ConfigurationNode, allowed: String, limit: Int) -> String? {
        guard let text = value.node.scalar?.string, !value.isEmpty, !text.isEmpty else {
            problems.append(value.problem("\(value.kind) is not a text", allowed: allowed))
            return nil
        }
        guard text.unicodeScalars.count <= limit, !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        else {
            problems.append(value.problem("\(value.kind) is too long or has control characters", allowed: allowed))
            return nil
        }
        return text
    }

    private mutating func integer(_ value: ConfigurationNode, in range: ClosedRange<Int>) -> Int? {
        let allowed = "a whole number, \(range.lowerBound) ... \(range.upperBound)"
        guard let text = value.plainText?.filter({ $0 != "_" }), let number = Int(text) else {
            problems.append(value.problem("\(value.kind) is not a whole number", allowed: allowed))
            return nil
        }
        guard range.contains(number) else {
            problems.append(value.problem("\(number) is out of range", allowed: allowed))
            return nil
        }
        return number
    }

    private mutating func number(_ value: ConfigurationNode, in range: ClosedRange<Double>, unit: String) -> Double? {
        let allowed = "a number, \(range.lowerBound) ... \(range.upperBound) \(unit)"
        // `Double` reads "nan", "inf" and hexadecimal; none of them is a number that a person means here.
        guard let text = value.plainText, let number = Double(text), number.isFinite, !text.lowercased().contains("x") else {
            problems.append(value.problem("\(value.kind) is not a finite number", allowed: allowed))
            return nil
        }
        guard range.contains(number) else {
            problems.append(value.problem("\(text) is out of range", allowed: allowed))
            return nil
        }
        return number
    }

    private mutating func flag(_ value: ConfigurationNode) -> Bool? {
        switch value.plainText {
        case "true": return true
        case "false": return false
        default:
            problems.append(value.problem("\(value.kind) is neither true nor false", allowed: "true or false"))
            return nil
        }
    }

    private mutating func word<Word: RawRepresentable & CaseIterable>(_ value: ConfigurationNode, as type: Word.Type) -> Word?
    where Word.RawValue == String {
        if let written = value.node.scalar?.string, let word = Word(rawValue: written) { return word }
        let allowed = type.allCases.map(\.rawValue).joined(separator: ", ")
        problems.append(value.problem("\(value.kind) is not one of the words", allowed: allowed))
        return nil
    }

    // MARK: Structure

    /// The known keys of a mapping; every other key is a problem.
    private mutating func fields(of value: ConfigurationNode, known: [String]) -> [String: ConfigurationNode] {
        guard let entries = value.entries else {
            problems.append(
                value.problem("\(value.kind) is not a mapping", allowed: "the keys \(known.joined(separator: ", "))"))
            return [:]
        }
        var found: [String: ConfigurationNode] = [:]
        for entry in entries {
            if known.contains(entry.key) {
                found[entry.key] = entry.value
            } else {
                problems.append(
                    ConfigurationError.Problem(
                        line: entry.keyLine, path: entry.value.path, why: "unknown key", allowed: known.joined(separator: ", "))
                )
            }
        }
        return found
    }

    private mutating func required(
        _ key: String, in found: [String: ConfigurationNode], of owner: ConfigurationNode, allowed: String
    ) -> ConfigurationNode? {
        if let value = found[key] { return value }
        if owner.entries != nil { problems.append(owner.problem("'\(key)' is missing", allowed: allowed)) }
        return nil
    }

    mutating func list(_ value: ConfigurationNode, allowed: String) -> [ConfigurationNode] {
        if let elements = value.elements { return elements }
        problems.append(value.problem("\(value.kind) is not a list", allowed: allowed))
        return []
    }
}

extension YamlError {
    /// The line that the parser stumbled over, from 1.
    fileprivate var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }

    /// What the parser says, in one line.
    fileprivate var reason: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _): problem
        case .reader(let problem, _, _, _): problem
        case .duplicatedKeysInMapping(let duplicates, _): "a key is written twice: \(duplicates.joined(separator: ", "))"
        default: "it cannot be read as YAML"
        }
    }
}
