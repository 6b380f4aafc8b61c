import Bluetooth
import Headsets
import Reconnection
import Storage

/// One headset's recording: its machine, its decoder and its streams, between the central's events and the database's batches.
final class HeadsetAcquisition {
    let name: String
    let profile: any HeadsetProfile
    /// The profile, as the present link's GATT database makes it.
    var linkProfile: any HeadsetProfile
    let montage: Montage?
    let headset: HeadsetID
    let recording: RecordingID

    var machine: ConnectionMachine
    /// What earlier recordings have taught of the headset's clocks.
    let learntRates: [ResumeState.LearntRate]
    var streams: [StreamAssembler]
    /// Streams of an earlier shape of the headset, until their last rows are written.
    var retiredStreams: [StreamAssembler] = []
    var records = HeadsetRecords()
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
    /// The streams of the recording that could not be gone on with.
    let quarantinedStreams: [StreamID]
    /// Streams beyond those that the recording began with.
    var furtherStreamCount: Int
    /// When the headset changed what it sends, lately.
    var changes: [MonotonicTime] = []

    unowned let acquirer: Acquirer
    var decoder: any HeadsetDecoder
    var decoded = Decoded()
    var link: Link?
    var memoryReaders: [MemoryReader] = []
    /// By stream: when its latest live sample of the link arrived.
    var latestArrivals: [MonotonicTime?] = []
    /// When streams are looked at that have fallen silent while others flow.
    var nextSilenceLook: MonotonicTime = .boot
    /// What the headset has said on this link that it sends, whatever the state was; nil where it said nothing.
    var toldStreams: [StreamDescription]?
    /// What the profile says that it sends, where the recording has other streams and the headset has not yet shown which.
    var expectedStreams: [StreamDescription]?
    /// Returns to streaming that nobody has taken yet.
    var returns: [StreamingReturn] = []
    /// True until the first live sample of the link.
    var awaitsFirstSample = false
    /// When the latest live sample arrived.
    var lastLiveSample: MonotonicTime?
    /// By stream: the n up to which the headset was told that it may forget.
    var acknowledgedN: [Int64] = []

    var runner: CommandRunner?
    var impedance = ImpedanceProgress()
    var subscription: Subscription?
    var wantsScan = false
    private(set) var phase = ConnectionPhase.stopped
    /// What exactly it waits for.
    private(set) var phaseDetail: String?
    private(set) var phaseSince: MonotonicTime = .boot
    private var preserved: PreservedState?
    var keepAliveDeadline: MonotonicTime?
    var statusDeadline: MonotonicTime?
    /// When the silence of a streaming headset is noticed; nil once it was, and while it does not stream.
    var silenceDeadline: MonotonicTime?
    var isSilent = false
    /// Why samples are missing that came while no process acquired.
    let absenceCause: GapCause
    var pending: [ConnectionEvent] = []
    private let attemptBase: UInt64

    /// Characteristics whose notifications were asked for under one attempt.
    struct Subscription {
        var attempt: Attempt
        var waiting: [BluetoothUUID]
        var isControl: Bool
    }

    init(_ wanted: WantedRecording, index: Int, acquirer: Acquirer, seed: UInt64) {
        name = wanted.name
        profile = wanted.profile
        linkProfile = wanted.profile
        montage = wanted.montage
        headset = wanted.resume.headset
        recording = wanted.resume.recording
        self.acquirer = acquirer
        decoder = wanted.profile.makeDecoder()
        // Of several streams at one position the latest is the headset's present shape.
        let latest = wanted.resume.streams.filter { stream in
            !wanted.resume.streams.contains { $0.position == stream.position && $0.id > stream.id }
        }
        learntRates = wanted.resume.learntRates
        furtherStreamCount = wanted.resume.streams.count - latest.count
        do throws(StreamDescriptionError) {
            try StreamDescription.check(latest.map(\.description))
            streams = latest.map { StreamAssembler(resuming: $0) }
            quarantinedStreams = []
        } catch {
            streams = []
            quarantinedStreams = latest.map(\.id)
            quarantine = .storedDescription(error)
        }
        for index in streams.indices { streams[index].learn(from: learntRates) }
        let isSameHostBoot = wanted.resume.streams.allSatisfy { $0.isSameHostBoot || !$0.hasSamples }
        absenceCause = isSameHostBoot ? .daemonDown : .hostRestarted
        memoryReaders = streams.map { _ in MemoryReader() }
        latestArrivals = streams.map { _ in nil }
        acknowledgedN = streams.map { _ in .min }
        var preserved = wanted.resume.preservedJSON.flatMap { PreservedState(json: $0) } ?? PreservedState(state: "stopped")
        preserved.bootIdentifier = streams.lazy.compactMap(\.epoch?.bootIdentifier).first
        attemptBase = UInt64(index + 1) << Acquirer.attemptBits
        machine = ConnectionMachine(
            profile: profile, identifiers: wanted.resume.identifiers, identityProof: wanted.resume.identityProof,
            preserved: preserved, firstAttempt: Attempt(number: attemptBase), seed: seed)
    }

    /// The number of background requests: their answers move nothing.
    var backgroundAttempt: Attempt { Attempt(number: attemptBase | 1 << (Acquirer.attemptBits - 1)) }

    /// The identifier that this headset uses or tries now. Kept, because every notification is looked up by it.
    private(set) var peripheral: PeripheralIdentifier?

    /// True where the attempt is one of this headset's.
    func owns(_ attempt: Attempt) -> Bool { attempt.number >> Acquirer.attemptBits == attemptBase >> Acquirer.attemptBits }

    /// True once nothing is outstanding any more.
    var isStopped: Bool { machine.state == .stopped }

    /// When something is due.
    var deadline: MonotonicTime? {
        var earliest = machine.deadline
        func consider(_ other: MonotonicTime?) {
            if let other, other < earliest ?? other + .nanoseconds(1) { earliest = other }
        }
        consider(runner?.deadline)
        if link != nil {
            consider(keepAliveDeadline)
            consider(statusDeadline)
            consider(silenceDeadline)
            consider(impedance.settling)
            if impedance.isOn { consider(impedance.wantedUntil) }
            for reader in memoryReaders { consider(reader.deadline) }
        }
        return earliest
    }

    // MARK: In

    /// The operator stopped the recording while no process acquired.
    func finish(_ stop: StopRequest, at now: MonotonicTime) {
        isFinishing = true
        isResumedToEnd = true
        endRecording(
            at: stop.isSameHostBoot ? stop.at : now, wasAbsent: true)
    }

    /// Tells the machine, and does what it asks for.
    func handle(_ event: ConnectionEvent, at now: MonotonicTime) {
        pending.append(event)
        guard pending.count == 1 else { return }
        while let next = pending.first {
            if case .samplesReceived = next {} else { noteOperator(next) }
            let effects = machine.handle(next, at: now)
            peripheral = machine.peripheral
            for effect in effects { perform(effect, at: now) }
            // A link that broke asks for nothing: what was under way on it ends here.
            if peripheral == nil { forgetLink(at: now) }
            records.bound()
            pending.removeFirst()
        }
        notePhase(at: now)
    }

    /// Tells the machine that samples flow: the most frequent event, which changes its deadline and nothing else.
    func noteSamples(from characteristic: BluetoothUUID, at now: MonotonicTime) {
        silenceDeadline = now + profile.timing.silenceNotice
        if isSilent {
            isSilent = false
            notePhase(at: now)
        }
        let event = ConnectionEvent.samplesReceived(from: characteristic)
        if pending.isEmpty { _ = machine.handle(event, at: now) } else { pending.append(event) }
    }

    /// Does what is due.
    func handleDeadlines(at now: MonotonicTime) {
        if let deadline = machine.deadline, deadline <= now { handle(.deadlineReached, at: now) }
        if let deadline = runner?.deadline, deadline <= now { advanceRunner(at: now) }
        guard let link else { return }
        if let due = silenceDeadline, due <= now {
            silenceDeadline = nil
            isSilent = true
            notePhase(at: now)
        }
        if let due = keepAliveDeadline, due <= now {
            keepAliveDeadline = linkProfile.timing.keepAliveInterval.map { now + $0 }
            sendInBackground(linkProfile.commands(for: .keepAlive, status: link.lastStatus))
        }
        if let due = statusDeadline, due <= now {
            statusDeadline = now + statusInterval
            sendInBackground(linkProfile.commands(for: .queryStatus, status: link.lastStatus))
        }
        advanceImpedance(at: now)
        readMemory(at: now)
    }

    /// An event of the central that carries this headset's attempt or peripheral.
    func handle(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state): handle(.adapterChanged(state), at: now)
        case .willRestoreState(var peripherals, let attempt):
            peripherals.removeAll { !mayTake($0.identifier) }
            // What was discovered before must be seen here, too.
            for place in peripherals.indices where profile.isDiscriminatedByDatabase { peripherals[place].database = nil }
            handle(.restored(peripherals, attempt: attempt), at: now)
        case .didRetrieveConnected(let found, let attempt):
            handle(.retrievedConnected(found.filter { !acquirer.isTaken($0, by: self) }, attempt: attempt), at: now)
        case .didDiscover(let identifier, _, _):
            if !acquirer.isTaken(identifier, by: self) { handle(.discovered(identifier), at: now) }
        case .didFailToScan(let error): handle(.scanFailed(error), at: now)
        case .didConnect(let identifier, let attempt):
            // A late answer to an earlier attempt must not make the decoder of the present link forget what it has learnt.
            if machine.awaits(attempt) { renewDecoder(profile) }
            handle(.connected(identifier, attempt: attempt), at: now)
        case .didFailToConnect(_, let error, let attempt): handle(.connectFailed(error, attempt: attempt), at: now)
        case .didDisconnect(_, let error, let attempt): handle(.disconnected(error, attempt: attempt), at: now)
        case .didDiscoverServices(_, let result, let attempt): servicesDiscovered(result, attempt, at: now)
        case .didNoticeHungRadio: break  // The machine has its own deadlines; this is for people.
        case .didUnblock: handle(.operatorActed, at: now)
        case .didModifyServices: handle(.servicesModified, at: now)
        case .didUpdateNotificationState(let characteristic, _, let error, let attempt):
            notificationStateUpdated(characteristic, error, attempt, at: now)
        case .didUpdateValue(let characteristic, _, let value, let arrival): take(value, from: characteristic, at: arrival)
        case .didReadValue(let characteristic, _, let result, let attempt):
            valueRead(characteristic, result, attempt, at: now)
        case .didWriteValue(_, _, let error, let attempt):
            guard let current = runner, current.attempt == attempt else { return }
            if let error { return failRunner(error, at: now) }
            runner?.answered()
            advanceRunner(at: now)
        }
    }

    private func notificationStateUpdated(
        _ characteristic: BluetoothUUID, _ error: CentralError?, _ attempt: Attempt, at now: MonotonicTime
    ) {
        guard var current = subscription, current.attempt == attempt else { return }
        if let error {
            subscription = nil
            return handle(.stepFailed(error, attempt: attempt), at: now)
        }
        current.waiting.removeAll { $0 == characteristic }
        subscription = current.waiting.isEmpty ? nil : current
        guard current.waiting.isEmpty else { return }
        handle(current.isControl ? .controlSubscribed(attempt: attempt) : .dataSubscribed(attempt: attempt), at: now)
    }

    private func valueRead(
        _ characteristic: BluetoothUUID, _ result: Result<[UInt8], CentralError>, _ attempt: Attempt, at now: MonotonicTime
    ) {
        if runner?.attempt == attempt {
            switch result {
            case .failure(let error): failRunner(error, at: now)
            case .success(let value):
                take(value, from: characteristic, at: now)
                runner?.answered()
                advanceRunner(at: now)
            }
            return
        }
        guard characteristic == profile.identityCharacteristic else { return }
        switch result {
        case .success(let value):
            let proof = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
            handle(.identityRead(proof.isEmpty ? nil : proof, attempt: attempt), at: now)
        case .failure(.noSuchCharacteristic): handle(.identityRead(nil, attempt: attempt), at: now)
        case .failure(let error): handle(.stepFailed(error, attempt: attempt), at: now)
        }
    }

    private func noteOperator(_ event: ConnectionEvent) {
        if case .stop(.operatorStopped) = event { isFinishing = true }
    }

    /// Records a change of phase, or of what it waits for, and of the preserved state.
    private func notePhase(at now: MonotonicTime) {
        var phase = ConnectionPhase(machine.state)
        if phase == .streaming, isSilent { phase = .silent }
        if phase == .stopped, quarantine != nil { phase = .quarantined }
        let detail = phase == .quarantined ? quarantine?.description : phase.detail(machine)
        if phase != self.phase || detail != phaseDetail {
            if phase != self.phase { phaseSince = now }
            self.phase = phase
            phaseDetail = detail
            records.connectionEvents.append(
                ConnectionEventRecord(headset: headset, at: now, state: phase.rawValue, detail: detail))
        }
        if case .streaming = machine.state, preserved?.state == "streaming" { return }
        let preserved = machine.preservedState
        if preserved != self.preserved {
            self.preserved = preserved
            records.preservedState = PreservedStateRecord(headset: headset, json: preserved.json, at: now)
        }
    }
}
