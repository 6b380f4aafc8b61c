import Alerts
import YAMLReading

extension ConfigurationParser {
    /// Rules and ways.
    ///
    /// - Parameter headsets: the names that the configuration has.
    mutating func alerts(_ value: YAMLValue, headsets: [String]) -> Configuration.Alerts {
        let found = fields(value, ["repeat_hours", "rules", "ways"])
        var alerts = Configuration.Alerts()
        if let hours = number(found["repeat_hours"], 0...8760, unit: "h") {
            alerts.repeating = hours == 0 ? nil : .seconds(hours * 3600)
        }
        if let ways = optional("ways", found) { alerts.ways = self.ways(ways) }
        if let rules = optional("rules", found) {
            alerts.rules = self.rules(rules, headsets: headsets, ways: alerts.ways.map(\.name))
        }
        return alerts
    }

    // MARK: Rules

    private mutating func rules(_ value: YAMLValue, headsets: [String], ways: [String]) -> [AlertRule] {
        var rules: [AlertRule] = []
        for element in elements(value, "allowed is a list of rules") {
            // The kind says which other keys there may be.
            let kinds = AlertCondition.Kind.allCases.map(\.rawValue)
            guard let entries = element.entries else {
                if !element.isOpen { complain(element, "\(element.kind) is not a mapping", "allowed is {when: no_samples}") }
                continue
            }
            guard let stated = entries.first(where: { $0.key.text == "when" })?.value else {
                complain(element, "'when' is missing", "allowed are \(Spelling.list(kinds))")
                continue
            }
            guard let kind = word(stated, AlertCondition.Kind.self) else { continue }
            rules.append(rule(kind, element, taken: rules.map(\.name), headsets: headsets, ways: ways))
        }
        return rules
    }

    private mutating func rule(
        _ kind: AlertCondition.Kind, _ value: YAMLValue, taken: [String], headsets: [String], ways: [String]
    ) -> AlertRule {
        var known = ["when", "name", "for_seconds", "clear_seconds", "severity", "ways"]
        if kind.concernsHeadsets { known.append("headsets") }
        let found = fields(value, known + Self.limits(of: kind))
        var rule = AlertRule(kind)
        rule.name = alertName(found, standard: kind.rawValue, taken: taken, "rule")
        // A gap between two commits is no silence: samples are committed each second, at most each minute.
        let shortest: Double = kind == .noSamples ? 10 : 0
        if let seconds = number(found["for_seconds"], shortest...604_800, unit: "s") { rule.holding = .seconds(seconds) }
        if let seconds = number(found["clear_seconds"], 0...86_400, unit: "s") { rule.clearing = .seconds(seconds) }
        if let severity = word(found["severity"], AlertRule.Severity.self) { rule.severity = severity }
        if let named = found["headsets"] { rule.headsets = names(named, among: headsets, "headset") }
        if let named = found["ways"] { rule.ways = names(named, among: ways, "way") }
        rule.condition = condition(rule.condition, found)
        return rule
    }

    private static func limits(of kind: AlertCondition.Kind) -> [String] {
        switch kind {
        case .batteryBelow, .gapRate: ["percent"]
        case .contactBad: ["channels"]
        case .diskDays: ["days"]
        case .restarts: ["count", "within_hours"]
        case .temperature: ["celsius"]
        case .noSamples, .clockUnsynchronised, .quarantined, .undervoltage, .databaseUnreadable: []
        }
    }

    private mutating func condition(_ standard: AlertCondition, _ found: YAMLFields) -> AlertCondition {
        switch standard {
        case .batteryBelow(let percent): .batteryBelow(percent: number(found["percent"], 1...95, unit: "%") ?? percent)
        case .gapRate(let percent): .gapRate(percent: number(found["percent"], 0.1...100, unit: "%") ?? percent)
        case .contactBad(let channels): .contactBad(channels: integer(found["channels"], 1...1024) ?? channels)
        case .diskDays(let days): .diskDays(number(found["days"], 0.01...3650, unit: "days") ?? days)
        case .restarts(let count, let within):
            .restarts(
                count: integer(found["count"], 1...1000) ?? count,
                within: number(found["within_hours"], 0.05...8760, unit: "h").map { .seconds($0 * 3600) } ?? within)
        case .temperature(let celsius): .temperature(celsius: number(found["celsius"], -20...150, unit: "°C") ?? celsius)
        case .noSamples, .clockUnsynchronised, .quarantined, .undervoltage, .databaseUnreadable: standard
        }
    }

    // MARK: Ways

    private mutating func ways(_ value: YAMLValue) -> [Configuration.Alerts.Way] {
        var ways: [Configuration.Alerts.Way] = []
        for element in elements(value, "allowed is a list of ways") {
            let kinds = ["command", "http", "mail", "led"]
            guard let kind = element.entries?.first(where: { $0.key.text == "kind" })?.value else {
                if !element.isOpen {
                    let why = element.entries == nil ? "\(element.kind) is not a mapping" : "'kind' is missing"
                    complain(element, why, "allowed is a mapping with 'kind': \(Spelling.list(kinds, "or"))")
                }
                continue
            }
            let known: [String]
            switch kind.text {
            case "command": known = ["command"]
            case "http": known = ["url", "url_file", "headers_file", "shape"]
            case "mail": known = ["to", "from", "sendmail"]
            case "led": known = ["led", "trigger"]
            default:
                if !kind.isOpen {
                    complain(kind, "\(kind.kind) is no way", Spelling.suggestion(for: kind.text ?? "", among: kinds))
                }
                continue
            }
            let found = fields(element, ["name", "kind"] + known)
            let name = alertName(found, standard: kind.text, taken: ways.map(\.name), "way")
            switch kind.text {
            case "command": ways.append(.init(name: name, kind: .command(command(found))))
            case "http": ways.append(.init(name: name, kind: .http(receiver(found))))
            case "mail": ways.append(.init(name: name, kind: .mail(letter(found))))
            default: ways.append(.init(name: name, kind: .led(lamp(found))))
            }
        }
        return ways
    }

    private mutating func command(_ found: YAMLFields) -> [String] {
        let allowed = "allowed is a list: the absolute path of a program, and its arguments"
        guard let value = required("command", found, allowed) else { return [] }
        let words = elements(value, allowed).compactMap { text($0, limit: 4096, allowed: allowed) }
        if value.elements != nil, words.first?.hasPrefix("/") != true {
            complain(value, "the program is not named by an absolute path", allowed)
        }
        return words
    }

    private mutating func receiver(_ found: YAMLFields) -> Configuration.Alerts.Receiver {
        let allowed = "allowed is a URL that begins with http:// or https://; 'url_file' names a file that holds it"
        var receiver = Configuration.Alerts.Receiver(address: .url(""))
        if let file = path(found["url_file"]) {
            receiver.address = .file(file)
            if let url = found["url"] { complain(url, "there is a 'url_file', too", "write one of them") }
        } else if found["url_file"] == nil, let value = required("url", found, allowed),
            let url = text(value, limit: 2048, allowed: allowed)
        {
            if !WebhookWay.isAddress(url) { complain(value, "\(value.kind) is no address", allowed) }
            receiver.address = .url(url)
        }
        receiver.headersFile = path(found["headers_file"])
        if let shape = word(found["shape"], MessageShape.self) { receiver.shape = shape }
        if case .url(let url) = receiver.address, receiver.shape == .ntfy, WebhookWay.isAddress(url),
            receiver.shape.topic(of: url) == nil, let value = found["url"]
        {
            complain(value, "the URL has no topic", "allowed is an address such as https://ntfy.sh/TOPIC")
        }
        return receiver
    }

    private mutating func letter(_ found: YAMLFields) -> Configuration.Alerts.Letter {
        let allowed = "allowed is an address such as night@example.org, or a list of them"
        var letter = Configuration.Alerts.Letter(receivers: [])
        if let value = required("to", found, allowed) {
            letter.receivers = (value.elements ?? [value]).compactMap { address($0, allowed) }
            if value.elements?.isEmpty == true { complain(value, "nobody is named", allowed) }
        }
        letter.sender = found["from"].flatMap { address($0, "allowed is an address such as eegsync@example.org") }
        if let program = path(found["sendmail"]) { letter.program = program }
        return letter
    }

    /// No more than what keeps a word from being an option of sendmail, or several addresses.
    private mutating func address(_ value: YAMLValue, _ allowed: String) -> String? {
        guard let text = text(value, limit: 254, allowed: allowed) else { return nil }
        let isOdd = text.contains { " ,;<>\"\\".contains($0) }
        if text.hasPrefix("-") || isOdd { complain(value, "\(value.kind) is no mail address", allowed) }
        return text
    }

    private mutating func lamp(_ found: YAMLFields) -> Configuration.Alerts.Lamp {
        let allowed = "allowed is a name of /sys/class/leds such as ACT"
        let name = required("led", found, allowed).flatMap { fileName($0, allowed) } ?? ""
        return Configuration.Alerts.Lamp(
            name: name, trigger: found["trigger"].flatMap { fileName($0, "allowed is a trigger such as timer or heartbeat") })
    }

    private mutating func fileName(_ value: YAMLValue, _ allowed: String) -> String? {
        guard let name = text(value, limit: 64, allowed: allowed) else { return nil }
        if name.contains("/") || name.hasPrefix(".") { complain(value, "\(value.kind) is no name", allowed) }
        return name
    }

    // MARK: Names

    private mutating func path(_ value: YAMLValue?) -> String? {
        guard let value, let path = text(value, limit: 4096, allowed: "allowed is an absolute path") else { return nil }
        if !path.hasPrefix("/") || path.hasSuffix("/") {
            complain(value, "\(value.kind) is not the absolute path of a file", "allowed is an absolute path")
        }
        return path
    }

    private mutating func alertName(_ found: YAMLFields, standard: String?, taken: [String], _ noun: String) -> String {
        let allowed = "allowed are 1 ... 64 letters, digits, '-', '_' or '.'"
        let value = found["name"]
        guard let name = value == nil ? standard : text(value, limit: 64, allowed: allowed) else { return "" }
        if !Configuration.isPlainName(name) { complain(value ?? found.owner, "'\(name)' is no name of a \(noun)", allowed) }
        if taken.contains(name) {
            complain(
                value ?? found.owner, "the name '\(name)' is taken by another \(noun)",
                "give it a 'name' of its own")
        }
        return name
    }

    private mutating func names(_ value: YAMLValue, among known: [String], _ noun: String) -> [String] {
        elements(value, "allowed is a list of the names of \(noun)s").compactMap { element in
            guard let name = text(element, limit: 64, allowed: "allowed are \(Spelling.list(known))") else { return nil }
            if known.contains(name) { return name }
            complain(
                element, "there is no \(noun) '\(YAMLValue.printable(name))'", Spelling.suggestion(for: name, among: known))
            return nil
        }
    }
}
