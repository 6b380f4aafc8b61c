public import Bluetooth
import Capture
import Headsets
import Reconnection
public import Storage

/// Acquires from several headsets through one central: events and time in, calls of the central and batches for the database
/// out. No task, no clock and no I/O in it: the daemon drives it from its poll thread, a rehearsal in virtual time.
public final class Acquirer {
    /// Attempts of different headsets differ above this many bits.
    static let attemptBits: UInt64 = 40

    /// Which of an acquirer's machines an attempt belongs to: a number from 1, in the order of their beginning.
    public static func machine(of attempt: Attempt) -> UInt64 { attempt.number >> attemptBits }

    /// The bounds.
    public let limits: AcquisitionLimits
    let central: any Central
    /// The same, where it captures.
    let capturing: CapturingCentral?
    /// Captures that are under way, what the ended ones have left to write, and which have ended.
    var captures: [ActiveCapture] = []
    var lastChunks: [CaptureChunk] = []
    var completedCaptures: [CaptureID] = []
    /// Measurements of impedances that are wanted or being ended, and which have ended.
    var measurements: [ImpedanceRequest] = []
    var completedMeasurements: [ImpedanceMeasurementID] = []

    private(set) var acquisitions: [HeadsetAcquisition] = []
    private var headsetCount = 0
    private var seed: UInt64
    private var scanFilter: ScanFilter?
    private var isShuttingDown = false
    private var hungRadio: Bool?

    private(set) var nextStreamID: StreamID
    private var batchNumber: UInt64 = 0
    private var inFlight: InFlight?
    private var nextCommit: MonotonicTime?
    private var clockOffsets: [ClockOffsetRecord] = []
    private var clockOffset: ClockOffsetRecord?
    /// Headsets whose next recording waits until the present one has ended.
    var postponed: Set<HeadsetID> = []

    /// A batch that was handed to the database, and what may be acknowledged once it is committed.
    private struct InFlight {
        var number: UInt64
        var rowCount: Int
        var settled: [(acquisition: HeadsetAcquisition, committed: [(stream: StreamID, n: Int64)])]
        var ended: [HeadsetAcquisition]
    }

    /// Creates an acquirer without headsets.
    ///
    /// - Parameters:
    ///   - nextStreamID: the first key that no stream has, from the database.
    ///   - seed: of everything random.
    public init(
        central: any Central, nextStreamID: Int64, limits: AcquisitionLimits = AcquisitionLimits(), seed: UInt64
    ) {
        self.central = central
        capturing = central as? CapturingCentral
        self.nextStreamID = StreamID(rawValue: nextStreamID)
        self.limits = limits
        self.seed = seed
    }

    // MARK: What is wanted

    /// The recordings that are being acquired or ended.
    public var recordings: [RecordingID] { acquisitions.map(\.recording) }

    /// Begins to acquire a recording.
    public func begin(_ wanted: WantedRecording, at now: MonotonicTime) {
        guard !recordings.contains(wanted.resume.recording), !isShuttingDown else { return }
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let acquisition = HeadsetAcquisition(wanted, index: headsetCount, acquirer: self, seed: seed)
        headsetCount += 1
        acquisitions.append(acquisition)
        if beginsAfterFailedWrites { acquisition.openAbsence(cause: .storageUnavailable, at: now) }
        acquisition.handle(.adapterChanged(central.state), at: now)
        if acquisition.quarantine == nil {
            acquisition.handle(.start, at: now)
        } else {
            acquisition.beginQuarantined(at: now)
        }
        settle(at: now)
    }

    /// Ends a recording that the operator stopped while no process acquired: nothing is connected for it.
    func finish(_ wanted: WantedRecording, stop: StopRequest, at now: MonotonicTime) {
        guard !recordings.contains(wanted.resume.recording), !isShuttingDown else { return }
        let acquisition = HeadsetAcquisition(wanted, index: headsetCount, acquirer: self, seed: seed)
        headsetCount += 1
        acquisitions.append(acquisition)
        if beginsAfterFailedWrites { acquisition.openAbsence(cause: .storageUnavailable, at: now) }
        acquisition.finish(stop, at: now)
        settle(at: now)
    }

    /// The operator stopped a recording: nothing more is stored; the headset is told to stop and let go. A quarantined one is
    /// ended from what the database has.
    public func end(_ recording: RecordingID, at now: MonotonicTime) {
        for acquisition in acquisitions where acquisition.recording == recording && !acquisition.isFinishing {
            if acquisition.quarantine != nil {
                release(acquisition)
            } else {
                acquisition.handle(.stop(.operatorStopped), at: now)
            }
        }
        settle(at: now)
    }

    /// A person removed what a headset waited for. One that is quarantined begins anew from what the database has, with the
    /// next reconciliation after ``mustReconcile``.
    public func operatorActed(at now: MonotonicTime) {
        for acquisition in acquisitions {
            if acquisition.quarantine != nil { release(acquisition) } else { acquisition.handle(.operatorActed, at: now) }
        }
        settle(at: now)
    }

    private func release(_ acquisition: HeadsetAcquisition) {
        acquisition.isReleased = true
        postponed.insert(acquisition.headset)
    }

    /// The process ends: links are closed, recordings stay open. Done when ``isIdle``.
    public func shutDown(at now: MonotonicTime) {
        isShuttingDown = true
        for acquisition in acquisitions where !acquisition.isStopped { acquisition.handle(.stop(.shutdown), at: now) }
        settle(at: now)
    }

    /// True where a recording was left out of ``reconcile(with:headset:at:)`` that can begin now.
    public var mustReconcile: Bool {
        postponed.contains { headset in !acquisitions.contains { $0.headset == headset } }
    }

    /// True when no link is open and nothing is outstanding at the central.
    public var isIdle: Bool { acquisitions.allSatisfy(\.isStopped) }

    // MARK: Events and time

    /// When ``process(at:)`` is due.
    public var deadline: MonotonicTime? {
        var earliest = central.deadline
        for acquisition in acquisitions {
            if let deadline = acquisition.deadline, deadline < earliest ?? deadline + .nanoseconds(1) { earliest = deadline }
        }
        if let nextCommit, inFlight == nil, nextCommit < earliest ?? nextCommit + .nanoseconds(1) { earliest = nextCommit }
        return earliest
    }

    /// Takes what the central has to tell, and does what is due.
    public func process(at now: MonotonicTime) {
        hasRoom = bufferedRows < limits.rowLimit
        for event in central.process(at: now) { route(event, at: now) }
        for acquisition in acquisitions { acquisition.handleDeadlines(at: now) }
        settle(at: now)
        collectPackets(at: now)
        completeMeasurements(at: now)
    }

    private func route(_ event: CentralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState:
            for acquisition in acquisitions { acquisition.handle(event, at: now) }
        case .didDiscover(let peripheral, let advertisement, _):
            // A MindWave Mobile has the same name in Bluetooth Classic and in Low Energy, and is another model in each.
            let isClassic = peripheral.addressType == .classic
            for acquisition in acquisitions
            where acquisition.wantsScan && acquisition.profile.usesSerialPort == isClassic
                && acquisition.profile.recognition.scanFilter.matches(advertisement)
            {
                acquisition.handle(event, at: now)
                if !acquisition.wantsScan { break }  // One headset took it; another must not connect to it, too.
            }
        case .didNoticeHungRadio(let isRecovering): hungRadio = isRecovering
        case .didUnblock(let peripheral):
            for acquisition in acquisitions where acquisition.waits(forUnblockingOf: peripheral) {
                acquisition.handle(event, at: now)
            }
        case .didFailToScan:
            for acquisition in acquisitions where acquisition.wantsScan { acquisition.handle(event, at: now) }
            scanFilter = nil
        case .didUpdateValue(_, let peripheral, _, _), .didModifyServices(let peripheral):
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
    private func settle(at now: MonotonicTime) {
        var wanted: ScanFilter?
        for acquisition in acquisitions where acquisition.wantsScan {
            let filter = acquisition.profile.recognition.scanFilter
            wanted = wanted.map { $0.union(filter) } ?? filter
        }
        if wanted != scanFilter {
            scanFilter = wanted
            if let wanted { central.scanForPeripherals(matching: wanted) } else { central.stopScan() }
        }
        for acquisition in acquisitions
        where acquisition.isFinishing && acquisition.isStopped && !acquisition.hasEnded && acquisition.quarantine == nil {
            acquisition.endRecording(at: now, wasAbsent: false)
        }
        if nextCommit == nil { nextCommit = now + limits.commitInterval }
    }

    /// True where another headset uses or tries the identifier.
    func isUsed(_ identifier: PeripheralIdentifier, byAnotherThan acquisition: HeadsetAcquisition) -> Bool {
        acquisitions.contains { $0 !== acquisition && $0.peripheral == identifier }
    }

    /// True where another headset uses, tries or owns the identifier. What one that was never reached had tried when an earlier
    /// process died is left to it, where no proof can tell the two apart.
    func isTaken(_ identifier: PeripheralIdentifier, by acquisition: HeadsetAcquisition) -> Bool {
        let isOwn = acquisition.machine.identifiers.contains(identifier) || acquisition.machine.unproven == identifier
        return acquisitions.contains { other in
            guard other !== acquisition else { return false }
            if other.peripheral == identifier || other.machine.identifiers.contains(identifier) { return true }
            return !isOwn && other.machine.unproven == identifier && other.machine.identifiers.isEmpty
                && !other.profile.provesIdentity
        }
    }

    /// What is to be written is written at the next opportunity.
    func commitSoon(at now: MonotonicTime) {
        nextCommit = now
    }

    // MARK: Wall clock

    /// Takes a reading of the wall clock. The first one, a step and the first synchronised one are recorded.
    ///
    /// - Parameter unixNanoseconds: UTC at `now`.
    public func observeClock(unixNanoseconds: Int64, isSynchronised: Bool, at now: MonotonicTime) {
        let offset = unixNanoseconds - now.nanoseconds
        let step = clockOffset.map { offset - $0.offsetNanoseconds } ?? 0
        let isStep = abs(step) >= limits.clockStepThreshold.nanoseconds
        guard clockOffset == nil || isStep || (isSynchronised && clockOffset?.isSynchronised == false) else { return }
        let record = ClockOffsetRecord(
            at: now, offsetNanoseconds: offset, stepNanoseconds: step, isSynchronised: isSynchronised)
        clockOffset = record
        clockOffsets.append(record)
    }

    /// UTC at an instant of this boot; nil before the first reading.
    func unixNanoseconds(at time: MonotonicTime) -> Int64? {
        clockOffset.map { time.nanoseconds + $0.offsetNanoseconds }
    }

    // MARK: Batches

    /// True while samples may be buffered. Looked up once before each round of events, whose rows may exceed the bound.
    private(set) var hasRoom = true

    /// True from a batch that could not be written to the next one that is.
    private var isStorageFailing = false

    /// Why samples are missing that found no room.
    var overflowCause: GapCause { isStorageFailing ? .storageUnavailable : .queueOverflow }

    /// True where an earlier process ended while the database could not be written: what its last batch held is missing, and
    /// not because no process ran. Set before the first recording begins.
    public var beginsAfterFailedWrites = false

    /// The batch that was taken last could not be written; it is tried again, or the process ends.
    public func writeFailed() {
        isStorageFailing = true
    }

    /// Rows that are not committed yet.
    public var bufferedRows: Int {
        acquisitions.reduce(inFlight?.rowCount ?? 0) { $0 + $1.streams.reduce(0) { $0 + $1.draft.rowCount } }
    }

    /// Takes what is to be written, where a commit is due and none is under way. The caller commits it, and tells by
    /// ``committed(_:isDurable:at:)``; a batch that failed stays the caller's, who tries it again.
    ///
    /// - Parameter force: also where the interval has not passed (on shutdown).
    public func takeBatch(at now: MonotonicTime, force: Bool = false) -> WriteBatch? {
        guard inFlight == nil, force || now >= nextCommit ?? now else { return nil }
        nextCommit = now + limits.commitInterval
        var batch = WriteBatch(number: batchNumber + 1)
        batch.clockOffsets = clockOffsets
        clockOffsets.removeAll()
        var settled: [(acquisition: HeadsetAcquisition, committed: [(stream: StreamID, n: Int64)])] = []
        for acquisition in acquisitions { settled.append((acquisition, acquisition.move(into: &batch))) }
        moveCaptures(into: &batch)
        batch.completedMeasurements = completedMeasurements
        completedMeasurements.removeAll()
        // Everything that they have to write is in this batch.
        let ended = acquisitions.filter { $0.hasEnded || ($0.isReleased && $0.isStopped) }
        guard !batch.isEmpty else {
            remove(ended)
            return nil
        }
        batchNumber += 1
        inFlight = InFlight(number: batchNumber, rowCount: batch.rowCount, settled: settled, ended: ended)
        return batch
    }

    /// The batch is committed.
    ///
    /// - Parameter isDurable: true where it, and everything before it, survives a power cut: the headsets may then forget
    ///   what it holds.
    /// - Parameter refused: headsets whose parts of the batch break a rule of the database: they are quarantined.
    public func committed(_ number: UInt64, isDurable: Bool = true, refused: [RefusedPart] = [], at now: MonotonicTime) {
        guard let done = inFlight, done.number == number else { return }
        inFlight = nil
        isStorageFailing = false
        for (acquisition, committed) in done.settled {
            if let refusal = refused.first(where: { $0.part.recording == acquisition.recording }) {
                acquisition.refuse(refusal.error, at: now)
                if acquisition.isReleased { release(acquisition) }
            } else if isDurable {
                acquisition.acknowledge(upTo: committed)
            }
        }
        remove(done.ended.filter { $0.hasEnded || $0.isReleased })
        settle(at: now)
    }

    private func remove(_ ended: [HeadsetAcquisition]) {
        acquisitions.removeAll { acquisition in ended.contains { $0 === acquisition } }
    }

    func useStreamID() {
        nextStreamID = StreamID(rawValue: nextStreamID.rawValue + 1)
    }

    /// Where a recording's connection stands, and since when; nil for a recording that is not acquired.
    public func phase(of recording: RecordingID) -> (phase: ConnectionPhase, since: MonotonicTime)? {
        acquisitions.first { $0.recording == recording }.map { ($0.phase, $0.phaseSince) }
    }

    /// Whether the radio was found to hang since the last call: true where it is being recovered, nil where it was not.
    public func takeHungRadio() -> Bool? {
        defer { hungRadio = nil }
        return hungRadio
    }

    /// Returns to streaming since the last call: which recording, by which layer, and when the first live sample came.
    public func takeReturns() -> [StreamingReturn] {
        acquisitions.flatMap { acquisition in
            defer { acquisition.returns.removeAll() }
            return acquisition.returns
        }
    }

    /// What each headset does, for `sd_notify` and logs.
    public var summary: String {
        acquisitions.isEmpty
            ? "no recording is wanted"
            : acquisitions.map { "\($0.name): \($0.machine.state.name)" }.joined(separator: ", ")
    }
}

/// A headset whose samples flow again.
public struct StreamingReturn: Hashable, Sendable {
    /// The recording.
    public var recording: RecordingID
    /// The layer that found the headset: `restoration`, `cachedIdentifier`, `serviceRetrieval` or `scan`.
    public var layer: String
    /// When the last live sample of the link before arrived; nil for the first link of a process.
    public var lastSample: MonotonicTime?
    /// When the first live sample arrived.
    public var firstSample: MonotonicTime
}
