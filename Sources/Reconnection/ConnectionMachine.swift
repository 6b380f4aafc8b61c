package import Bluetooth
package import Headsets

/// Keeps one headset connected: events in, effects out, no I/O.
///
/// Theory of operation. The machine runs a pipeline of four layers until one yields a link, then the establish flow until
/// samples flow, and begins again when they stop:
///
///     restoring -> connecting (cached identifiers) -> retrieving -> scanning -> backingOff -> connecting ...
///                       |                                 |            |
///                       +---------------- connecting <----+------------+
///                                             |
///     discovering -> identifying -> subscribingControl -> queryingStatus (-> waking, initialising) -> subscribingData
///     -> starting -> streaming
///
/// The rules that every transition keeps, each with a test:
/// 1. Every state but `stopped` and `waitingForAdapter` has a deadline. That of `waitingForOperator` is a long one.
/// 2. A layer that fails or stays silent falls to the next. After an exhausted scan, a known headset is connected to again at
///    once: a connection or a scan is armed at every instant. A scan that found nobody to know, a failed connection of the
///    last layer, a failed establish flow or a lost link backs off: capped, jittered, for ever.
/// 3. `connecting` is left by an answer or by cancelling; what was cancelled is waited for, so two connections are never
///    outstanding.
/// 4. Effects carry an attempt and replies bring it back; late ones are counted and dropped. An illegal event changes nothing.
/// 5. Silence while streaming is a lost link, also that of a single vital characteristic. Leaving `streaming` always says
///    why, so that a gap opens.
/// 6. What a person did waits for a person, and is tried again now and then: nobody may say that the cause is gone. What broke
///    is retried. Who is not known to be the headset decides nothing, and holds the machine for seconds at most.
/// 7. Pauses start from the minimum again only after streaming has held for a while.
package struct ConnectionMachine: Sendable {
    /// Where the machine is.
    package internal(set) var state: State = .stopped
    /// When ``ConnectionEvent/deadlineReached`` is due; nil only where the headset is not wanted, or the adapter is waited for.
    package internal(set) var deadline: MonotonicTime?
    /// Replies that came after their time and were dropped.
    package internal(set) var lateReplies = 0
    /// Events that the state does not allow; they changed nothing.
    package internal(set) var illegalEvents = 0
    /// Identifiers of the headset, best first.
    package internal(set) var identifiers: [PeripheralIdentifier]
    /// Those of them that a person has named, and under which the headset was not reached.
    package var named: [PeripheralIdentifier] = []
    /// Those of them at which another headset answered last.
    var doubted: [PeripheralIdentifier] = []
    /// An unknown address that was connected to, until the headset streams there or the address proves to be of no use: worth a
    /// try, and where a process that died left a link that nobody owns.
    package internal(set) var unproven: PeripheralIdentifier?
    /// What proves that a headset is ours; nil until the first proof.
    package internal(set) var identityProof: String?
    /// True while ``identityProof`` is what a person demands, and the headset has never streamed under it: one that is reached
    /// at a known address is asked for it, too.
    package var isProofDemanded = false
    /// The boot identifier of the latest epoch; nil where there is none.
    package internal(set) var knownBoot: UInt32?
    /// The adapter's state as last reported.
    package internal(set) var adapter: AdapterState = .unknown

    /// The headset's profile, as its GATT database makes it.
    var profile: any HeadsetProfile
    let limits: ReconnectionLimits
    /// The number of the latest attempt.
    package internal(set) var attempt = Attempt.none
    var backoff: Backoff
    /// Exhausted rounds in a row.
    var rounds = 0
    /// Where the next round's cached identifiers begin, so that more than fit in a round all get their turn.
    var identifierTurn = 0
    var restorationDone = false
    /// An address that can prove to be the headset's, which the scan has found, and that waits for its turn.
    var provable: PeripheralIdentifier?
    /// What is done about addresses that nothing proves.
    package var adoption: Adoption
    /// An address that was adopted by itself and that no person has confirmed; nil where there is none.
    package var provisional: PeripheralIdentifier?
    var adopting: Adopting?
    var heardCandidates = CandidateList()
    /// When a scan had last gone on for so long that everybody in sight was heard.
    var lastListened: MonotonicTime?
    /// When one of the known addresses was heard last, or the search for them began; nil before.
    var lastHeard: MonotonicTime?
    /// When each of the profile's vital characteristics sent last, in the order of the profile.
    var lastArrivals: [MonotonicTime] = []
    /// True from a link or a connect after a scan on which nothing came, until the cached identifiers are tried, and from then.
    var (followsSilence, wasHurried) = (false, false)
    /// How long the headset is left alone when it refuses next; nil where it has not.
    var refusalPause: Duration?
    /// How long a person is waited for next; nil where none was since the last success, or the last word of a person.
    var operatorPause: Duration?
    /// The attempt that has got more time because of a pairing.
    var pairingAttempt: Attempt?
    /// Identifiers of other headsets, and until when they are left alone.
    var rejected: [(identifier: PeripheralIdentifier, until: MonotonicTime)] = []

    /// The state, with what only it knows.
    package enum State: Hashable, Sendable {
        /// Not wanted: nothing is outstanding.
        case stopped
        /// The adapter is not ready.
        case waitingForAdapter
        /// A person must act, or the headset itself has refused: it is tried again once the deadline has passed.
        case waitingForOperator(CentralError)
        /// Layer 0 was asked.
        case restoring(began: MonotonicTime)
        /// A connection is outstanding.
        case connecting(Candidate)
        /// A cancelled connection or a closed link is waited for.
        case cancelling(PeripheralIdentifier, tries: Int, then: Continuation)
        /// Layer 2 was asked.
        case retrieving(began: MonotonicTime)
        /// Layer 3 runs.
        case scanning(began: MonotonicTime, until: MonotonicTime)
        /// The link is up and a step of the establish flow is under way.
        case establishing(Link, Link.Step)
        /// Samples flow.
        case streaming(Link, since: MonotonicTime)
        /// The headset was commanded to stop, on the operator's wish.
        case stopping(Link)
        /// Pause.
        case backingOff
    }

    /// A way to the headset that is being tried.
    package struct Candidate: Hashable, Sendable {
        /// The identifier that is connected to.
        package var identifier: PeripheralIdentifier
        /// The layer that gave it.
        package var layer: ReconnectionLayer
        /// When the layer began.
        package var layerBegan: MonotonicTime
        /// Further identifiers of the same layer, to be tried after this one.
        package var others: [PeripheralIdentifier] = []
        /// When the scan that found it ends; nil in other layers.
        package var scanEnd: MonotonicTime?
    }

    /// What follows a cancelled connection.
    package enum Continuation: Hashable, Sendable {
        /// The candidate's next identifier, or the layer after it.
        case afterCandidate(Candidate)
        /// Layer 3 goes on for the rest of its window: what was found was another headset.
        case scanOn(until: MonotonicTime)
        /// A pause, then the pipeline.
        case backOff
        /// Wait for a person.
        case waitForOperator(CentralError)
        /// Stop.
        case stop
    }

    /// Creates a stopped machine.
    ///
    /// - Parameters:
    ///   - identifiers: under which the headset was reached before, best first.
    ///   - identityProof: what proved it to be this headset.
    ///   - knownBoot: the boot identifier of the headset's latest epoch.
    ///   - preserved: what an earlier process left; its connected or pending peripheral is tried first.
    ///   - adoption: what is done about addresses that nothing proves.
    ///   - firstAttempt: attempts are numbered from the one after it; machines on one central have ranges of their own.
    ///   - seed: of the jitter.
    package init(
        profile: any HeadsetProfile, identifiers: [PeripheralIdentifier], identityProof: String?,
        knownBoot: UInt32? = nil, preserved: PreservedState? = nil, adoption: Adoption = Adoption(),
        limits: ReconnectionLimits = ReconnectionLimits(), firstAttempt: Attempt = .none, seed: UInt64
    ) {
        self.profile = profile
        self.identifiers = identifiers
        self.identityProof = identityProof
        self.adoption = adoption
        self.limits = limits
        self.attempt = firstAttempt
        self.backoff = Backoff(seed: seed)
        self.knownBoot = knownBoot
        if let preserved {
            unproven = [preserved.peripheral, preserved.unproven].lazy.compactMap(\.self)
                .first { !identifiers.contains($0) }
            if let identifier = preserved.peripheral, identifiers.contains(identifier) { promote(identifier) }
        }
    }

    /// The link that is up; nil for none.
    package var link: Link? {
        switch state {
        case .establishing(let link, _), .streaming(let link, _), .stopping(let link): link
        default: nil
        }
    }

    /// The headset's last answer on the present link.
    package var lastStatus: HeadsetStatus? { link?.lastStatus }

    /// The services that were discovered show which kind of headset it is; see ``HeadsetProfile/adapted(to:)``.
    package mutating func adapt(to profile: any HeadsetProfile) {
        self.profile = profile
    }

    /// Takes one event. Returns what is to be done, in order.
    package mutating func handle(_ event: ConnectionEvent, at now: MonotonicTime) -> [ConnectionEffect] {
        var effects: [ConnectionEffect] = []
        if case .samplesReceived = event {} else { noteKnownHeadset(at: now) }
        switch event {
        case .samplesReceived(let characteristic): samplesReceived(from: characteristic, at: now)
        case .deadlineReached:
            if let deadline, deadline <= now { deadlineReached(at: now, &effects) }
        case .start:
            if case .stopped = state { begin(at: now, &effects) } else { illegalEvents += 1 }
        case .stop(let reason): stop(reason, at: now, &effects)
        case .adapterChanged(let adapter): adapterChanged(adapter, at: now, &effects)
        case .operatorActed:
            guard case .waitingForOperator = state else {
                illegalEvents += 1
                break
            }
            operatorPause = nil
            begin(at: now, &effects)
        case .restored(let peripherals, let attempt): restored(peripherals, attempt, at: now, &effects)
        case .retrievedConnected(let found, let attempt): retrieved(found, attempt, at: now, &effects)
        case .discovered(let identifier): discovered(identifier, at: now, &effects)
        case .scanFailed(let error): scanFailed(error, at: now, &effects)
        case .connected(let identifier, let attempt): connected(identifier, attempt, at: now, &effects)
        case .connectFailed(let error, let attempt): connectFailed(error, attempt, at: now, &effects)
        case .disconnected(let error, let attempt): disconnected(error, attempt, at: now, &effects)
        case .servicesDiscovered, .identityRead, .controlSubscribed, .dataSubscribed, .commandsCompleted, .stepFailed,
            .statusReceived, .servicesModified:
            establish(event, at: now, &effects)
        case .pairingBegan: pairingBegan(at: now)
        }
        return effects
    }

    /// True where an answer with this attempt is not late.
    package func awaits(_ attempt: Attempt) -> Bool { attempt == self.attempt }

    /// True where `attempt` is the one that is waited for; counts it as late otherwise.
    mutating func isCurrent(_ attempt: Attempt) -> Bool {
        if attempt == self.attempt { return true }
        lateReplies += 1
        return false
    }

    /// A number for the next effect.
    mutating func nextAttempt() -> Attempt {
        attempt = attempt.next
        return attempt
    }

    /// Puts the identifier first. The same address of the other type, which a person may have meant, does not exist then.
    mutating func promote(_ identifier: PeripheralIdentifier) {
        identifiers.removeAll { $0 == identifier || $0.differsInTypeAlone(from: identifier) }
        identifiers.insert(identifier, at: 0)
        doubted.removeAll { $0 == identifier }
        if identifiers.count > limits.identifiersKept { identifiers.removeLast() }
    }

    /// The identifiers that are this headset's and nobody else's, as far as anybody knows.
    package var claimedIdentifiers: [PeripheralIdentifier] { identifiers.filter { !doubted.contains($0) } }

    /// A person names other addresses than before. What is connected, or tried just now, goes on.
    package mutating func replace(_ former: [PeripheralIdentifier], with named: [PeripheralIdentifier]) {
        identifiers.removeAll { former.contains($0) && !named.contains($0) }
        identifiers += named.filter { !identifiers.contains($0) }
        rejected.removeAll { named.contains($0.identifier) && !former.contains($0.identifier) }
    }

    /// True where the identifier was found to be another headset's a short while ago.
    func isRejected(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> Bool {
        rejected.contains { $0.identifier == identifier && $0.until > now }
    }
}

// MARK: - Start, stop, adapter, deadline

extension ConnectionMachine {
    /// The pipeline from its first layer.
    mutating func begin(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        guard adapter == .poweredOn else {
            state = .waitingForAdapter
            deadline = nil
            return
        }
        if restorationDone { return connectCached(at: now, &effects) }
        restorationDone = true
        state = .restoring(began: now)
        deadline = now + limits.restorationLimit
        let candidates = identifiers + [unproven].compactMap(\.self)
        effects.append(.restoreState(identifiers: candidates, attempt: nextAttempt()))
    }

    private mutating func stop(_ reason: StopReason, at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        switch state {
        case .stopped: illegalEvents += 1
        case .waitingForAdapter, .waitingForOperator, .restoring, .retrieving, .backingOff: enterStopped()
        case .scanning(let began, _):
            endScan(.interrupted, began: began, &effects)
            enterStopped()
        case .connecting(let candidate):
            effects.append(.layerEnded(outcome(of: candidate, .interrupted)))
            cancel(candidate.identifier, then: .stop, at: now, &effects)
        case .cancelling(let identifier, let tries, _): state = .cancelling(identifier, tries: tries, then: .stop)
        case .establishing(let link, _):
            effects.append(.layerEnded(outcome(of: link, .interrupted)))
            stop(link, reason, at: now, &effects)
        case .streaming(let link, _):
            effects.append(.streamingEnded(reason.gapCause))
            stop(link, reason, at: now, &effects)
        case .stopping(let link):
            if !reason.endsSampling { cancel(link.identifier, then: .stop, at: now, &effects) }
        }
    }

    /// On the operator's wish the headset is commanded to stop; a process that merely ends leaves it sampling.
    private mutating func stop(
        _ link: Link, _ reason: StopReason, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        guard reason.endsSampling, link.isDiscovered, !profile.commands(for: .stop, status: link.lastStatus).isEmpty
        else { return cancel(link.identifier, then: .stop, at: now, &effects) }
        state = .stopping(link)
        deadline = now + profile.timing.stepLimit
        effects.append(.run(.stop, on: link.identifier, attempt: nextAttempt()))
    }

    private mutating func enterStopped() {
        state = .stopped
        deadline = nil
        _ = nextAttempt()  // Replies that are still under way are late from here on.
    }

    private mutating func adapterChanged(
        _ adapter: AdapterState, at now: MonotonicTime, _ effects: inout [ConnectionEffect]
    ) {
        let wasReady = self.adapter == .poweredOn
        self.adapter = adapter
        if adapter == .poweredOn {
            // What cannot be heard is not silent.
            if !wasReady { lastHeard = now }
            if case .waitingForAdapter = state { begin(at: now, &effects) }
            return
        }
        guard wasReady else { return }
        switch state {
        case .stopped, .waitingForAdapter, .cancelling: break
        // What a person was waited for may be over once an adapter is on, which may be another one.
        case .restoring, .retrieving, .backingOff, .waitingForOperator: waitForAdapter()
        case .scanning(let began, _):
            endScan(.interrupted, began: began, &effects)
            waitForAdapter()
        case .connecting(let candidate):
            effects.append(.layerEnded(outcome(of: candidate, .interrupted)))
            cancel(candidate.identifier, then: .backOff, at: now, &effects)
        case .establishing(let link, _):
            effects.append(.layerEnded(outcome(of: link, .interrupted)))
            cancel(link.identifier, then: .backOff, at: now, &effects)
        case .streaming(let link, _):
            effects.append(.streamingEnded(.adapterUnavailable))
            cancel(link.identifier, then: .backOff, at: now, &effects)
        case .stopping(let link): cancel(link.identifier, then: .stop, at: now, &effects)
        }
    }

    private mutating func waitForAdapter() {
        state = .waitingForAdapter
        deadline = nil
        _ = nextAttempt()
    }

    private mutating func deadlineReached(at now: MonotonicTime, _ effects: inout [ConnectionEffect]) {
        switch state {
        case .stopped, .waitingForAdapter: illegalEvents += 1
        case .waitingForOperator: begin(at: now, &effects)
        case .restoring(let began):
            effects.append(.layerEnded(LayerOutcome(layer: .restoration, identifier: nil, began: began, result: .silent)))
            connectCached(at: now, &effects)
        case .connecting(let candidate):
            effects.append(.layerEnded(outcome(of: candidate, .silent)))
            forgetUnproven(candidate.identifier)
            if candidate.layer == .scan, !wasHurried { followsSilence = candidate.identifier.addressType != .classic }
            cancel(candidate.identifier, then: .afterCandidate(candidate), at: now, &effects)
        case .cancelling(let identifier, let tries, let then):
            if tries >= limits.cancelTries { return resume(then, at: now, &effects) }
            cancel(identifier, tries: tries + 1, then: then, at: now, &effects)
        case .retrieving(let began):
            effects.append(
                .layerEnded(LayerOutcome(layer: .serviceRetrieval, identifier: nil, began: began, result: .silent)))
            scan(at: now, &effects)
        case .scanning(let began, let until):
            noteListening(since: began, at: now)
            if let identifier = dueCandidate(began: began, at: now) {
                return connectScanned(identifier, began: began, until: until, at: now, &effects)
            }
            if now < until { return deadline = candidateDeadline(began: began, until: until, at: now) }
            endScan(.nothingFound, began: began, &effects)
            rounds += 1
            // The scan took its time, so that nothing spins: the connection is armed again without a hole.
            if identifiers.contains(where: { !isRejected($0, at: now) }) { return connectCached(at: now, &effects) }
            backOff(at: now)
        case .establishing(let link, let step): stepOverdue(link, step, at: now, &effects)
        case .streaming(let link, let since): endStreaming(link, since, .silence, at: now, &effects)
        case .stopping(let link): cancel(link.identifier, then: .stop, at: now, &effects)
        case .backingOff: begin(at: now, &effects)
        }
    }
}
