import Bluetooth

/// Decides who is to be notified of what: facts go in, messages come out. It reads no clock and does nothing by itself.
///
/// An alert is raised when its condition has held for the rule's time, and over when it has been clear for a while. One that
/// comes and goes must be clear for ever longer, up to an hour, so that a flapping condition is one alert that lasts.
package struct AlertEngine: Sendable {
    /// An alert that is raised again sooner than this after it was over is flapping.
    private static let calmAfter = Duration.seconds(6 * 3600)
    /// The longest time for which a condition must be clear.
    private static let clearingMaximum = Duration.seconds(3600)
    /// The most alerts that are raised at once; a database of a thousand headsets must not fill memory, nor a telephone.
    static let raisedMaximum = 256

    /// A condition that holds, and not for long enough yet.
    private struct Pending: Hashable {
        var rule: String
        var headset: String?
        var since: MonotonicTime
    }

    private let rules: [AlertRule]
    private let machine: String
    /// After how long people are notified again of what lasts; nil for never.
    private let repeating: Duration?
    /// What must outlive the process, as it is now.
    package private(set) var state: AlertState
    private var pending: [Pending] = []

    /// Creates an engine that goes on from a state.
    ///
    /// - Parameters:
    ///   - machine: the host name.
    ///   - repeating: after how long people are notified again of what lasts; nil for never.
    package init(rules: [AlertRule], machine: String, repeating: Duration?, state: AlertState) {
        self.rules = rules
        self.machine = machine
        self.repeating = repeating
        self.state = state
    }

    /// Takes how things stand, and says what people are to be notified of, in the order of the rules.
    package mutating func step(_ facts: AlertFacts, at now: AlertInstant) -> [Notice] {
        state.keptTime = now.time.nanoseconds
        state.keptUnixNanoseconds = now.unixNanoseconds
        state.calm.removeAll { now.time - MonotonicTime(nanoseconds: $0.since) > Self.calmAfter }
        var notices: [Notice] = []
        for rule in rules {
            for judgement in rule.judgements(of: facts) {
                if let notice = take(judgement, of: rule, at: now) { notices.append(notice) }
            }
        }
        return notices + unwatched(facts, at: now)
    }

    // MARK: One alert

    private mutating func take(_ judgement: Judgement, of rule: AlertRule, at now: AlertInstant) -> Notice? {
        let index = state.raised.firstIndex { $0.rule == rule.name && $0.headset == judgement.headset }
        switch judgement.verdict {
        case .holds:
            guard let index else { return hold(judgement, of: rule, at: now) }
            state.raised[index].clearSince = nil
            state.raised[index].text = judgement.text
            state.raised[index].ways = rule.ways
            state.raised[index].severity = rule.severity
            return repeated(index, judgement, at: now)
        case .clear:
            forgetPending(rule.name, judgement.headset)
            return index.flatMap { clear($0, judgement, of: rule, at: now) }
        case .between:
            forgetPending(rule.name, judgement.headset)
            if let index { state.raised[index].clearSince = nil }
            return nil
        case .unknown:
            // Neither does it go on holding, nor is it over.
            forgetPending(rule.name, judgement.headset)
            if let index { state.raised[index].clearSince = nil }
            return nil
        }
    }

    private mutating func forgetPending(_ rule: String, _ headset: String?) {
        pending.removeAll { $0.rule == rule && $0.headset == headset }
    }

    private mutating func hold(_ judgement: Judgement, of rule: AlertRule, at now: AlertInstant) -> Notice? {
        var since = now.time - (judgement.held ?? .zero)
        if let known = pending.first(where: { $0.rule == rule.name && $0.headset == judgement.headset }) {
            since = min(since, known.since)
        } else {
            guard pending.count < Self.raisedMaximum else { return nil }
            pending.append(Pending(rule: rule.name, headset: judgement.headset, since: since))
        }
        guard now.time - since >= rule.holding, state.raised.count < Self.raisedMaximum else { return nil }
        forgetPending(rule.name, judgement.headset)
        let calm = state.calm.firstIndex { $0.rule == rule.name && $0.headset == judgement.headset }
        let flaps = calm.map { state.calm.remove(at: $0).flaps + 1 } ?? 0
        let raised = AlertState.Raised(
            rule: rule.name, headset: judgement.headset, severity: rule.severity, ways: rule.ways, text: judgement.text,
            since: since.nanoseconds, notified: now.time.nanoseconds, flaps: flaps)
        state.raised.append(raised)
        let again = flaps == 0 ? "" : " (it has come back \(flaps) time\(flaps == 1 ? "" : "s") lately)"
        return notice(.raised, raised, judgement.text + again, judgement.remedy, at: now)
    }

    private mutating func repeated(_ index: Int, _ judgement: Judgement, at now: AlertInstant) -> Notice? {
        let silence = now.time - MonotonicTime(nanoseconds: state.raised[index].notified)
        guard let repeating, silence >= repeating else { return nil }
        state.raised[index].notified = now.time.nanoseconds
        return notice(.repeated, state.raised[index], judgement.text, judgement.remedy, at: now)
    }

    private mutating func clear(
        _ index: Int, _ judgement: Judgement, of rule: AlertRule, at now: AlertInstant
    ) -> Notice? {
        let since = state.raised[index].clearSince ?? now.time.nanoseconds
        state.raised[index].clearSince = since
        // Four times as long with each time that it came back.
        var clearing = rule.clearing
        for _ in 0..<state.raised[index].flaps where clearing < Self.clearingMaximum { clearing *= 4 }
        clearing = max(rule.clearing, min(clearing, Self.clearingMaximum))
        guard now.time - MonotonicTime(nanoseconds: since) >= clearing else { return nil }
        return end(index, judgement.text, at: now)
    }

    private mutating func end(_ index: Int, _ text: String, at now: AlertInstant) -> Notice {
        let raised = state.raised.remove(at: index)
        state.calm.append(
            AlertState.Calm(rule: raised.rule, headset: raised.headset, since: now.time.nanoseconds, flaps: raised.flaps))
        if state.calm.count > Self.raisedMaximum { state.calm.removeFirst() }
        return notice(.recovered, raised, text, nil, at: now)
    }

    /// Ends alerts that no rule looks at any more: their headset is not wanted, or the rule is gone.
    private mutating func unwatched(_ facts: AlertFacts, at now: AlertInstant) -> [Notice] {
        var notices: [Notice] = []
        for raised in state.raised {
            let rule = rules.first { $0.name == raised.rule && (raised.headset != nil) == $0.condition.kind.concernsHeadsets }
            let words: String
            if let rule, let headset = raised.headset {
                let isConcerned = rule.headsets.isEmpty || rule.headsets.contains(headset)
                // Nothing is known of headsets while the database cannot be read.
                guard let known = facts.headsets, !isConcerned || !known.contains(where: { $0.name == headset }) else {
                    continue
                }
                words = isConcerned ? "its recording is no longer wanted" : "the rule no longer concerns it"
            } else {
                guard rule == nil else { continue }
                words = "the rule \(raised.rule) is no longer in the configuration"
            }
            let index = state.raised.firstIndex { $0.rule == raised.rule && $0.headset == raised.headset }
            if let index { notices.append(end(index, words, at: now)) }
        }
        let known = facts.headsets
        pending.removeAll { entry in
            guard let headset = entry.headset, let known else { return false }
            return !known.contains { $0.name == headset }
        }
        return notices
    }

    private mutating func notice(
        _ event: Notice.Event, _ raised: AlertState.Raised, _ text: String, _ remedy: String?, at now: AlertInstant
    ) -> Notice {
        state.count += 1
        return Notice(
            id: "\(state.origin)-\(state.count)", event: event, rule: raised.rule, headset: raised.headset,
            severity: raised.severity, machine: machine, text: text, remedy: remedy,
            // By how long it has lasted: the wall clock may have been set since.
            sinceUnixNanoseconds: now.unixNanoseconds &- (now.time.nanoseconds &- raised.since),
            atUnixNanoseconds: now.unixNanoseconds, ways: raised.ways)
    }
}
