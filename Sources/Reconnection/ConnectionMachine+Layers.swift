import Bluetooth
import Headsets

/// The four layers, and the ways from one to the next.
extension ConnectionMachine {
    // MARK: Layer 0

    mutating func restored(
        _ peripherals: [RestoredPeripheral], _ attempt: Attempt, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        guard isCurrent(attempt) else { return }
        guard case .restoring(let began) = state else {
            illegalEvents += 1
            return
        }
        let connected = peripherals.filter(\.isConnected)
        let known = connected.first { identifiers.contains($0.identifier) }
        let tried = connected.first { $0.identifier == unproven && mayConnect(to: $0.identifier, at: now) }
        guard let ours = known ?? tried else {
            effects.append(
                .layerEnded(LayerOutcome(layer: .restoration, identifier: nil, began: began, result: .nothingFound)))
            return connectCached(at: now, &effects)
        }
        var link = newLink(to: ours.identifier, layer: .restoration, began: began, attempt: .none, at: now)
        if let database = ours.database {
            link.isDiscovered = profile.requiredCharacteristics.allSatisfy { database[$0] != nil }
        }
        link.isControlSubscribed =
            link.isControlSubscribed || profile.controlCharacteristics.allSatisfy { ours.notifying.contains($0) }
        proceed(link, at: now, &effects)
    }

    // MARK: Layer 1

    /// Tries the cached identifiers, best first; with none, falls to layer 2. After a silence, it is the best one alone, and
    /// not for long: the silence has taken half of the time in which the headset is to be back.
    mutating func connectCached(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        let isHurried = followsSilence
        (followsSilence, wasHurried) = (false, isHurried)
        let usable = identifiers.filter { !isRejected($0, at: now) }
        guard let best = usable.first else {
            guard let unproven, mayConnect(to: unproven, at: now) else { return retrieve(at: now, &effects) }
            let candidate = Candidate(identifier: unproven, layer: .cachedIdentifier, layerBegan: now)
            return connect(candidate, at: now, &effects)
        }
        var others: [PeripheralIdentifier] = []
        if usable.count > 1, !isHurried {
            // The best one has its turn in every round; the others take turns.
            for offset in 0..<min(limits.identifiersPerRound - 1, usable.count - 1) {
                others.append(usable[1 + (identifierTurn + offset) % (usable.count - 1)])
            }
            identifierTurn += limits.identifiersPerRound - 1
        }
        connect(Candidate(identifier: best, layer: .cachedIdentifier, layerBegan: now, others: others), at: now, &effects)
        if isHurried { deadline = now + limits.silentConnectLimit }
    }

    mutating func connect(_ candidate: Candidate, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        state = .connecting(candidate)
        if !identifiers.contains(candidate.identifier) { unproven = candidate.identifier }
        deadline = now + limit(of: candidate)
        effects.append(.connect(candidate.identifier, attempt: nextAttempt()))
    }

    private func limit(of candidate: Candidate) -> Duration {
        guard candidate.layer == .cachedIdentifier else { return limits.connectLimit }
        if candidate.identifier.addressType == .classic, identifiers.count == 1 { return limits.classicConnectLimit }
        return candidate.identifier == identifiers.first ? limits.connectLimit : limits.secondConnectLimit
    }

    mutating func connected(
        _ identifier: PeripheralIdentifier, _ attempt: Attempt, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        guard isCurrent(attempt) else { return }
        guard case .connecting(let candidate) = state, candidate.identifier == identifier else {
            illegalEvents += 1
            return
        }
        proceed(
            newLink(to: identifier, layer: candidate.layer, began: candidate.layerBegan, attempt: attempt, at: now),
            at: now, &effects)
    }

    mutating func connectFailed(
        _ error: CentralError, _ attempt: Attempt, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        guard isCurrent(attempt) else { return }
        guard case .connecting(let candidate) = state else {
            illegalEvents += 1
            return
        }
        effects.append(.layerEnded(outcome(of: candidate, .failed(error))))
        forgetUnproven(candidate.identifier)
        if case .adapterUnavailable = error { return backOff(at: now) }
        // Somebody else tries the address just now, and may find that it is not theirs.
        if case .channelBusy = error, let end = candidate.scanEnd, !identifiers.contains(candidate.identifier) {
            return resume(.scanOn(until: end), at: now, &effects)
        }
        switch error.disposition {
        case .waitForOperator, .stop:
            guard isRefusalOfStranger(candidate.identifier, error) else { return waitForOperator(error, at: now) }
            leaveAlone(candidate.identifier, at: now)
            resume(candidate.scanEnd.map { .scanOn(until: $0) } ?? .afterCandidate(candidate), at: now, &effects)
        case .retry, .nextLayer: resume(.afterCandidate(candidate), at: now, &effects)
        }
    }

    // MARK: Layer 2

    mutating func retrieve(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        state = .retrieving(began: now)
        deadline = now + limits.retrievalLimit
        effects.append(.retrieveConnected(attempt: nextAttempt()))
    }

    mutating func retrieved(
        _ found: [PeripheralIdentifier], _ attempt: Attempt, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        guard isCurrent(attempt) else { return }
        guard case .retrieving(let began) = state else {
            illegalEvents += 1
            return
        }
        // A link that a dead process left is advertised no more and found here alone.
        let eligible = found.filter { isEligible($0, at: now) }
        let known = eligible.filter { identifiers.contains($0) }
        let tried = eligible.filter { !known.contains($0) && ($0 == unproven && mayConnect(to: $0, at: now)) }
        var ordered = known + tried + eligible.filter { !tried.contains($0) && claim(of: $0) == .provable }
        // Every device has a serial port of the same service; others have it because they are of the model.
        let unrecognised = profile.usesSerialPort ? [] : eligible.filter { !ordered.contains($0) }
        for identifier in unrecognised { heardCandidates.hear(identifier, at: now) }
        if ordered.isEmpty, let sole = unrecognised.first, isTakenForOurs(sole, at: now) {
            noteAdopting(sole)
            ordered = [sole]
        }
        guard let first = ordered.first else {
            effects.append(
                .layerEnded(LayerOutcome(layer: .serviceRetrieval, identifier: nil, began: began, result: .nothingFound)))
            return scan(at: now, &effects)
        }
        let candidate = Candidate(
            identifier: first, layer: .serviceRetrieval, layerBegan: began, others: Array(ordered.dropFirst().prefix(1)))
        connect(candidate, at: now, &effects)
    }

    // MARK: Layer 3

    mutating func scan(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        guard mayBeAdvertised(at: now) else {
            rounds += 1
            return backOff(at: now)
        }
        scan(until: now + scanWindow, at: now, &effects)
    }

    /// How long a scan lasts.
    var scanWindow: Duration {
        // A scan keeps the connect waiting that finds a headset of Bluetooth Classic at its address.
        if profile.usesSerialPort, !identifiers.isEmpty { return limits.classicScanWindow }
        return rounds >= limits.dutyCycleRounds ? limits.restingScanWindow : limits.scanWindow
    }

    mutating func scan(until: MonotonicTime, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        state = .scanning(began: now, until: until)
        provable = nil
        deadline = until
        _ = nextAttempt()
        effects.append(.startScan)
    }

    mutating func discovered(
        _ identifier: PeripheralIdentifier, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        // Advertisements go on for a moment after the scan was stopped: not illegal, merely late.
        guard case .scanning(let began, let until) = state, isEligible(identifier, at: now) else { return }
        switch claim(of: identifier) {
        case .known:
            noteHeard(identifier, at: now)
            return connectScanned(identifier, began: began, until: until, at: now, &effects)
        // The known address may be heard in a moment; else this one has its turn.
        case .provable: provable = provable ?? identifier
        case .first, .unrecognised: heardCandidates.hear(identifier, at: now)
        }
        noteListening(since: began, at: now)
        if let identifier = dueCandidate(began: began, at: now) {
            return connectScanned(identifier, began: began, until: until, at: now, &effects)
        }
        deadline = candidateDeadline(began: began, until: until, at: now)
    }

    /// Which address that is not known the scan may connect to by now; nil for none.
    func dueCandidate(began: MonotonicTime, at now: MonotonicTime) -> PeripheralIdentifier? {
        if let provable, now >= provableDue(began) { return provable }
        guard let lastListened, now - lastListened <= limits.candidatePeriod else { return nil }
        return candidates(at: now).first { isTakenForOurs($0, at: now) }
    }

    /// Whoever advertises more slowly is to be heard, too, before one is taken for the only one in sight.
    mutating func noteListening(since began: MonotonicTime, at now: MonotonicTime) {
        if now >= began + limits.bindingDelay { lastListened = now }
    }

    /// When the scan has to decide about an address that is not known, at the end of its window at the latest.
    func candidateDeadline(began: MonotonicTime, until: MonotonicTime, at now: MonotonicTime) -> MonotonicTime {
        var due = [provable.map { _ in provableDue(began) }].compactMap(\.self)
        if !candidates(at: now).isEmpty { due += [began + limits.bindingDelay, adoptionDue] }
        return due.filter { $0 > now }.reduce(until) { min($0, $1) }
    }

    private func provableDue(_ began: MonotonicTime) -> MonotonicTime {
        identifiers.isEmpty ? began : began + limits.provableDelay
    }

    mutating func connectScanned(
        _ identifier: PeripheralIdentifier, began: MonotonicTime, until: MonotonicTime, at now: MonotonicTime,
        _ effects: inout [ConnectionEffect]
    ) {
        provable = nil
        noteAdopting(identifier)
        effects.append(.stopScan)
        connect(
            Candidate(identifier: identifier, layer: .scan, layerBegan: began, scanEnd: until), at: now, &effects)
    }

    /// An address that is taken for the headset's although nothing proves it.
    private mutating func noteAdopting(_ identifier: PeripheralIdentifier) {
        guard case .unrecognised = claim(of: identifier) else { return }
        adopting = Adopting(identifier: identifier, replaced: identifiers.first, isAutomatic: true)
    }

    mutating func scanFailed(_ error: CentralError, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        guard case .scanning(let began, _) = state else {
            lateReplies += 1
            return
        }
        endScan(.failed(error), began: began, &effects)
        if case .notPermitted = error { return waitForOperator(error, at: now) }
        rounds += 1
        backOff(at: now)
    }

    mutating func endScan(_ result: LayerOutcome.Result, began: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        effects.append(.stopScan)
        effects.append(.layerEnded(LayerOutcome(layer: .scan, identifier: nil, began: began, result: result)))
    }

    // MARK: Between the layers

    /// False for an address that is known to be another headset's, or of the wrong kind: a headset of both kinds advertises an
    /// address at which its serial port is not.
    func isEligible(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        !isRejected(identifier, at: now) && (!profile.usesSerialPort || identifier.addressType == .classic)
    }

    /// An unknown address that an earlier process tried is worth a connection only where a proof of identity can follow, or
    /// where the headset was never reached: two headsets of one model are never taken for each other.
    private func mayConnect(to identifier: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        isEligible(identifier, at: now) && (identifiers.contains(identifier) || identifiers.isEmpty || profile.provesIdentity)
    }

    /// The address is of no use: an unproven one is tried once more where a scan found it and its services were right.
    mutating func forgetUnproven(_ identifier: PeripheralIdentifier, after link: Link? = nil) {
        if let link, link.isDiscovered, link.layer == .scan { return }
        if unproven == identifier { unproven = nil }
    }

    /// False where the headset is known by classic addresses alone, which nobody advertises: paging them, as a connect does, is
    /// what finds them, and a scan would only keep the connect waiting. Once they have been silent for long, it may have
    /// another.
    private func mayBeAdvertised(at now: MonotonicTime) -> Bool {
        identifiers.isEmpty || profile.provesIdentity || identifiers.contains { $0.addressType != .classic }
            || (adoption.policy != .never && now >= adoptionDue)
    }

    private func newLink(
        to identifier: PeripheralIdentifier, layer: ReconnectionLayer, began: MonotonicTime, attempt: Attempt,
        at now: MonotonicTime
    ) -> Link {
        var link = Link(identifier: identifier, layer: layer, layerBegan: began, connectAttempt: attempt)
        // A resolvable private address can be anybody's tomorrow; it is proven on every link.
        let needsProof =
            identityProof == nil || isProofDemanded || !identifiers.contains(identifier) || identifier.isResolvablePrivate
        link.isIdentified = profile.identityCharacteristic == nil || !needsProof
        link.isControlSubscribed = profile.controlCharacteristics.isEmpty
        if !profile.answersStatusQuery { link.status = .none }
        if mustProveItself(identifier) {
            // A descriptor may allow its headset longer steps than any of the built-in ones needs.
            link.proofDue = now + max(limits.proofLimit, profile.timing.stepLimit * 2)
        }
        return link
    }

    /// True for an unknown address where the headset is known by others, and by its proof.
    func mustProveItself(_ identifier: PeripheralIdentifier) -> Bool {
        if case .provable = claim(of: identifier) { !identifiers.isEmpty } else { false }
    }

    mutating func cancel(
        _ identifier: PeripheralIdentifier, tries: Int = 1, then: Continuation, at now: MonotonicTime,
        _ effects: inout [ConnectionEffect]
    ) {
        state = .cancelling(identifier, tries: tries, then: then)
        deadline = now + limits.cancelLimit
        effects.append(.cancelConnection(identifier, attempt: nextAttempt()))
    }

    /// Goes on after a connection is certainly gone.
    mutating func resume(_ continuation: Continuation, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        _ = nextAttempt()
        if continuation == .stop {
            state = .stopped
            deadline = nil
            return
        }
        guard adapter == .poweredOn else {
            state = .waitingForAdapter
            deadline = nil
            return
        }
        switch continuation {
        case .stop: break
        case .backOff: backOff(at: now)
        case .waitForOperator(let error): waitForOperator(error, at: now)
        case .scanOn(let until):
            if until > now { scan(until: until, at: now, &effects) } else { backOff(at: now) }
        case .afterCandidate(var candidate):
            if !candidate.others.isEmpty {
                candidate.identifier = candidate.others.removeFirst()
                return connect(candidate, at: now, &effects)
            }
            switch candidate.layer {
            case .restoration: connectCached(at: now, &effects)
            case .cachedIdentifier: retrieve(at: now, &effects)
            case .serviceRetrieval: scan(at: now, &effects)
            case .scan: backOff(at: now)
            }
        }
    }

    mutating func backOff(at now: MonotonicTime) {
        guard adapter == .poweredOn else {
            state = .waitingForAdapter
            deadline = nil
            return
        }
        state = .backingOff
        deadline = now + backoff.next(minimum: limits.backoffMinimum, maximum: limits.backoffMaximum)
        _ = nextAttempt()
    }

    func outcome(of candidate: Candidate, _ result: LayerOutcome.Result) -> LayerOutcome {
        LayerOutcome(
            layer: candidate.layer, identifier: candidate.identifier, began: candidate.layerBegan, result: result)
    }

    func outcome(of link: Link, _ result: LayerOutcome.Result) -> LayerOutcome {
        LayerOutcome(layer: link.layer, identifier: link.identifier, began: link.layerBegan, result: result)
    }
}
