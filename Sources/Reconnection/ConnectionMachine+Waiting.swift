import Bluetooth

/// What a person is waited for, and who is left alone.
extension ConnectionMachine {
    /// What a person did, a person undoes, and is waited for. But nobody may say so: a permission that was lacking for a moment
    /// comes back without a word. So it is tried again all the same, ever more rarely; a headset that is still blocked is
    /// refused by the system itself, and costs no radio. What the headset answered may have been a slip: it is asked sooner.
    mutating func waitForOperator(_ error: CentralError, at now: MonotonicTime) {
        state = .waitingForOperator(error)
        switch error {
        case .att:
            let pause = refusalPause ?? limits.refusalMinimum
            deadline = now + pause
            refusalPause = min(pause * 2, limits.refusalMaximum)
        case .pairingRefused: deadline = now + limits.pairingRefusalLimit
        default:
            let pause = operatorPause ?? limits.operatorMinimum
            deadline = now + pause
            operatorPause = min(pause * 2, limits.operatorMaximum)
        }
        _ = nextAttempt()
    }

    /// A pairing takes as long as the headset does, or the person at it: the connect or the step that waits for it gets that
    /// time, once. Not where somebody else may be at the address, who is to prove first that he is not.
    mutating func pairingBegan(at now: MonotonicTime) {
        switch state {
        case .connecting(let candidate) where !mustProveItself(candidate.identifier): break
        case .establishing(let link, _) where link.proofDue == nil: break
        default: return
        }
        guard pairingAttempt != attempt, let deadline else { return }
        pairingAttempt = attempt
        self.deadline = max(deadline, now + limits.pairingLimit)
    }

    /// True for a refusal by somebody who is not known to be the headset, where the headset is known by other addresses: a
    /// neighbour's device must not end the search.
    func isRefusalOfStranger(_ identifier: PeripheralIdentifier, _ error: CentralError) -> Bool {
        guard !identifiers.isEmpty, !identifiers.contains(identifier) else { return false }
        switch error {
        case .att, .peripheralBlocked, .pairingRefused, .repairingForbidden: return true
        // These speak of this machine, whoever was asked.
        default: return false
        }
    }

    /// An address is not tried again for a while.
    mutating func leaveAlone(_ identifier: PeripheralIdentifier, for period: Duration? = nil, at now: MonotonicTime) {
        rejected.removeAll { $0.until <= now || $0.identifier == identifier }
        rejected.append((identifier, now + (period ?? limits.rejectionPeriod)))
        forgetUnproven(identifier)
    }
}
