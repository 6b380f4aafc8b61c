package import Bluetooth
import Capture
import Headsets
import Reconnection
package import Storage
import Tap

/// The acquisition, without a task, a clock or I/O: what happens goes in as ``EngineEvent``s, what is to be done comes out as
/// ``EngineEffect``s. It decides everything: whom to record, what to ask the central, what is committed, flushed and tried
/// again, when the clock and the wishes are read, and when the process may end.
///
/// The daemon performs the effects on its poll thread and beside it, a virtual driver does in virtual time: what is rehearsed
/// is what runs.
package final class AcquisitionEngine {
    /// The bounds.
    package var limits: AcquisitionLimits { context.limits }
    /// What is due when, besides what the headsets wait for.
    enum Timer: Hashable { case clock, wishes, spool, commit, retry, shutdown, heartbeat, alive, trim, sums }

    var timers = EngineTimers()
    let context: EngineContext
    var lookUp: HeadsetLookup
    var captures = ActiveCaptures()
    var measurements = ImpedanceMeasurements()

    private(set) var acquisitions: [HeadsetAcquisition] = []
    private var headsetCount = 0
    private var seed: UInt64
    private var adapterState = AdapterState.unknown
    private var scanFilter: ScanFilter?

    var wishes = WishesReading()
    var timed = TimedWishes()
    /// Of time zones; without it nothing but UTC is known.
    package var utcOffset: UTCOffset = { zone, _ in zone == "UTC" ? 0 : nil }
    var commits = CommitPipeline()
    var reporting = ChangeReporting()
    var shutdown = Shutdown()
    var history: ProcessHistory
    private(set) var clock = WallClock()

    /// Creates an engine that records nothing yet.
    ///
    /// - Parameters:
    ///   - nextStreamID: the first key that no stream has, from the database.
    ///   - beginsAfterFailedWrites: true where an earlier process ended while the database could not be written: what its last
    ///     batch held is missing, and not because no process ran.
    ///   - seed: of everything random.
    ///   - process: as the history describes it; nil for not.
    ///   - hostFacts: what all links are made with.
    ///   - lookUp: finds the headset of a recording.
    package init(
        nextStreamID: Int64, beginsAfterFailedWrites: Bool = false, limits: AcquisitionLimits = AcquisitionLimits(),
        seed: UInt64, process: ProcessIdentity? = nil, hostFacts: LinkFacts = LinkFacts(), lookUp: @escaping HeadsetLookup
    ) {
        history = ProcessHistory(identity: process, limits: limits)
        context = EngineContext(limits: limits, nextStreamID: StreamID(rawValue: nextStreamID), hostFacts: hostFacts)
        self.seed = seed
        self.lookUp = lookUp
        commits.beginsAfterFailedWrites = beginsAfterFailedWrites
        (timers[.clock], timers[.wishes]) = (.boot, .boot)
        if process != nil { timers[.alive] = .boot }
        if limits.historyAge != nil { timers[.trim] = .boot }
        if limits.spoolInterval != nil { timers[.spool] = .boot }
        if limits.heartbeatInterval != nil { timers[.heartbeat] = .boot }
    }

    // MARK: In and out

    /// Takes what happened. Returns what is to be done, in this order.
    package func handle(_ event: EngineEvent, at now: MonotonicTime) -> [EngineEffect] {
        switch event {
        case .central(let events): iterate(events, at: now)
        case .clock(let reading):
            observe(reading)
            followTimes(at: now)
        case .wishes(let result): wishesRead(result, at: now)
        case .wishesChanged: wishes.areStale = true
        case .resumeState(let recording, let result): loaded(recording, result, at: now)
        case .spooled(_, let result): spooled(result, at: now)
        case .committed(let number, let result): committed(number, result, at: now)
        case .flushed(let result): flushed(result, at: now)
        case .checkpointed: shutdown.checkpoint = .done
        case .trimmed(let rows): history.trimmed(rows, &timers, at: now)
        case .decided(let decision, let result): decided(decision, result, at: now)
        case .marks(let result): marksRead(result, at: now)
        case .readerJoined(let reader, let dropped): greet(reader, droppedReaders: dropped, at: now)
        case .readersLeft: endTap()
        case .reloaded(let lookUp): reloaded(lookUp, at: now)
        case .shutDown: shutdown.isRequested = true
        }
        defer { context.effects.removeAll(keepingCapacity: true) }
        return context.effects
    }

    /// Something is to be done.
    func emit(_ effect: EngineEffect) { context.emit(effect) }

    /// When ``EngineEvent/central(_:)`` is due at the latest, even if nothing happens.
    package var deadline: MonotonicTime? {
        var earliest = timers.earliest
        for acquisition in acquisitions {
            if let deadline = acquisition.deadline, deadline < earliest ?? deadline + .nanoseconds(1) { earliest = deadline }
        }
        return earliest
    }

    /// One iteration: what the central reports, and what is due.
    private func iterate(_ events: [CentralEvent], at now: MonotonicTime) {
        guard !shutdown.isOver else { return }
        let bufferedRows = bufferedRows
        context.hasRoom = bufferedRows < limits.rowLimit
        if bufferedRows > limits.rowsPerCommit { commitSoon(at: now) }
        for event in events { context.packets.note(event, at: now) }
        context.packets.pass(to: now)
        for event in events { route(event, at: now) }
        for acquisition in acquisitions { acquisition.handleDeadlines(at: now) }
        settle(at: now)
        collectPackets(at: now)
        measurements.complete(acquisitions, at: now)
        sayAssembled(at: now)
        if timers.take(.clock, at: now) {
            timers[.clock] = now + limits.clockInterval
            emit(.readClock)
        }
        history.recordActivity(&timers, at: now)
        beginShutdown(at: now)
        readWishes(at: now)
        spool(at: now)
        commit(at: now)
        trimHistory(at: now)
        reportChanges(at: now)
        if let interval = limits.heartbeatInterval, timers.take(.heartbeat, at: now) {
            timers[.heartbeat] = now + interval
            emit(.beat)
        }
        finish(at: now)
        sayAssembled(at: now)
    }

    // MARK: Headsets

    /// What is being acquired.
    package var headsets: [AcquiredHeadset] { acquisitions.map { AcquiredHeadset($0) } }

    /// The recordings that are being acquired or ended.
    package var recordings: [RecordingID] { acquisitions.map(\.recording) }

    /// True when no link is open and nothing is outstanding at the central.
    package var isIdle: Bool { acquisitions.allSatisfy(\.isStopped) }

    /// Where a recording's connection stands, and since when; nil for a recording that is not acquired.
    package func phase(of recording: RecordingID) -> (phase: ConnectionPhase, since: MonotonicTime)? {
        acquisitions.first { $0.recording == recording }.map { ($0.phase, $0.phaseSince) }
    }

    /// Begins to acquire a recording, or ends it where the operator stopped it while no process acquired: nothing is connected
    /// for it then.
    func begin(_ wanted: WantedRecording, stop: StopRequest?, at now: MonotonicTime) {
        guard !recordings.contains(wanted.resume.recording), !shutdown.hasBegun else { return }
        if stop == nil { seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        let acquisition = HeadsetAcquisition(wanted, index: headsetCount, context: context, seed: seed, at: now)
        headsetCount += 1
        acquisitions.append(acquisition)
        describe(acquisition, at: now)
        if commits.beginsAfterFailedWrites { acquisition.recorded.openAbsence(cause: .storageUnavailable, at: now) }
        if let stop {
            acquisition.finish(stop, at: now)
        } else {
            acquisition.handle(CentralEvent.didUpdateState(adapterState), at: now)
            if acquisition.quarantine == nil {
                acquisition.handle(.start, at: now)
            } else {
                acquisition.beginQuarantined(at: now)
            }
        }
        settle(at: now)
    }

    /// The operator stopped a recording: nothing more is stored; the headset is commanded to stop and let go. A quarantined one
    /// is ended from what the database has.
    func endRecording(_ recording: RecordingID, at now: MonotonicTime) {
        for acquisition in acquisitions where acquisition.recording == recording && !acquisition.isFinishing {
            if acquisition.quarantine != nil {
                release(acquisition)
            } else {
                acquisition.handle(.stop(.operatorStopped), at: now)
            }
        }
        settle(at: now)
    }

    /// A headset that is quarantined begins anew from what the database has.
    func release(_ acquisition: HeadsetAcquisition) {
        acquisition.isReleased = true
        wishes.postponed.insert(acquisition.headset)
    }

    func remove(_ ended: [HeadsetAcquisition]) {
        acquisitions.removeAll { acquisition in ended.contains { $0 === acquisition } }
        for acquisition in ended { context.claims[acquisition.recording] = nil }
    }

    private func reloaded(_ lookUp: @escaping HeadsetLookup, at now: MonotonicTime) {
        self.lookUp = lookUp
        reporting.configurationChanged()
        wishes.areStale = true
        // A person who reloads has removed what was in the way.
        for acquisition in acquisitions {
            let known = lookUp(acquisition.open)
            if let known { acquisition.take(known) }
            if acquisition.quarantine != nil {
                release(acquisition)
            } else if let known, acquisition.follow(demanded: known.identityProof, at: now) {
                release(acquisition)
                if !acquisition.isStopped { acquisition.handle(.stop(.paused), at: now) }
            } else if acquisition.quarantine == nil {
                acquisition.handle(.operatorActed, at: now)
            }
        }
        settle(at: now)
    }

    // MARK: Events of the central

    private func route(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state):
            adapterState = state
            for acquisition in acquisitions { acquisition.handle(event, at: now) }
        case .didDiscover(let peripheral, let advertisement, _):
            // A MindWave Mobile has the same name in Bluetooth Classic and in Low Energy, and is another model in each.
            let isClassic = peripheral.addressType == .classic
            for acquisition in acquisitions
            where acquisition.wantsScan && acquisition.profile.usesSerialPort == isClassic
                && acquisition.scanFilter.matches(advertisement)
            {
                acquisition.handle(event, at: now)
                if !acquisition.wantsScan { break }  // One headset took it; another must not connect to it, too.
            }
        case .didNoticeHungRadio(let isRecovering): emit(.report(.radioHangs(isRecovering: isRecovering)))
        case .didTransferPacket: break
        case .didUnblock(let peripheral):
            for acquisition in acquisitions where acquisition.waits(forUnblockingOf: peripheral) {
                acquisition.handle(event, at: now)
            }
        case .didFailToScan:
            for acquisition in acquisitions where acquisition.wantsScan { acquisition.handle(event, at: now) }
            scanFilter = nil
        case .didUpdateValue(_, let peripheral, _, _), .didModifyServices(let peripheral), .didReadRSSI(_, let peripheral),
            .didBeginPairing(let peripheral):
            for acquisition in acquisitions where acquisition.peripheral == peripheral { acquisition.handle(event, at: now) }
        case .willRestoreState(_, let attempt), .didRetrieveConnected(_, let attempt), .didFailToConnect(_, _, let attempt),
            .didConnect(_, let attempt), .didDiscoverServices(_, _, let attempt),
            .didUpdateNotificationState(_, _, _, let attempt), .didReadValue(_, _, _, let attempt),
            .didWriteValue(_, _, _, let attempt):
            acquisition(of: attempt)?.handle(event, at: now)
        case .didDisconnect(let peripheral, _, let attempt):
            if attempt != .none {
                acquisition(of: attempt)?.handle(event, at: now)
            } else {
                for acquisition in acquisitions where acquisition.peripheral == peripheral {
                    acquisition.handle(event, at: now)
                }
            }
        }
    }

    private func acquisition(of attempt: Attempt) -> HeadsetAcquisition? {
        acquisitions.first { $0.owns(attempt) }
    }

    /// After every event: one scan for all who want one, and recordings that have ended.
    func settle(at now: MonotonicTime) {
        var wanted: ScanFilter?
        for acquisition in acquisitions where acquisition.wantsScan {
            wanted = wanted.map { $0.union(acquisition.scanFilter) } ?? acquisition.scanFilter
        }
        if wanted != scanFilter {
            scanFilter = wanted
            context.request(wanted.map { .scanForPeripherals(matching: $0) } ?? .stopScan)
        }
        for acquisition in acquisitions
        where acquisition.isFinishing && acquisition.isStopped && !acquisition.hasEnded && acquisition.quarantine == nil {
            acquisition.endRecording(at: now, wasAbsent: false)
        }
        if context.wantsCommit {
            context.wantsCommit = false
            commits.next = now
        }
        if context.hasChangedPhase {
            context.hasChangedPhase = false
            commitEarly(at: now)
        }
        scheduleCommit(at: now)
    }

    // MARK: What is due

    /// Takes a reading of the wall clock.
    private func observe(_ reading: ClockOffsetRecord) {
        history.observeSuspension(reading)
        guard let record = clock.observe(reading, stepThreshold: limits.clockStepThreshold) else { return }
        context.tap.say(.clock(record), at: reading.at)
        commits.clockOffsets.append(record)
    }

    /// Gives each capture the packets of its headset.
    func collectPackets(at now: MonotonicTime) {
        captures.collect(from: &context.packets, of: acquisitions, unixNanoseconds: clock.unixNanoseconds, at: now)
    }

    /// Has old rows of the history removed, a few at a time.
    private func trimHistory(at now: MonotonicTime) {
        let canWrite = commits.underWay == nil && commits.problem == nil
        if let before = history.beginTrim(&timers, canWrite: canWrite, clock: clock, at: now) {
            emit(.trimHistory(before: before))
        }
    }

    private func reportChanges(at now: MonotonicTime) {
        let haveChanged = reporting.reportHeadsets(acquisitions, context, &timers, at: now)
        reporting.reportBuffer(rows: bufferedRows, context)
        reporting.reportSummary(
            of: acquisitions, headsetsHaveChanged: haveChanged, isPaused: wishes.isPaused,
            problem: commits.problem?.error.cause, context)
    }
}
