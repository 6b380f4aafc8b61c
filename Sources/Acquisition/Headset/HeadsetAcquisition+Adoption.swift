import Bluetooth
import Reconnection
import Storage

/// Addresses at which a headset was never reached that proves nothing about itself.
extension HeadsetAcquisition {
    /// Records that one of the model was heard at an address that nothing proves to be the headset's.
    func noteCandidate(_ identifier: PeripheralIdentifier, name: String? = nil, rssi: Int8? = nil, at now: MonotonicTime) {
        guard machine.isUnrecognised(identifier, at: now), machine.adoption.policy != .never || machine.identifiers.isEmpty,
            let sight = notedCandidates.note(identifier, at: now)
        else { return }
        if sight == .first { context.emit(.report(.unrecognisedCandidate(headset: self.name, identifier))) }
        records.append(
            .candidate(CandidateRecord(headset: headset, identifier: identifier, name: name, rssi: rssi, at: now)))
    }

    /// A headset's address that is taken without a proof is named in the history of its connection and in its recording.
    func noteAdoption(
        _ identifier: PeripheralIdentifier, replacing replaced: PeripheralIdentifier?, isAutomatic: Bool, at now: MonotonicTime
    ) {
        let former = replaced.map { " instead of \($0)" } ?? ""
        let reason =
            isAutomatic
            ? "it was the only one of its model in sight, and nothing proves that it is this headset"
            : "a person said so"
        note("addressAdopted", identifier, "at \(identifier)\(former): \(reason)", at: now)
        guard isAutomatic else { return }
        records.append(
            .adoption(
                AdoptionRecord(
                    headset: headset, recording: recording, identifier: identifier, replaced: replaced, decision: .automatic,
                    at: now)))
    }

    /// The address that was adopted turned out to be somebody else's.
    func noteWithdrawal(_ former: PeripheralIdentifier, for present: PeripheralIdentifier, at now: MonotonicTime) {
        note(
            "adoptionWithdrawn", present, "at \(present) again: what was recorded at \(former) is another headset's",
            at: now)
        records.append(
            .adoption(
                AdoptionRecord(
                    headset: headset, recording: recording, identifier: present, replaced: former, decision: .withdrawn,
                    at: now)))
    }

    private func note(
        _ cause: String, _ identifier: PeripheralIdentifier, _ detail: String, at now: MonotonicTime
    ) {
        records.append(
            .connectionEvent(
                ConnectionEventRecord(
                    headset: headset, at: now, state: phase.rawValue, cause: cause, detail: identifier.description)))
        records.append(
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: now, durationSeconds: nil,
                    description: "eegsync: the headset is \(detail)", source: "eegsync")))
        context.emit(.report(.addressChanged(headset: name, detail: detail)))
        context.wantsCommit = true
    }

    /// Follows the latest decision about the headset's address: a person's, or one that an earlier process took by itself.
    ///
    /// - Parameter isResumed: true where an earlier process may have followed it; then the address is among those that were
    ///   reached.
    func follow(_ adoption: AdoptionWish, isResumed: Bool, at now: MonotonicTime) {
        guard adoption.id > followedAdoption else { return }
        followedAdoption = adoption.id
        switch adoption.decision {
        case .operator:
            if isResumed, machine.identifiers.contains(adoption.identifier), !named.contains(adoption.identifier) { return }
            named.removeAll { $0 == adoption.identifier }
            take(machine.adopt(adoption.identifier, at: now), at: now)
        case .automatic:
            if machine.identifiers.contains(adoption.identifier) { machine.provisional = adoption.identifier }
        case .withdrawn: break
        }
    }
}
