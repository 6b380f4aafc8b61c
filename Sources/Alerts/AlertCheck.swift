/// How things stand in one line and a code, as programs of the Nagios family ask for
/// (https://nagios-plugins.org/doc/guidelines.html).
package struct AlertCheck: Hashable, Sendable {
    /// The exit codes of such a check.
    package enum Code: Int32, Hashable, Sendable {
        case ok = 0
        case warning = 1
        case critical = 2
        /// Nothing can be said.
        case unknown = 3
    }

    package let code: Code
    /// The line, with what was measured behind a bar.
    package let line: String

    /// Judges facts by rules, each at once: whoever asks such checks waits for itself before it notifies anybody.
    package init(rules: [AlertRule], facts: AlertFacts) {
        var problems: [(severity: AlertRule.Severity, text: String)] = []
        var measures: [String] = []
        for rule in rules {
            for judgement in rule.judgements(of: facts) {
                let subject = judgement.headset.map { "\($0): " } ?? ""
                if judgement.verdict == .holds { problems.append((rule.severity, subject + judgement.text)) }
                guard let measure = judgement.measure else { continue }
                measures.append(Self.performance(measure, headset: judgement.headset, rule: rule))
            }
        }
        let critical = problems.filter { $0.severity == .critical }
        let warning = problems.filter { $0.severity == .warning }
        let words: String
        switch (critical.isEmpty, warning.isEmpty) {
        case (false, _): code = .critical
        case (true, false): code = .warning
        case (true, true): code = .ok
        }
        if problems.isEmpty {
            let names = (facts.headsets ?? []).map(\.name)
            words =
                names.isEmpty
                ? "nothing is to be recorded" : (facts.isPaused ? "paused: " : "recording: ") + names.joined(separator: ", ")
        } else {
            words = (critical + warning).map(\.text).joined(separator: "; ")
        }
        line = Self.line(code, words, measures)
    }

    /// A check that cannot be made.
    package init(unknown reason: String) {
        code = .unknown
        line = Self.line(.unknown, reason, [])
    }

    /// The bar and the line end belong to the form.
    private static func line(_ code: Code, _ words: String, _ measures: [String]) -> String {
        let word =
            switch code {
            case .ok: "OK"
            case .warning: "WARNING"
            case .critical: "CRITICAL"
            case .unknown: "UNKNOWN"
            }
        let text = String(words.map { $0 == "|" ? "/" : $0.isNewline ? " " : $0 })
        return "EEGSYNC \(word) - \(text)" + (measures.isEmpty ? "" : " | \(measures.joined(separator: " "))")
    }

    /// `'left battery'=81%;15:`: the label, the value, and the range in which it is well as a warning or a critical one.
    private static func performance(_ measure: Judgement.Measure, headset: String?, rule: AlertRule) -> String {
        let limit = measure.limit.short + (measure.isBadBelow ? ":" : "")
        let limits = rule.severity == .critical ? ";;\(limit)" : ";\(limit)"
        // Two rules of a kind have names of their own.
        let name = rule.name == rule.condition.kind.rawValue ? measure.name : rule.name
        let label = (headset.map { "\($0) " } ?? "") + name
        return "'\(label)'=\(measure.value.short)\(measure.unit)\(limits)"
    }
}
