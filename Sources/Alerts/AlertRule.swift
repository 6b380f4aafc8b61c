/// A condition, how long it must hold, and whom that concerns.
package struct AlertRule: Hashable, Sendable {
    /// How bad it is that a rule holds.
    package enum Severity: String, Hashable, Sendable, CaseIterable, Codable {
        /// Something will be missing or lost sooner or later.
        case warning
        /// Data are being lost, or cannot be seen to be stored.
        case critical
    }

    /// Unique among the rules; by it, state is found again after a restart.
    package var name: String
    package var condition: AlertCondition
    /// For how long the condition must hold before anybody is notified.
    package var holding: Duration
    /// For how long it must be over before that is said.
    package var clearing: Duration
    package var severity: Severity
    /// The headsets that it concerns; empty for all.
    package var headsets: [String]
    /// The ways by which people are notified; empty for all.
    package var ways: [String]

    /// Creates a rule.
    package init(
        name: String, condition: AlertCondition, holding: Duration, clearing: Duration, severity: Severity,
        headsets: [String] = [], ways: [String] = []
    ) {
        self.name = name
        self.condition = condition
        self.holding = holding
        self.clearing = clearing
        self.severity = severity
        self.headsets = headsets
        self.ways = ways
    }

    /// The rule of a kind as it is where a person sets nothing.
    package init(_ kind: AlertCondition.Kind) {
        let standard = Self.standard(kind)
        self.init(
            name: kind.rawValue, condition: standard.condition, holding: .seconds(standard.holdingSeconds),
            clearing: .seconds(60), severity: standard.severity)
    }

    /// Every rule, as it is where a person sets nothing.
    package static let standard = AlertCondition.Kind.allCases.map { AlertRule($0) }

    private static func standard(
        _ kind: AlertCondition.Kind
    ) -> (condition: AlertCondition, holdingSeconds: Int, severity: Severity) {
        switch kind {
        // A headset is back within ten seconds once it can be; a minute is no matter of a door that was opened.
        case .noSamples: (.noSamples, 60, .critical)
        // An hour or so for most headsets.
        case .batteryBelow: (.batteryBelow(percent: 15), 60, .warning)
        // Who moves in bed loses contact for a while.
        case .contactBad: (.contactBad(channels: 1), 300, .warning)
        case .gapRate: (.gapRate(percent: 5), 120, .warning)
        case .diskDays: (.diskDays(3), 60, .warning)
        // A machine that has just booted finds its time server within some minutes.
        case .clockUnsynchronised: (.clockUnsynchronised, 3600, .warning)
        case .restarts: (.restarts(count: 3, within: .seconds(3600)), 0, .critical)
        case .quarantined: (.quarantined, 0, .critical)
        // A Raspberry Pi slows itself down from 80 °C on (its firmware's soft limit is 60 ... 80 °C, its hard one 85 °C).
        case .temperature: (.temperature(celsius: 80), 60, .warning)
        case .undervoltage: (.undervoltage, 10, .warning)
        case .databaseUnreadable: (.databaseUnreadable, 120, .critical)
        }
    }
}
