public import Bluetooth
import CLinux
import Capture
public import Storage

/// The live acquisition: drives an ``Acquirer`` and its central on the poll thread, has batches written on another thread, and
/// follows the operator's wishes in the database.
///
/// Nothing awaits between an event and its effects: the poll thread takes one synchronous turn after each wake-up.
public actor AcquisitionService {
    /// What is acquired, and how.
    public struct Settings: Sendable {
        /// The headsets that may be recorded.
        public var headsets: [KnownHeadset]
        /// The bounds.
        public var limits = AcquisitionLimits()
        /// Of everything random.
        public var seed: UInt64
        /// Called on the poll thread at this interval, for a watchdog; nil for never.
        public var heartbeat: (interval: Duration, beat: @Sendable () -> Void)?
        /// Reads the wall clock.
        public var readClock: @Sendable () -> ClockOffsetRecord

        /// Creates settings with the default limits.
        public init(headsets: [KnownHeadset], seed: UInt64, readClock: @escaping @Sendable () -> ClockOffsetRecord) {
            self.headsets = headsets
            self.seed = seed
            self.readClock = readClock
        }
    }

    /// How often the operator's wishes are looked at: people wait for the effect of a command.
    private static let lookInterval = Duration.milliseconds(250)
    /// How often a batch that could not be written is tried again.
    private static let retryInterval = Duration.seconds(1)
    /// How often the wall clock is read: a step is dated to a second.
    private static let clockInterval = Duration.seconds(1)
    /// How long an orderly end may wait for links to close; well below the service manager's patience (TimeoutStopSec).
    private static let endLimit = Duration.seconds(4)
    /// The time between two turns where what is due cannot be done.
    private static let pause = Duration.milliseconds(20)
    /// Reports that may wait for whoever logs.
    private static let reportLimit = 1_024

    /// What happens, for the one place that logs. Ends with ``run()``.
    public nonisolated let reports: AsyncStream<AcquisitionReport>
    private let continuation: AsyncStream<AcquisitionReport>.Continuation
    private var droppedReports = 0

    private let thread = PollThread(name: "eegsync-poll")
    private let store: Store
    private let writer: BatchWriter
    private let makeCentral: @Sendable (DescriptorWatch) -> any Central
    private var settings: Settings
    private var acquirer: Acquirer?

    private var pending: PendingWrite?
    private var writeProblem: (error: StorageError, since: MonotonicTime)?
    private var readProblem: StorageError?
    private var isLooking = false
    private var dataVersion: Int64?
    private var mustReconcile = true
    private var nextLook: MonotonicTime = .boot
    private var nextClockReading: MonotonicTime = .boot
    private var nextHeartbeat: MonotonicTime = .boot

    /// What was told last of each headset.
    private var told: [RecordingID: AcquiredHeadset] = [:]
    private var unknownRecordings: [RecordingID] = []
    private var summary = ""
    private var isBufferFull = false

    private var endRequested = false
    private var endDeadline: MonotonicTime?
    private var failure: StorageError?
    private var finished: CheckedContinuation<Void, Never>?

    /// A batch that is not on disk yet.
    private struct PendingWrite {
        var batch: WriteBatch
        var began: MonotonicTime
        /// When it is tried again; nil while it is being written.
        var retry: MonotonicTime?
    }

    /// The poll thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a service that does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - store: opened for acquiring.
    ///   - makeCentral: creates the central; called on the poll thread, which alone uses it.
    ///   - commit: writes a batch; the store's own by default.
    ///   - synchronise: makes what was committed survive a power cut; the store's own by default.
    public init(
        store: Store, settings: Settings, makeCentral: @escaping @Sendable (DescriptorWatch) -> any Central,
        commit: (@Sendable (WriteBatch) throws(StorageError) -> Void)? = nil,
        synchronise: (@Sendable () throws(StorageError) -> Void)? = nil
    ) {
        self.store = store
        self.settings = settings
        self.makeCentral = makeCentral
        let storeCommit: @Sendable (WriteBatch) throws(StorageError) -> Void = { (batch) throws(StorageError) in
            try store.commit(batch)
        }
        let storeVersion: @Sendable () throws(StorageError) -> Int64 = { () throws(StorageError) in try store.dataVersion() }
        let storeSynchronise: @Sendable () throws(StorageError) -> Void = { () throws(StorageError) in
            try store.synchronise()
        }
        writer = BatchWriter(
            commit: commit ?? storeCommit,
            commitByHeadset: { (batch, now) throws(StorageError) in try store.commitByHeadset(batch, at: now) },
            dataVersion: storeVersion, synchronise: synchronise ?? storeSynchronise,
            noteUnstored: { store.noteUnstored($0) })
        (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.reportLimit))
    }

    /// Acquires until ``shutDown()``, or until the database fails in a way that only a person can mend.
    ///
    /// - Throws: the error that ended it. Recordings stay open in every case.
    public func run() async throws(StorageError) {
        defer { continuation.finish() }
        let next = try store.nextStreamID()
        let central = CapturingCentral(makeCentral(thread.descriptorWatch))
        acquirer = Acquirer(central: central, nextStreamID: next, limits: settings.limits, seed: settings.seed)
        acquirer?.beginsAfterFailedWrites = store.hasUnstored
        thread.setTurn { [weak self] now in self?.assumeIsolated { $0.turn(at: now) } ?? nil }
        await withCheckedContinuation { finished = $0 }
        thread.setTurn(nil)
        acquirer = nil
        if let failure { throw failure }
    }

    /// Ends in order: links are closed, what is buffered is written, recordings stay open.
    public func shutDown() {
        endRequested = true
    }

    /// Replaces the headsets that may be recorded. One that is being recorded goes on until it is stopped.
    public func setHeadsets(_ headsets: [KnownHeadset]) {
        settings.headsets = headsets
        unknownRecordings.removeAll()
        mustReconcile = true
        // A person who reloads has removed what was in the way.
        acquirer?.operatorActed(at: MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()))
    }

    // MARK: The turn

    private func turn(at now: MonotonicTime) -> MonotonicTime? {
        guard let acquirer, finished != nil else { return nil }
        acquirer.process(at: now)
        if nextClockReading <= now { readClock(acquirer, at: now) }
        if endRequested, endDeadline == nil {
            endDeadline = now + Self.endLimit
            acquirer.shutDown(at: now)
        }
        if endDeadline == nil { followOperator(acquirer, at: now) }
        write(acquirer, at: now)
        tell(acquirer)
        if let heartbeat = settings.heartbeat, nextHeartbeat <= now {
            nextHeartbeat = now + heartbeat.interval
            heartbeat.beat()
        }
        if let endDeadline, acquirer.isIdle || endDeadline <= now { end(acquirer, at: now) }
        return deadline(acquirer, after: now)
    }

    private func deadline(_ acquirer: Acquirer, after now: MonotonicTime) -> MonotonicTime? {
        var deadlines = [nextClockReading, pending?.retry]
        if let due = acquirer.deadline {
            // After a failure no batch is taken any more, however long one has been due.
            deadlines.append(failure == nil ? due : max(due, now + Self.pause))
        }
        if let endDeadline {
            // Once it has passed, only the end of a commit is waited for, and that wakes the thread.
            if endDeadline > now { deadlines.append(endDeadline) }
        } else if !isLooking {
            deadlines.append(nextLook)
        }
        if settings.heartbeat != nil { deadlines.append(nextHeartbeat) }
        return deadlines.compactMap { $0 }.min()
    }

    private func readClock(_ acquirer: Acquirer, at now: MonotonicTime) {
        nextClockReading = now + Self.clockInterval
        let reading = settings.readClock()
        acquirer.observeClock(
            unixNanoseconds: reading.offsetNanoseconds + reading.at.nanoseconds, isSynchronised: reading.isSynchronised,
            at: reading.at)
    }

    // MARK: The operator

    private func followOperator(_ acquirer: Acquirer, at now: MonotonicTime) {
        if mustReconcile || acquirer.mustReconcile { reconcile(acquirer, at: now) }
        guard !isLooking, nextLook <= now else { return }
        isLooking = true
        nextLook = now + Self.lookInterval
        Task { looked(await writer.readDataVersion()) }
    }

    private func looked(_ result: Result<Int64, StorageError>) {
        isLooking = false
        switch result {
        case .success(let version):
            if version != dataVersion { mustReconcile = true }
            dataVersion = version
        case .failure(let error): noteReadFailure(error)
        }
    }

    private func reconcile(_ acquirer: Acquirer, at now: MonotonicTime) {
        mustReconcile = false
        do {
            try acquirer.reconcile(
                with: store, headset: { open in knownHeadset(of: open) }, at: now)
            readProblem = nil
        } catch {
            noteReadFailure(error)
            // Looks again with the next data version, which is forgotten so that it counts as new.
            dataVersion = nil
        }
    }

    private func knownHeadset(of open: OpenRecording) -> KnownHeadset? {
        if let known = settings.headsets.first(where: { $0.matches(open) }) { return known }
        if !unknownRecordings.contains(open.recording) {
            unknownRecordings.append(open.recording)
            report(.unknownHeadset(name: open.headsetName, model: open.model))
        }
        return nil
    }

    private func noteReadFailure(_ error: StorageError) {
        if readProblem?.cause != error.cause { report(.readFailed(error)) }
        readProblem = error
    }

    // MARK: Writing

    private func write(_ acquirer: Acquirer, at now: MonotonicTime) {
        if let retry = pending?.retry {
            if retry <= now { beginWrite(at: now) }
        } else if pending == nil, failure == nil, let batch = acquirer.takeBatch(at: now) {
            pending = PendingWrite(batch: batch, began: now)
            beginWrite(at: now)
        }
    }

    private func beginWrite(at now: MonotonicTime) {
        guard let batch = pending?.batch else { return }
        pending?.retry = nil
        Task { wrote(batch.number, rows: batch.rowCount, await writer.write(batch)) }
    }

    private func wrote(_ number: UInt64, rows: Int, _ result: Result<BatchWriter.Written, StorageError>) {
        guard let acquirer, let current = pending, current.batch.number == number else { return }
        let now = MonotonicTime(nanoseconds: clinux_boottime_nanoseconds())
        let written: BatchWriter.Written
        switch result {
        case .failure(let error): return writeFailed(error, acquirer, at: now)
        case .success(let value): written = value
        }
        pending = nil
        acquirer.committed(number, isDurable: written.isDurable, refused: written.refused, at: now)
        report(.committed(number: number, rows: rows, duration: now - current.began))
        if let problem = writeProblem {
            writeProblem = nil
            report(.writeRecovered(after: now - problem.since, rows: rows))
        }
    }

    private func writeFailed(_ error: StorageError, _ acquirer: Acquirer, at now: MonotonicTime) {
        acquirer.writeFailed()
        if error.disposition != .retry || endDeadline != nil {
            // The batch is lost to this process. A headset with a memory was told nothing, so it still has the samples.
            failure = error
            pending = nil
            endRequested = true
            return
        }
        if writeProblem?.error.cause != error.cause { report(.writeFailed(error, bufferedRows: acquirer.bufferedRows)) }
        writeProblem = (error, writeProblem?.since ?? now)
        pending?.retry = now + Self.retryInterval
    }

    // MARK: Reports

    private func tell(_ acquirer: Acquirer) {
        var hasChanged = false
        for headset in acquirer.headsets {
            let last = told[headset.recording]
            guard headset.phase != last?.phase || headset.detail != last?.detail else { continue }
            told[headset.recording] = headset
            hasChanged = true
            report(.phaseChanged(headset))
        }
        if let isRecovering = acquirer.takeHungRadio() { report(.radioHangs(isRecovering: isRecovering)) }
        for back in acquirer.takeReturns() {
            let name = acquirer.headsets.first { $0.recording == back.recording }?.name ?? ""
            report(.returned(headset: name, layer: back.layer, at: back.firstSample))
        }
        if isBufferFull == acquirer.hasRoom {
            isBufferFull.toggle()
            if isBufferFull { report(.bufferFull(rows: acquirer.bufferedRows)) }
        }
        let isIdle = acquirer.recordings.isEmpty
        guard hasChanged || summary.isEmpty || isIdle || writeProblem != nil || isProblemTold else { return }
        isProblemTold = writeProblem != nil
        var text = acquirer.summary
        if let problem = writeProblem { text = "cannot write (\(problem.error.cause)), buffering; " + text }
        if text != summary { report(.summary(text)) }
        summary = text
    }

    /// True while the summary speaks of a problem.
    private var isProblemTold = false

    private func report(_ report: AcquisitionReport) {
        if droppedReports > 0, case .enqueued = continuation.yield(.reportsDropped(droppedReports)) { droppedReports = 0 }
        if case .dropped = continuation.yield(report) { droppedReports += 1 }
    }

    // MARK: The end

    private func end(_ acquirer: Acquirer, at now: MonotonicTime) {
        if failure == nil {
            guard pending == nil else {
                if pending?.retry != nil { beginWrite(at: now) }
                return
            }
            if let batch = acquirer.takeBatch(at: now, force: true) {
                pending = PendingWrite(batch: batch, began: now)
                return beginWrite(at: now)
            }
        }
        finished?.resume()
        finished = nil
    }
}

extension StorageError {
    /// The kind of the error, without the words that differ from time to time: one kind is told once.
    var cause: String {
        switch self {
        case .cannotOpen, .needsWriter: "the file cannot be opened"
        case .directoryMissing: "the directory is missing"
        case .newerSchema: "the database is newer"
        case .corrupt: "the database is damaged"
        case .diskFull: "the disk is full"
        case .readOnly: "the database is read-only"
        case .busy: "another program holds the database"
        case .inUse: "another process acquires"
        case .constraint: "a row was refused"
        case .sqlite(let code, _): "SQLite error \(code)"
        case .notFound: "something is missing"
        case .refused: "a wish was refused"
        }
    }
}
