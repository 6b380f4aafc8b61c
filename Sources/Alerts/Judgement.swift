import Bluetooth

/// What a rule says of one headset, or of the machine, at one instant.
package struct Judgement: Hashable, Sendable {
    /// Whether the condition holds.
    package enum Verdict: String, Hashable, Sendable, Codable {
        case holds
        case clear
        /// Beyond the limit no longer, and not clear of it: an alert stays as it is.
        case between
        /// The facts do not say.
        case unknown
    }

    /// The headset; nil for the machine.
    package var headset: String?
    package var verdict: Verdict
    /// What is the case, in one sentence without a full stop and without the headset's name.
    package var text: String
    /// What a person can do.
    package var remedy: String?
    /// For how long the condition has held already, where the facts themselves say so.
    package var held: Duration?
    /// What was measured, for programs that plot it.
    package var measure: Measure?

    /// Of nobody, or of what nobody knows.
    package static func unknown(_ text: String) -> Judgement { Judgement(verdict: .unknown, text: text) }

    /// A number that a rule looks at.
    package struct Measure: Hashable, Sendable {
        /// Such as `battery`.
        package var name: String
        package var value: Double
        /// `s`, `%` or nothing.
        package var unit: String
        /// From where on it is bad.
        package var limit: Double
        /// Whether it is bad below the limit.
        package var isBadBelow: Bool
    }
}

extension AlertRule {
    /// What the rule says of every headset that it concerns, in the order of the facts, or of the machine.
    package func judgements(of facts: AlertFacts) -> [Judgement] {
        guard condition.kind.concernsHeadsets else { return [judgement(ofMachine: facts)] }
        let concerned = (facts.headsets ?? []).filter { headsets.isEmpty || headsets.contains($0.name) }
        return concerned.map { headset in
            var judgement = judgement(of: headset, isPaused: facts.isPaused)
            judgement.headset = headset.name
            return judgement
        }
    }

    private func judgement(of headset: WatchedHeadset, isPaused: Bool) -> Judgement {
        switch condition {
        case .noSamples: silence(of: headset, isPaused: isPaused)
        case .batteryBelow(let limit):
            limited(
                Judgement.Measure(
                    name: "battery", value: headset.batteryPercent ?? 0, unit: "%", limit: limit, isBadBelow: true),
                isKnown: headset.batteryPercent != nil, isClear: { $0 >= min(100, limit + 5) },
                words: { "the battery is at \($0.short) %" }, remedy: "charge it, or change the headset")
        case .contactBad(let channels): contact(of: headset, channels)
        case .gapRate(let limit):
            limited(
                Judgement.Measure(
                    name: "missing", value: (headset.missingFraction ?? 0) * 100, unit: "%", limit: limit, isBadBelow: false),
                isKnown: headset.missingFraction != nil, isClear: { $0 < limit / 2 },
                words: { "\($0.short) % of the last ten minutes are missing" },
                remedy: "bring it closer, and see `eegsync gaps` for the cause")
        case .quarantined:
            headset.isQuarantined
                ? Judgement(verdict: .holds, text: headset.situation, remedy: headset.remedy)
                : Judgement(verdict: .clear, text: "is not quarantined")
        case .diskDays, .clockUnsynchronised, .restarts, .temperature, .undervoltage, .databaseUnreadable:
            Judgement(verdict: .unknown, text: "")
        }
    }

    /// The silence itself says how long it has lasted, also before this process was started.
    private func silence(of headset: WatchedHeadset, isPaused: Bool) -> Judgement {
        if isPaused { return Judgement(verdict: .clear, text: "recording is paused") }
        guard let silence = headset.silence else { return Judgement(verdict: .unknown, text: "nothing is known of samples") }
        let measure = Judgement.Measure(
            name: "silence", value: silence.inSeconds, unit: "s", limit: holding.inSeconds, isBadBelow: false)
        guard silence >= holding else {
            let isClear = silence.inSeconds < holding.inSeconds / 2
            return Judgement(verdict: isClear ? .clear : .between, text: "samples are committed", measure: measure)
        }
        let which = headset.silentStreams.isEmpty ? "" : " of \(headset.silentStreams.joined(separator: ", "))"
        return Judgement(
            verdict: .holds, text: "no samples\(which) for \(silence.inWords): it \(headset.situation)", remedy: headset.remedy,
            held: silence, measure: measure)
    }

    private func contact(of headset: WatchedHeadset, _ channels: Int) -> Judgement {
        guard let bad = headset.badContacts else { return .unknown("nothing is known of contacts") }
        let measure = Judgement.Measure(
            name: "bad_contacts", value: Double(bad.count), unit: "", limit: Double(channels), isBadBelow: false)
        guard bad.count >= channels else {
            return Judgement(verdict: .clear, text: "contact is good", measure: measure)
        }
        return Judgement(
            verdict: .holds, text: "contact is bad: \(bad.joined(separator: ", "))",
            remedy: "see to the electrodes: `eegsync status` shows each", measure: measure)
    }

    private func judgement(ofMachine facts: AlertFacts) -> Judgement {
        switch condition {
        case .diskDays(let limit):
            limited(
                Judgement.Measure(name: "disk", value: facts.diskDays ?? 0, unit: "", limit: limit, isBadBelow: true),
                isKnown: facts.diskDays != nil, isClear: { $0 >= limit * 1.25 },
                words: { "the disk lasts for \($0.short) days at the rate of what is recorded" },
                remedy: "make room on the disk of the database")
        case .clockUnsynchronised:
            flag(
                facts.isClockSynchronised.map { !$0 }, "the clock is not synchronised: times in UTC may be wrong",
                "the clock is synchronised", remedy: "see timedatectl, and whether a time server can be reached")
        case .restarts(let count, let within): restarts(facts.restarts, count, within)
        case .temperature(let limit):
            limited(
                Judgement.Measure(
                    name: "temperature", value: facts.temperatureCelsius ?? 0, unit: "", limit: limit, isBadBelow: false),
                isKnown: facts.temperatureCelsius != nil, isClear: { $0 < limit - 5 },
                words: { "the machine is at \($0.short) °C" }, remedy: "give it air, or a heat sink")
        case .undervoltage:
            flag(
                facts.isUndervoltage, "the power supply is too weak: the machine may freeze, and the card may be damaged",
                "the power supply is sufficient", remedy: "use the machine's own power supply and a short cable")
        case .databaseUnreadable:
            flag(
                facts.databaseProblem != nil, "the database cannot be read: \(facts.databaseProblem ?? "")",
                "the database can be read", remedy: "see `eegsync status` and `eegsync doctor` on the machine")
        case .noSamples, .batteryBelow, .contactBad, .gapRate, .quarantined: Judgement(verdict: .unknown, text: "")
        }
    }

    private func restarts(_ restarts: [Duration]?, _ count: Int, _ within: Duration) -> Judgement {
        guard let restarts else { return Judgement(verdict: .unknown, text: "nothing is known of restarts") }
        let recent = restarts.count { $0 <= within }
        let measure = Judgement.Measure(
            name: "restarts", value: Double(recent), unit: "", limit: Double(count), isBadBelow: false)
        guard recent >= count else {
            return Judgement(
                verdict: .clear, text: "eegsync run died \(recent) times in the last \(within.inWords)", measure: measure)
        }
        return Judgement(
            verdict: .holds, text: "eegsync run, or the machine, died \(recent) times in the last \(within.inWords)",
            remedy: "see `eegsync events` and journalctl -u eegsync", measure: measure)
    }

    private func flag(_ holds: Bool?, _ bad: String, _ good: String, remedy: String) -> Judgement {
        guard let holds else { return Judgement(verdict: .unknown, text: "this machine does not say") }
        return holds ? Judgement(verdict: .holds, text: bad, remedy: remedy) : Judgement(verdict: .clear, text: good)
    }

    private func limited(
        _ measure: Judgement.Measure, isKnown: Bool, isClear: (Double) -> Bool, words: (Double) -> String, remedy: String
    ) -> Judgement {
        guard isKnown else { return Judgement(verdict: .unknown, text: "nothing is known of it") }
        let value = measure.value
        let text = words(value)
        if measure.isBadBelow ? value < measure.limit : value >= measure.limit {
            return Judgement(verdict: .holds, text: text, remedy: remedy, measure: measure)
        }
        return Judgement(verdict: isClear(value) ? .clear : .between, text: text, measure: measure)
    }
}
