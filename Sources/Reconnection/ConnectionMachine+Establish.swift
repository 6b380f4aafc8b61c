import Bluetooth
import Headsets

/// The establish flow, streaming, and the loss of a link.
extension ConnectionMachine {
    /// Asks the link what is missing and asks for that; with nothing missing, streaming has begun.
    mutating func proceed(_ link: Link, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        var link = link
        guard let step = link.nextStep(profile: profile, knownBoot: knownBoot) else {
            return beginStreaming(link, at: now, &effects)
        }
        let attempt = nextAttempt()
        var limit = profile.timing.stepLimit
        switch step {
        case .discover: effects.append(.discover(link.identifier, attempt: attempt))
        case .identify: effects.append(.identify(link.identifier, attempt: attempt))
        case .subscribeControl: effects.append(.subscribeControl(link.identifier, attempt: attempt))
        case .queryStatus:
            link.statusTries += 1
            limit = profile.timing.statusLimit
            effects.append(.run(.queryStatus, on: link.identifier, attempt: attempt))
        case .wake:
            link.wakeTries += 1
            effects.append(.run(.wake, on: link.identifier, attempt: attempt))
        case .initialise: effects.append(.run(.initialise, on: link.identifier, attempt: attempt))
        case .subscribeData: effects.append(.subscribeData(link.identifier, attempt: attempt))
        case .start: effects.append(.run(.start, on: link.identifier, attempt: attempt))
        }
        state = .establishing(link, step)
        deadline = now + limit
        // Who answers each step late must not hold the machine for a multiple of them.
        if let due = link.proofDue { deadline = min(now + limit, due) }
    }

    /// Events of a link that is up.
    mutating func establish(_ event: ConnectionEvent, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        switch event {
        case .statusReceived(let status): return statusReceived(status, at: now, &effects)
        case .servicesModified: return servicesModified(at: now, &effects)
        case .stepFailed(let error, let attempt):
            guard isCurrent(attempt) else { return }
            return stepFailed(error, at: now, &effects)
        default: break
        }
        guard isCurrent(Self.attempt(of: event)) else { return }
        if case .stopping(let link) = state, case .commandsCompleted = event {
            return cancel(link.identifier, then: .stop, at: now, &effects)
        }
        guard case .establishing(var link, let step) = state else {
            illegalEvents += 1
            return
        }
        switch (event, step) {
        case (.servicesDiscovered, .discover): link.isDiscovered = true
        case (.identityRead(nil, _), .identify) where isProofDemanded && isKnownForGood(link.identifier):
            link.isIdentified = true  // It says nothing else than what a person says.
        case (.identityRead(nil, _), .identify) where identityProof != nil:
            return abandonUnproven(link, at: now, &effects)
        case (.identityRead(let proof, _), .identify):
            guard isOurs(proof, link) else { return rejectHeadset(link, proof, at: now, &effects) }
            link.isIdentified = true
            link.proofDue = nil
            if let proof { identityProof = proof }
        case (.controlSubscribed, .subscribeControl): link.isControlSubscribed = true
        case (.commandsCompleted, .queryStatus): return  // The answer itself is waited for.
        case (.commandsCompleted, .wake):
            link.status = .unknown
            link.statusTries = 0
        case (.commandsCompleted, .initialise):
            link.isInitialised = true
            link.isStarted = false
            if profile.answersStatusQuery, profile.isAskedOnceInitialised, link.status != .unanswered {
                link.status = .unknown
                link.statusTries = 0
            }
        case (.dataSubscribed, .subscribeData): link.isDataSubscribed = true
        case (.commandsCompleted, .start): link.isStarted = true
        default:
            illegalEvents += 1
            return
        }
        proceed(link, at: now, &effects)
    }

    private static func attempt(of event: ConnectionEvent) -> Attempt {
        switch event {
        case .servicesDiscovered(let attempt), .identityRead(_, let attempt), .controlSubscribed(let attempt),
            .dataSubscribed(let attempt), .commandsCompleted(let attempt):
            attempt
        default: .none
        }
    }

    // MARK: Identity

    /// Without an earlier proof, the headset is ours where a person named its address or where it is the first ever found.
    private func isOurs(_ proof: String?, _ link: Link) -> Bool {
        guard let identityProof else {
            return identifiers.isEmpty || identifiers.contains(link.identifier) || adopting?.identifier == link.identifier
        }
        return proof == identityProof
    }

    /// True for an address at which the headset was reached or that a person has named, and that is nobody else's tomorrow.
    private func isKnownForGood(_ identifier: PeripheralIdentifier) -> Bool {
        identifiers.contains(identifier) && !identifier.isResolvablePrivate
    }

    /// A status comes in several notifications without a checksum. A serial number that is new counts once it was sent twice:
    /// a damaged one would turn the headset away, or bind the recording to a headset that does not exist.
    private mutating func askAgain(
        _ proof: String, _ link: Link, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        var link = link
        link.latestProof = proof
        link.proofTries += 1
        guard link.proofTries <= limits.proofTries else { return abandonUnproven(link, at: now, &effects) }
        proceed(link, at: now, &effects)
    }

    /// Without a serial number in its status, a headset counts as ours at an address where it was reached before.
    private func mayStayUnproven(_ link: Link) -> Bool {
        !profile.sendsIdentityInStatus || (identityProof == nil && identifiers.isEmpty)
            || identifiers.contains(link.identifier) || adopting?.identifier == link.identifier
    }

    /// It may be ours and merely not send it this time: no reason to leave it alone for long.
    private mutating func abandonUnproven(_ link: Link, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        abandon(link, .failed(.connectionFailed(reason: "the headset did not send its serial number")), at: now, &effects)
    }

    /// Another headset answers. At an address at which this one has streamed somebody may pose for it, or a damaged answer look
    /// like that: the address stays its own, after the others, and another headset of ours may take it. A resolvable private
    /// address is anybody's with time.
    private mutating func rejectHeadset(
        _ link: Link, _ proof: String?, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        let identifier = link.identifier
        let isReached = identifiers.contains(identifier) && !named.contains(identifier) && !identifier.isResolvablePrivate
        identifiers.removeAll { $0 == identifier }
        doubted.removeAll { !identifiers.contains($0) }
        if isReached {
            identifiers.append(identifier)
            doubted.append(identifier)
        }
        effects.append(.identifierRejected(identifier, proof: proof))
        turnAway(link, .otherHeadset, for: isReached ? limits.doubtPeriod : limits.rejectionPeriod, at: now, &effects)
    }

    /// Closes a link to somebody else's headset, leaves that alone for a while, and looks on.
    private mutating func turnAway(
        _ link: Link, _ result: LayerOutcome.Result, for period: Duration? = nil, at now: MonotonicTime,
        _ effects: inout [ConnectionEffect]
    ) {
        leaveAlone(link.identifier, for: period, at: now)
        effects.append(.layerEnded(outcome(of: link, result)))
        if link.layer == .scan {
            cancel(link.identifier, then: .scanOn(until: link.layerBegan + scanWindow), at: now, &effects)
        } else {
            let candidate = Candidate(identifier: link.identifier, layer: link.layer, layerBegan: link.layerBegan)
            cancel(link.identifier, then: .afterCandidate(candidate), at: now, &effects)
        }
    }

    // MARK: Status

    private mutating func statusReceived(
        _ status: HeadsetStatus, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        switch state {
        case .establishing(var link, let step):
            // A headset may send its status before it is asked; only the answer to the query moves the flow.
            guard step == .queryStatus else { return }
            if profile.sendsIdentityInStatus, let proof = status.serialNumber {
                if proof != identityProof, proof != link.latestProof { return askAgain(proof, link, at: now, &effects) }
                guard isOurs(proof, link) else { return rejectHeadset(link, proof, at: now, &effects) }
                identityProof = proof
                link.proofDue = nil
            } else if status.isAwake, !mayStayUnproven(link) {
                // One that sleeps has to be woken before it can answer; that harms nobody's headset.
                return abandonUnproven(link, at: now, &effects)
            }
            link.status = .known(status)
            link.statusTries = 0
            link.isStarted = status.condition == .streaming
            let conclusion = conclude(status, link)
            effects.append(.statusConcluded(conclusion, status: status))
            if conclusion == .asleep, link.wakeTries >= limits.wakeTries {
                return abandon(link, .failed(.connectionFailed(reason: "the headset does not wake up")), at: now, &effects)
            }
            proceed(link, at: now, &effects)
        case .streaming(var link, _):
            guard status.isRestart(since: knownBoot) else { return }
            // It restarted without losing the link: everything that was set up is void.
            effects.append(.streamingEnded(.headsetRestarted))
            link.status = .unknown
            link.isStarted = false
            link.isInitialised = false
            link.layerBegan = now
            proceed(link, at: now, &effects)
        default: break  // A status that arrives while the link is closed says nothing that matters.
        }
    }

    private func conclude(_ status: HeadsetStatus, _ link: Link) -> StatusConclusion {
        switch status.condition {
        case .lowPower, .bootloader: return .asleep
        case .streaming, .sampling, .idle, .wrongConfiguration: break
        }
        if status.isRestart(since: knownBoot) { return .headsetRestarted }
        switch status.condition {
        case .idle, .wrongConfiguration, .lowPower, .bootloader: return .needsInitialisation
        case .streaming, .sampling:
            if knownBoot == nil { return .first }
            return status.condition == .streaming ? .stillStreaming : .stillSampling
        }
    }

    // MARK: Failure of a step

    mutating func stepOverdue(
        _ link: Link, _ step: Link.Step, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        let isProofOverdue = link.proofDue.map { $0 <= now } ?? false
        guard step == .queryStatus, !isProofOverdue else { return abandon(link, .silent, at: now, &effects) }
        if link.statusTries < 2 { return proceed(link, at: now, &effects) }
        guard mayStayUnproven(link) else { return abandonUnproven(link, at: now, &effects) }
        var link = link
        link.status = .unanswered
        effects.append(.statusConcluded(.noAnswer, status: nil))
        proceed(link, at: now, &effects)
    }

    private mutating func stepFailed(_ error: CentralError, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        switch state {
        case .establishing(let link, _):
            // The adapter reports by itself when it is back.
            if case .adapterUnavailable = error { return abandon(link, .failed(error), at: now, &effects) }
            if error.disposition == .waitForOperator || error.disposition == .stop {
                if isRefusalOfStranger(link.identifier, error) { return turnAway(link, .failed(error), at: now, &effects) }
                forgetUnproven(link.identifier)
                effects.append(.layerEnded(outcome(of: link, .failed(error))))
                return cancel(link.identifier, then: .waitForOperator(error), at: now, &effects)
            }
            abandon(link, .failed(error), at: now, &effects)
        case .stopping(let link): cancel(link.identifier, then: .stop, at: now, &effects)
        default: illegalEvents += 1
        }
    }

    /// Closes a link that could not be set up, and pauses.
    private mutating func abandon(
        _ link: Link, _ result: LayerOutcome.Result, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        effects.append(.layerEnded(outcome(of: link, result)))
        forgetUnproven(link.identifier, after: link)
        cancel(link.identifier, then: .backOff, at: now, &effects)
    }

    // MARK: Streaming

    private mutating func beginStreaming(_ link: Link, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        var link = link
        link.modifications = 0
        knownBoot = link.lastStatus?.bootIdentifier ?? knownBoot
        rounds = 0
        refusalPause = nil
        operatorPause = nil
        state = .streaming(link, since: now)
        deadline = now + profile.timing.silenceLimit
        lastArrivals = profile.vitalCharacteristics.map { _ in now }
        _ = nextAttempt()
        settleAdoption(link, &effects)
        promote(link.identifier)
        isProofDemanded = false
        // Found: wherever else it was looked for is another headset's matter.
        unproven = nil
        effects.append(.identifierProven(link.identifier, proof: identityProof))
        effects.append(.streamingBegan(link))
        effects.append(.layerEnded(outcome(of: link, .streaming)))
    }

    mutating func samplesReceived(from characteristic: BluetoothUUID, at now: MonotonicTime) {
        guard case .streaming(_, let since) = state else { return }
        if lastArrivals.isEmpty {
            deadline = now + profile.timing.silenceLimit
        } else if let vital = profile.vitalCharacteristics.firstIndex(of: characteristic), vital < lastArrivals.count {
            lastArrivals[vital] = now
            deadline = lastArrivals.min().map { $0 + profile.timing.silenceLimit }
        }
        if backoff.failures > 0, now - since >= limits.stableAfter { backoff.reset() }
    }

    mutating func endStreaming(
        _ link: Link, _ since: MonotonicTime, _ cause: GapCause, at now: MonotonicTime,
        _ effects: inout [ConnectionEffect]
    ) {
        effects.append(.streamingEnded(cause))
        // Only a scan finds a headset elsewhere, and Bluetooth Classic has none.
        followsSilence = cause == .silence && link.identifier.addressType != .classic
        cancel(link.identifier, then: .backOff, at: now, &effects)
    }

    private mutating func servicesModified(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        switch state {
        case .establishing(var link, let step):
            // One change is reported many times, once for each characteristic that is gone.
            if link.isDiscovered { link.modifications += 1 }
            guard link.modifications <= limits.modificationTries else {
                let error = CentralError.connectionFailed(reason: "the headset changes its services again and again")
                return abandon(link, .failed(error), at: now, &effects)
            }
            let former = deadline
            discoverAnew(link, at: now, &effects)
            if step == .discover { deadline = former }
        case .streaming(let link, _):
            effects.append(.streamingEnded(.silence))
            discoverAnew(link, at: now, &effects)
        default: break
        }
    }

    private mutating func discoverAnew(_ link: Link, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        var link = link
        link.isDiscovered = false
        link.isControlSubscribed = profile.controlCharacteristics.isEmpty
        link.isDataSubscribed = false
        proceed(link, at: now, &effects)
    }

    mutating func disconnected(
        _ error: CentralError?, _ attempt: Attempt, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        switch state {
        case .cancelling(_, _, let then):
            // Either our cancel was answered, or the link broke while we were closing it.
            if attempt == self.attempt { return resume(then, at: now, &effects) }
            lateReplies += 1
        case .establishing(let link, _) where attempt == link.connectAttempt:
            effects.append(.layerEnded(outcome(of: link, .failed(error ?? .linkLost))))
            forgetUnproven(link.identifier, after: link)
            lost(link, error, at: now)
        case .streaming(let link, _) where attempt == link.connectAttempt:
            effects.append(.streamingEnded(Self.cause(of: error)))
            lost(link, error, at: now)
        case .stopping(let link) where attempt == link.connectAttempt: resume(.stop, at: now, &effects)
        default: lateReplies += 1
        }
    }

    /// A link has ended by itself. Where a person has blocked the headset, that person is waited for; whoever blocks somebody
    /// else's device keeps this process from that device alone.
    private mutating func lost(_ link: Link, _ error: CentralError?, at now: MonotonicTime) {
        if let error, isRefusalOfStranger(link.identifier, error) {
            leaveAlone(link.identifier, at: now)
        } else if case .peripheralBlocked? = error {
            return waitForOperator(.peripheralBlocked, at: now)
        }
        backOff(at: now)
    }

    private static func cause(of error: CentralError?) -> GapCause {
        if case .adapterUnavailable? = error { return .adapterUnavailable }
        return .linkLost
    }
}
