import Bluetooth
import Headsets
import Reconnection
import Storage
import Tap

/// One headset's recording: its machine, its decoder and its streams, between the central's events and the database's batches.
final class HeadsetAcquisition {
    /// The recording as the operator wishes it; its headset may get another name.
    var open: OpenRecording
    var name: String { open.headsetName }
    let profile: any HeadsetProfile
    let headset: HeadsetID
    let recording: RecordingID

    let context: EngineContext
    var machine: ConnectionMachine
    /// Everything that lives as long as the recording.
    var recorded: RecordedStreams
    /// Everything that dies with the link.
    var session: LinkSession
    var records = HeadsetRecords()
    var history = ConnectionHistory()
    var returnTiming: ReturnTiming
    /// When it was asked last how strong the link is.
    private(set) var qualityAsked: MonotonicTime?
    var timers = TimerTable<HeadsetTimer>()

    /// Addresses that a person has named, and under which the headset was not reached.
    var named: [PeripheralIdentifier] {
        get { machine.named }
        set { machine.named = newValue }
    }
    /// The serial number under which the headset is stored; nil where none is.
    var storedProof: String?
    /// Which advertisements may be the headset's.
    private(set) var scanFilter: ScanFilter
    var notedCandidates = NotedCandidates()
    /// The decision about the headset's address that was followed last.
    var followedAdoption: Int64 = 0

    /// True once the operator's stop was taken: samples that still arrive are not wanted.
    private(set) var isFinishing = false
    /// True once the recording's end is among the records.
    var hasEnded = false
    /// Why the headset was let go; nil while it was not.
    var quarantine: QuarantineReason?
    /// True once it is to begin anew from what the database has, as soon as it was let go and everything is written.
    var isReleased = false
    /// True where the recording is merely ended.
    private(set) var isResumedToEnd = false

    /// What the latest notification was decoded to; kept for its memory.
    var decoded = Decoded()
    /// Returns to streaming that nobody has taken yet.
    var returns: [StreamingReturn] = []
    /// What a person has chosen about the headset, as the facts of its links say it.
    let chosen: LinkFacts
    /// The firmware of the latest link that showed it; nil before the first one.
    var knownRevision: String?
    /// Until when the operator wants impedances; nil for not. The wish outlives a link: whoever adjusts electrodes goes on as
    /// soon as the headset is back.
    var impedanceEnd: MonotonicTime?
    var wantsScan = false
    /// The peripheral to which a connection failed last; nil before.
    private var failedPeripheral: PeripheralIdentifier?
    private(set) var phase = ConnectionPhase.stopped
    /// What exactly it waits for; nil where the phase says it all.
    private(set) var phaseCause: ConnectionCause?
    private(set) var phaseSince: MonotonicTime = .boot
    private var preservedChanges = PreservedStateChanges()
    /// Events that wait until the machine has done what the one before asks for.
    var pending: [ConnectionEvent] = []
    /// True while the machine handles an event, or what it asks for is done: whatever happens meanwhile waits.
    private var isHandling = false

    init(_ wanted: WantedRecording, index: Int, context: EngineContext, seed: UInt64, at now: MonotonicTime) {
        open = wanted.open
        profile = wanted.known.profile
        headset = wanted.resume.headset
        recording = wanted.resume.recording
        self.context = context
        session = LinkSession(profile)
        chosen = wanted.known.facts
        knownRevision = wanted.resume.firmwareRevision
        let resumed = RecordedStreams.resuming(wanted.resume, montage: wanted.known.montage)
        recorded = resumed.streams
        storedProof = wanted.resume.identityProof
        quarantine = resumed.error.map { .storedDescription(fault: "\($0)") }
        if wanted.open.isWanted, quarantine == nil {
            quarantine = Self.contradiction(demanded: wanted.known.identityProof, stored: wanted.resume.identityProof)
        }
        let openCause = wanted.resume.streams.lazy.compactMap(\.openGapCause).first
        returnTiming = ReturnTiming(
            cause: wanted.resume.streams.isEmpty ? nil : openCause ?? resumed.streams.absenceCause, began: now)
        scanFilter = wanted.known.scanFilter
        let named = wanted.known.furtherIdentifiers(beyond: wanted.resume.identifiers)
        machine = ConnectionMachine(
            profile: profile, identifiers: wanted.resume.identifiers + named,
            identityProof: wanted.known.identityProof ?? wanted.resume.identityProof,
            knownBoot: recorded.bootIdentifier, preserved: wanted.resume.preservedJSON.flatMap { PreservedState(json: $0) },
            adoption: wanted.known.adoption, firstAttempt: Attempt(number: 0, machine: UInt32(index + 1)), seed: seed)
        machine.named = named
        machine.isProofDemanded = wanted.known.identityProof != nil && wanted.resume.identityProof == nil
        claimIdentifiers()
    }

    /// The attempt of background requests: their answers move nothing.
    var backgroundAttempt: Attempt { Attempt(number: 1, machine: machine.attempt.machine, lane: .background) }

    /// The identifier that this headset uses or tries now. Kept, because every notification is looked up by it.
    private(set) var peripheral: PeripheralIdentifier?

    /// True where the attempt is one of this headset's.
    func owns(_ attempt: Attempt) -> Bool { attempt.machine == machine.attempt.machine }

    /// True once nothing is outstanding any more.
    var isStopped: Bool { machine.state == .stopped }

    /// When something is due.
    var deadline: MonotonicTime? { timers.earliest }

    /// Rows that are not in a batch yet.
    var rowCount: Int { recorded.rowCount }

    // MARK: In

    /// A person has named other addresses. Those under which the headset was reached it keeps.
    func take(_ known: KnownHeadset) {
        let reached = machine.identifiers.filter { !named.contains($0) }
        let others = known.furtherIdentifiers(beyond: reached)
        machine.replace(named, with: others)
        machine.adoption = known.adoption
        named = others
        scanFilter = known.scanFilter
        claimIdentifiers()
    }

    /// The operator stopped the recording while no process acquired.
    func finish(_ stop: StopRequest, at now: MonotonicTime) {
        isFinishing = true
        isResumedToEnd = true
        endRecording(at: stop.isSameHostBoot ? stop.at : now, wasAbsent: true)
    }

    /// Has the machine handle an event, after the one that it is at work on just now, if it is, and does what it asks for.
    func handle(_ event: ConnectionEvent, at now: MonotonicTime) {
        pending.append(event)
        drain(at: now)
    }

    /// Does what the machine asks for where a person has decided about the headset's address.
    func take(_ effects: [ConnectionEffect], at now: MonotonicTime) {
        guard !isHandling else { return perform(effects, at: now) }
        isHandling = true
        perform(effects, at: now)
        isHandling = false
        // It may be answered at once: the address may be one to which another headset connects just now.
        drain(at: now)
    }

    private func drain(at now: MonotonicTime) {
        guard !isHandling else { return }
        isHandling = true
        while !pending.isEmpty {
            let next = pending.removeFirst()
            if case .stop(.operatorStopped) = next { isFinishing = true }
            perform(machine.handle(next, at: now), at: now)
        }
        isHandling = false
        timers[.machine] = machine.deadline
        updatePhase(at: now)
    }

    private func perform(_ effects: [ConnectionEffect], at now: MonotonicTime) {
        peripheral = machine.peripheral
        claimIdentifiers()
        for effect in effects { perform(effect, at: now) }
        // A link that broke asks for nothing: what was under way on it ends here.
        if peripheral == nil { endSession(at: now) }
    }

    /// Samples flow: the most frequent event, which changes the machine's deadline and nothing else.
    func receivedSamples(from characteristic: BluetoothUUID, at now: MonotonicTime) {
        timers[.silence] = now + profile.timing.silenceNotice
        if session.streaming?.isSilent ?? false {
            session.streaming?.isSilent = false
            updatePhase(at: now)
        }
        let event = ConnectionEvent.samplesReceived(from: characteristic)
        guard !isHandling else { return pending.append(event) }
        _ = machine.handle(event, at: now)
        timers[.machine] = machine.deadline
    }

    /// Does what is due.
    func handleDeadlines(at now: MonotonicTime) {
        if let earliest = timers.earliest, earliest <= now {
            for timer in HeadsetTimer.allCases where timers.take(timer, at: now) { elapsed(timer, at: now) }
        }
        guard session.streaming != nil else { return }
        advanceImpedance(at: now)
        readMemory(at: now)
    }

    private func elapsed(_ timer: HeadsetTimer, at now: MonotonicTime) {
        switch timer {
        case .machine: handle(.deadlineReached, at: now)
        case .commands: advanceCommands(at: now)
        case .silence:
            session.streaming?.isSilent = true
            updatePhase(at: now)
        case .keepAlive:
            timers[.keepAlive] = session.profile.timing.keepAliveInterval.map { now + $0 }
            sendInBackground(.keepAlive)
        case .statusQuery:
            timers[.statusQuery] = now + statusInterval
            sendInBackground(.queryStatus)
        case .impedanceSettling: session.streaming?.impedance.isSettled = true
        case .linkQuality:
            timers[.linkQuality] = now + context.limits.linkQualityInterval
            qualityAsked = now
            if let link = session.streaming?.link { context.request(.readRSSI(of: link.identifier)) }
        case .history: history.takeDue(at: now).forEach { records.append($0) }
        case .messages: recordMessages(at: now)
        // Looked at in every iteration.
        case .impedanceEnd, .memory: break
        }
    }

    /// An event of the central that carries this headset's attempt or peripheral.
    func handle(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state):
            returnTiming.noteAdapter(isOn: state == .poweredOn, at: now)
            handle(.adapterChanged(state), at: now)
        case .willRestoreState(var peripherals, let attempt):
            peripherals.removeAll { !mayTake($0.identifier) }
            // What was discovered before must be seen here, too.
            for index in peripherals.indices where profile.isDiscriminatedByDatabase { peripherals[index].database = nil }
            handle(.restored(peripherals, attempt: attempt), at: now)
        case .didRetrieveConnected(var found, let attempt):
            found.removeAll { context.isTaken($0, by: recording) }
            for identifier in found { noteCandidate(identifier, at: now) }
            handle(.retrievedConnected(found, attempt: attempt), at: now)
        case .didDiscover(let identifier, let advertisement, let rssi):
            if machine.identifiers.contains(identifier) { returnTiming.noteSign(at: now) }
            guard !context.isTaken(identifier, by: recording) else { return }
            noteCandidate(identifier, name: advertisement.localName, rssi: rssi, at: now)
            handle(.discovered(identifier), at: now)
        case .didFailToScan(let error): handle(.scanFailed(error), at: now)
        case .didConnect(let identifier, let attempt):
            // A late answer to an earlier attempt must not make the decoder of the present link forget what it has learnt.
            if machine.awaits(attempt) { beginSession(profile, at: now) }
            handle(.connected(identifier, attempt: attempt), at: now)
        case .didFailToConnect(let identifier, let error, let attempt):
            if machine.awaits(attempt) { failedPeripheral = identifier }
            handle(.connectFailed(error, attempt: attempt), at: now)
        case .didDisconnect(_, let error, let attempt): handle(.disconnected(error, attempt: attempt), at: now)
        case .didDiscoverServices(_, let result, let attempt): discovered(result, attempt, at: now)
        case .didNoticeHungRadio, .didTransferPacket: break  // For people, and for captures.
        case .didUnblock: handle(.operatorActed, at: now)
        case .didBeginPairing: handle(.pairingBegan, at: now)
        case .didReadRSSI(let quality, _):
            records.append(.linkQuality(LinkQualityRecord(headset: headset, at: now, quality: quality)))
        case .didModifyServices: handle(.servicesModified, at: now)
        case .didUpdateNotificationState(let characteristic, _, let error, let attempt):
            subscribed(to: characteristic, error, attempt, at: now)
        case .didUpdateValue(let characteristic, _, let value, let arrival): take(value, from: characteristic, at: arrival)
        case .didReadValue(let characteristic, _, let result, let attempt): read(characteristic, result, attempt, at: now)
        case .didWriteValue(_, _, let error, let attempt): wrote(error, attempt, at: now)
        }
    }

    /// Records a change of phase, or of what it waits for, and of the preserved state.
    private func updatePhase(at now: MonotonicTime) {
        var phase = ConnectionPhase(machine.state)
        if phase == .streaming, session.streaming?.isSilent ?? false { phase = .silent }
        if phase == .stopped, quarantine != nil { phase = .quarantined }
        returnTiming.noteLink(
            isUp: phase == .establishing, isKnown: peripheral.map(machine.identifiers.contains) ?? false, at: now)
        let cause = phase == .quarantined ? quarantine.map { .quarantine($0) } : ConnectionCause(machine)
        if phase != self.phase || cause != phaseCause {
            let previous = self.phase
            if phase != previous { phaseSince = now }
            self.phase = phase
            phaseCause = cause
            record(phase, after: previous, cause, at: now)
            context.hasChangedPhase = true
            context.tap.say(.state(tapState), at: now)
        }
        let preserved = machine.preservedState
        if preservedChanges.take(preserved, in: phase, known: machine.identifiers) {
            records.append(.preservedState(PreservedStateRecord(headset: headset, json: preserved.json, at: now)))
        }
    }

    private func record(
        _ phase: ConnectionPhase, after previous: ConnectionPhase, _ cause: ConnectionCause?, at now: MonotonicTime
    ) {
        let event = ConnectionEventRecord(
            headset: headset, at: now, state: phase.rawValue, cause: cause?.code, detail: cause?.parameter,
            layer: machine.link?.layer.rawValue, attempt: machine.attempt.number)
        // A headset that is silent now and then has not returned.
        let isReturn = phase == .streaming && previous != .silent || phase == .stopped || phase == .quarantined
        history.entered(event, isReturn: isReturn).forEach { records.append($0) }
        timers[.history] = history.deadline
    }

    // MARK: Who is meant

    /// Whether the headset may have waited for a peripheral to be unblocked. The one at which it failed need not be among the
    /// addresses at which it is known; a needless attempt costs less than a wait without end. But what has refused is tried
    /// again by itself: before its time, an attempt would only make its next pause twice as long.
    func waits(forUnblockingOf peripheral: PeripheralIdentifier) -> Bool {
        if machine.identifiers.contains(peripheral) { return true }
        return switch machine.state {
        // The central says when the pause of each is over.
        case .waitingForOperator(.pairingRefused): peripheral == failedPeripheral
        // The machine has a deadline for it.
        case .waitingForOperator(.att): false
        case .waitingForOperator: true
        default: false
        }
    }

    /// False where the address, which was never proven to be this headset's, is another one's.
    func mayTake(_ identifier: PeripheralIdentifier) -> Bool {
        if machine.identifiers.contains(identifier) { return !context.isUsed(identifier, byAnotherThan: recording) }
        return !context.isTaken(identifier, by: recording)
    }

    private func claimIdentifiers() {
        context.claims[recording] = IdentifierClaim(
            inUse: machine.peripheral, known: machine.claimedIdentifiers, unproven: machine.unproven,
            provesIdentity: profile.provesIdentity)
    }

    // MARK: Out

    /// Takes the returns to streaming since the last time.
    func takeReturns() -> [StreamingReturn] {
        defer { returns.removeAll() }
        return returns
    }

    /// Moves everything that is to be written into a batch. Returns the n's that may be acknowledged after its commit.
    func move(into batch: inout WriteBatch) -> [(stream: StreamID, n: Int64)] {
        batch.changes += records.take()
        return recorded.move(into: &batch, headset: headset)
    }

    /// The operator's stop is complete.
    ///
    /// - Parameters:
    ///   - end: when the operator stopped it, on this boot's clock as far as that is known.
    ///   - wasAbsent: true where no process acquired at that time, so that nobody has opened a gap.
    func endRecording(at end: MonotonicTime, wasAbsent: Bool) {
        recorded.endRecording(at: end, wasAbsent: wasAbsent)
        hasEnded = true
        records.append(.recording(.stopped(recording, at: end)))
    }
}
