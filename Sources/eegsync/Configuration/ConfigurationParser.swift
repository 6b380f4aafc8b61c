import Bluetooth
import Headsets
import Reconnection
import YAMLReading

/// Reads a configuration and complains about everything in it that is not exactly right.
struct ConfigurationParser: YAMLReader {
    /// The most bytes of a configuration; a larger file is somebody's mistake.
    static let lengthMaximum = 1_048_576

    /// The models that this version knows.
    private let models: [String]
    /// What describes those of them that are not built in.
    let described: [HeadsetDescriptor]

    var problems: [YAMLProblem] = []

    /// Parses a whole file.
    ///
    /// - Throws: ``ConfigurationError``, with all problems at once.
    static func parse(
        _ text: String, file: String, models: [String], described: [HeadsetDescriptor] = []
    ) throws(ConfigurationError) -> Configuration {
        var parser = ConfigurationParser(models: models, described: described)
        do throws(YAMLDocumentError) {
            var configuration = parser.configuration(try parser.document(text, lengthMaximum: lengthMaximum))
            if let error = parser.takeProblemsOfAlertsAlone() {
                configuration.alerts = nil
                configuration.alertsError = .wrong(file: file, error)
            }
            try parser.refuseProblems()
            return configuration
        } catch {
            throw .wrong(file: file, error)
        }
    }

    /// What is wrong with the alerts, where all else is right: that keeps nobody from recording. Nil where nothing is, or where
    /// more is, which is then refused together.
    private mutating func takeProblemsOfAlertsAlone() -> YAMLDocumentError? {
        guard problems.allSatisfy({ $0.key == "alerts" || $0.key.hasPrefix("alerts.") }) else { return nil }
        do throws(YAMLDocumentError) {
            try refuseProblems()
            return nil
        } catch {
            problems = []
            return error
        }
    }

    // MARK: Sections

    private mutating func configuration(_ root: YAMLValue) -> Configuration {
        let found = fields(
            root,
            [
                "database", "central", "headsets", "adopt", "adopt_after_seconds", "limits", "alerts", "retention", "ship",
                "serve", "lsl", "markers", "log_level",
            ])
        var configuration = Configuration(
            databasePath: databasePath(found),
            headsets: headsets(required("headsets", found, "allowed is a list of headsets")),
            central: found["central"].map { central($0) } ?? .automatic(Configuration.BlueZ(), Configuration.Kernel()),
            limits: found["limits"].map { limits($0) } ?? Configuration.Limits(), adoption: adoption(found),
            logLevel: word(found["log_level"], Configuration.LogLevel.self) ?? .info)
        configuration.alerts = found["alerts"].map { alerts($0, headsets: configuration.headsets.map(\.name)) }
        configuration.retention = found["retention"].map { retention($0) }
        configuration.ship = found["ship"].flatMap { ship($0) }
        configuration.serve = found["serve"].map { serve($0) } ?? Configuration.Serve()
        configuration.lslMarkers = found["lsl"].map { lslMarkers($0) } ?? []
        configuration.markers = found["markers"].map { markers($0) }
        return configuration
    }

    private mutating func databasePath(_ found: YAMLFields) -> String {
        let allowed = "allowed is an absolute path"
        guard let value = required("database", found, allowed), let path = text(value, limit: 4096, allowed: allowed) else {
            return ""
        }
        if !path.hasPrefix("/") || path.hasSuffix("/") {
            complain(value, "\(value.kind) is not the absolute path of a file", allowed)
        }
        return path
    }

    private mutating func headsets(_ value: YAMLValue?) -> [Configuration.Headset] {
        guard let value else { return [] }
        var result: [Configuration.Headset] = []
        for element in elements(value, "allowed is a list of headsets") {
            let found = fields(
                element,
                [
                    "name", "model", "identifiers", "serial", "passkey", "passkey_file", "montage", "preset", "settings",
                    "adopt",
                    "pairing_services", "reference", "ground",
                ])
            let name = headsetName(found, taken: result.map(\.name))
            let model = model(found, among: models)
            var headset = Configuration.Headset(
                name: name, model: model,
                serialNumber: text(found["serial"], limit: 64, allowed: Self.serialHint),
                adoption: word(found["adopt"], Adoption.Policy.self),
                pairingServices: found["pairing_services"].map { services($0) } ?? [],
                passkey: integer(found["passkey"], 0...999_999).map { UInt32($0) },
                montage: found["montage"].flatMap { montage($0, model: model) },
                descriptor: described.first { $0.model == model },
                preset: found["preset"].flatMap { preset($0, model: model) })
            headset.passkeyFile = passkeyFile(found)
            headset.reference = text(found["reference"], limit: 64, allowed: Self.electrodeHint)
            headset.ground = text(found["ground"], limit: 64, allowed: Self.electrodeHint)
            if let stated = found["settings"] { headset.settings = settings(stated, of: headset) }
            let isSerial = headset.profile?.usesSerialPort ?? false
            if let addresses = found["identifiers"] {
                headset.identifiers = identifiers(addresses, areClassic: isSerial)
                let taken = result.first { $0.identifiers.contains(where: headset.identifiers.contains) }
                if let taken {
                    complain(addresses, "an address is that of '\(taken.name)', too", "allowed is each address once")
                }
            }
            result.append(headset)
        }
        if value.elements?.isEmpty == true { complain(value, "no headset is named", "allowed is at least one headset") }
        return result
    }

    /// The file of a passkey, which stands in one of the two alone.
    private mutating func passkeyFile(_ found: YAMLFields) -> String? {
        let allowed = "allowed is the absolute path of a file of mode 0600, or the name of a systemd credential"
        guard let value = found["passkey_file"], let path = text(value, limit: 4096, allowed: allowed) else { return nil }
        if found["passkey"] != nil { complain(value, "the passkey stands in the configuration, too", "allowed is one of both") }
        if !path.hasPrefix("/") && (path.contains("/") || path.hasPrefix(".")) {
            complain(value, "\(value.kind) is neither an absolute path nor a name", allowed)
        }
        return path
    }

    /// One of the presets of the model's profile.
    private mutating func preset(_ value: YAMLValue, model: String) -> String? {
        let presets = (try? HeadsetCatalog.builtIn.profile(model: model))?.presets ?? []
        let allowed = presets.isEmpty ? "allowed is no preset with this model" : "allowed are \(Spelling.list(presets))"
        guard let written = text(value, limit: 64, allowed: allowed) else { return nil }
        if presets.contains(written) { return written }
        complain(value, "\(value.kind) is no preset of the model", allowed)
        return nil
    }

    /// Addresses of Bluetooth Classic, whether they say so or not, for a headset with a serial port; else of Low Energy, and
    /// of either type where they do not say which.
    private mutating func identifiers(_ value: YAMLValue, areClassic: Bool) -> [PeripheralIdentifier] {
        let allowed =
            areClassic
            ? "allowed are addresses of Bluetooth Classic such as 20:68:9D:00:13:24"
            : "allowed are addresses such as 00:55:DA:B0:13:24, or with a type C0:55:DA:B0:13:24/random"
        return elements(value, allowed).flatMap { element in
            guard let written = text(element, limit: 64, allowed: allowed) else { return [PeripheralIdentifier]() }
            let meant =
                areClassic
                ? [PeripheralIdentifier(written, defaultType: .classic)].compactMap(\.self)
                : PeripheralIdentifier.ofEitherType(written)
            if let first = meant.first, (first.addressType == .classic) == areClassic { return meant }
            let transport = areClassic ? "Classic" : "Low Energy"
            let kind = meant.isEmpty ? "not a Bluetooth address" : "no address of Bluetooth \(transport)"
            complain(element, "\(element.kind) is \(kind)", allowed)
            return []
        }
    }

    // MARK: The central

    private mutating func central(_ value: YAMLValue) -> Configuration.Central {
        let kinds = ["auto", "bluez", "kernel", "simulation"]
        let nothing = Configuration.Central.automatic(Configuration.BlueZ(), Configuration.Kernel())
        // The kind says which other keys there may be.
        guard let kind = value.entries?.first(where: { $0.key.text == "kind" })?.value else {
            let why = value.entries == nil ? "\(value.kind) is not a mapping" : "'kind' is missing"
            complain(value, why, "allowed is a mapping with 'kind': \(Spelling.list(kinds, "or"))")
            return nothing
        }
        switch kind.text {
        case "auto":
            let found = fields(value, ["kind", "adapter", "start_notify", "recover_adapter", "power_on", "repairing"])
            return .automatic(bluez(found), kernel(found))
        case "bluez":
            return .bluez(bluez(fields(value, ["kind", "adapter", "start_notify", "recover_adapter", "repairing"])))
        case "simulation":
            let found = fields(value, ["kind", "seed", "headsets"])
            let seed = integer(found["seed"], 0...Int.max) ?? 1
            let all = required("headsets", found, "allowed is a list of simulated headsets")
            return .simulation(Configuration.Simulation(seed: UInt64(seed), headsets: simulatedHeadsets(all)))
        case "kernel": return .kernel(kernel(fields(value, ["kind", "adapter", "power_on", "repairing"])))
        default:
            if !kind.isOpen {
                complain(kind, "\(kind.kind) is no central", Spelling.suggestion(for: kind.text ?? "", among: kinds))
            }
            return nothing
        }
    }

    private mutating func kernel(_ found: YAMLFields) -> Configuration.Kernel {
        Configuration.Kernel(
            adapter: found["adapter"].flatMap { adapter($0) }, powersOn: flag(found["power_on"]) ?? false,
            repairing: repairing(found))
    }

    private mutating func bluez(_ found: YAMLFields) -> Configuration.BlueZ {
        var settings = Configuration.BlueZ()
        settings.adapter = found["adapter"].flatMap { adapter($0) }
        settings.startNotify = found["start_notify"].map { identifiers($0, areClassic: false) } ?? []
        settings.recoversAdapter = flag(found["recover_adapter"]) ?? false
        settings.repairing = repairing(found)
        return settings
    }

    private mutating func repairing(_ found: YAMLFields) -> Configuration.Repairing {
        word(found["repairing"], Configuration.Repairing.self) ?? .always
    }

    /// `hci0`, or the adapter's address.
    private mutating func adapter(_ value: YAMLValue) -> String? {
        let allowed = "allowed is a name such as hci0, or an address such as 00:AA:01:00:00:42"
        guard let written = text(value, limit: 32, allowed: allowed) else { return nil }
        let isName = written.hasPrefix("hci") && UInt16(written.dropFirst(3)) != nil
        if isName || (PeripheralIdentifier(written) != nil && !written.contains("/")) { return written }
        complain(value, "\(value.kind) is no adapter", allowed)
        return nil
    }

    private mutating func simulatedHeadsets(_ value: YAMLValue?) -> [Configuration.SimulatedHeadset] {
        guard let value else { return [] }
        var result: [Configuration.SimulatedHeadset] = []
        for element in elements(value, "allowed is a list of simulated headsets") {
            let found = fields(element, ["name", "model", "serial"])
            let name = headsetName(found, taken: result.map(\.name))
            result.append(
                Configuration.SimulatedHeadset(
                    name: name, model: model(found, among: models.filter(Configuration.knownModels.contains)),
                    serialNumber: text(found["serial"], limit: 64, allowed: Self.serialHint)))
        }
        return result
    }

    private mutating func limits(_ value: YAMLValue) -> Configuration.Limits {
        let found = fields(value, ["commit_interval_seconds", "buffer_rows", "synchronous", "history_days"])
        var limits = Configuration.Limits()
        if let seconds = number(found["commit_interval_seconds"], 0.05...60, unit: "s") {
            limits.commitInterval = .nanoseconds(Int64((seconds * 1e9).rounded()))
        }
        if let rows = integer(found["buffer_rows"], 1_000...10_000_000) { limits.bufferRows = rows }
        if let mode = word(found["synchronous"], Configuration.Synchronous.self) { limits.synchronous = mode }
        if let days = integer(found["history_days"], 0...36_500) {
            limits.historyAge = days == 0 ? nil : .seconds(days * 86_400)
        }
        return limits
    }

    // MARK: Names

    private static let electrodeHint = "allowed are 1 ... 64 characters such as FPz or left earlobe"
    static let serialHint = "allowed are 1 ... 64 characters"

    private mutating func headsetName(_ found: YAMLFields, taken: [String]) -> String {
        let allowed = "allowed are 1 ... 64 letters, digits, '-', '_' or '.'"
        guard let value = required("name", found, allowed), let name = text(value, limit: 64, allowed: allowed) else {
            return ""
        }
        if !Configuration.isPlainName(name) { complain(value, "\(value.kind) is no name for a headset", allowed) }
        if taken.contains(name) {
            complain(value, "the name '\(name)' is taken by another headset", "choose a name of its own")
        }
        return name
    }

    private mutating func model(_ found: YAMLFields, among models: [String]) -> String {
        let allowed = "allowed are \(Spelling.list(models))"
        guard let value = required("model", found, allowed), let model = text(value, limit: 64, allowed: allowed) else {
            return ""
        }
        if !models.contains(model) {
            complain(
                value, "\(value.kind) is no model that this version knows", Spelling.suggestion(for: model, among: models))
        }
        return model
    }
}
