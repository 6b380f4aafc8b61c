package import Bluetooth
import Headsets

/// Addresses at which the headset was never reached, and whose it is to decide.
extension ConnectionMachine {
    /// What speaks for connecting to an address.
    enum Claim {
        /// The headset was reached there, or a person named it.
        case known
        /// The headset will prove itself.
        case provable
        /// No headset of the model was ever reached: the only one in sight is taken.
        case first
        /// Another headset may have it, and nothing would show it.
        case unrecognised
    }

    func claim(of identifier: PeripheralIdentifier) -> Claim {
        if identifiers.contains(identifier) { return .known }
        if profile.provesIdentity, identityProof != nil { return .provable }
        return identifiers.isEmpty ? .first : .unrecognised
    }

    /// True where the address may be the headset's and nothing proves it; such candidates are shown to a person.
    package func isUnrecognised(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        switch claim(of: identifier) {
        case .known, .provable: false
        case .first, .unrecognised: isEligible(identifier, at: now)
        }
    }

    /// Unrecognised candidates that were heard lately, in the order of their addresses.
    package func candidates(at now: MonotonicTime) -> [PeripheralIdentifier] {
        heardCandidates.present(within: limits.candidatePeriod, at: now).filter { isUnrecognised($0, at: now) }
    }

    /// True where the only candidate in sight may be taken for the headset: where none was ever reached, or where the known
    /// addresses have been silent for so long that it is adopted by itself.
    func isTakenForOurs(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        guard candidates(at: now) == [identifier] else { return false }
        switch claim(of: identifier) {
        case .known, .provable: return true
        case .first: return true
        case .unrecognised:
            return adoption.policy == .automatic && now >= adoptionDue && !heardCandidates.neighbours.contains(identifier)
        }
    }

    /// When an unrecognised candidate may be adopted at the earliest.
    var adoptionDue: MonotonicTime { (lastHeard ?? .boot) + adoption.delay }

    /// Notes that a known address is there: everything that happens on its link says so.
    mutating func noteKnownHeadset(at now: MonotonicTime) {
        switch state {
        case .establishing(let link, _), .streaming(let link, _), .stopping(let link):
            if identifiers.contains(link.identifier) { noteHeard(link.identifier, at: now) }
        default: if lastHeard == nil { lastHeard = now }
        }
    }

    /// A known address was heard, or is connected.
    mutating func noteHeard(_ identifier: PeripheralIdentifier, at now: MonotonicTime) {
        lastHeard = now
        if identifier != provisional { heardCandidates.noteKnownHeadset() }
    }

    /// A person says that the headset is at this address from now on. A link to another one is closed.
    package mutating func adopt(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> [ConnectionEffect] {
        var effects: [ConnectionEffect] = []
        rejected.removeAll { $0.identifier == identifier }
        heardCandidates.forget(identifier)
        let replaced = identifiers.first { $0 != identifier }
        if let former = provisional, former != identifier {
            identifiers.removeAll { $0 == former }
        }
        let isNew = identifiers.first != identifier
        provisional = nil
        promote(identifier)
        if isNew { adopting = Adopting(identifier: identifier, replaced: replaced, isAutomatic: false) }
        switch state {
        case .streaming(let link, let since) where link.identifier != identifier:
            endStreaming(link, since, .linkLost, at: now, &effects)
        case .establishing(let link, _) where link.identifier != identifier:
            effects.append(.layerEnded(outcome(of: link, .interrupted)))
            cancel(link.identifier, then: .backOff, at: now, &effects)
        case .waitingForOperator: begin(at: now, &effects)
        default: break
        }
        return effects
    }

    /// The headset streams at an address: that settles what was adopted.
    mutating func settleAdoption(_ link: Link, _ effects: inout [ConnectionEffect]) {
        if let adopting, adopting.identifier == link.identifier {
            effects.append(.adopted(link.identifier, replacing: adopting.replaced, isAutomatic: adopting.isAutomatic))
            if adopting.isAutomatic { provisional = link.identifier }
            self.adopting = nil
        } else if let former = provisional, former != link.identifier {
            // The headset has its old address: the other one was somebody else's.
            provisional = nil
            identifiers.removeAll { $0 == former }
            rejected.append((former, MonotonicTime(nanoseconds: .max)))
            effects.append(.adoptionWithdrawn(former, for: link.identifier))
        }
    }

    /// An adoption that waits for the headset to stream.
    struct Adopting: Hashable, Sendable {
        var identifier: PeripheralIdentifier
        /// Where it was reached before; nil where nowhere.
        var replaced: PeripheralIdentifier?
        /// False where a person has decided.
        var isAutomatic: Bool
    }
}
