package import Acquisition
package import Bluetooth
import Simulation
package import Storage
package import Tap

/// Performs what an ``AcquisitionEngine`` wants in virtual time: one process, with a simulated world before it and a real
/// database behind it. Rehearsals, demo, replay and tests share it.
package final class VirtualDriver {
    /// What becomes of a task of the database.
    package struct TaskConduct: Sendable {
        /// How long it takes.
        package var duration: Duration
        /// Why it fails without having been done; nil where it is done.
        package var error: StorageError?

        /// Creates a conduct.
        package init(duration: Duration = .zero, error: StorageError? = nil) {
            self.duration = duration
            self.error = error
        }
    }

    /// The engine.
    package let engine: AcquisitionEngine
    /// What each task of the database takes, asked when its turn comes, and whether it fails, asked when it is done.
    package var conduct: (EngineEffect, MonotonicTime) -> TaskConduct
    /// Reads the wall clock; nil while it is not known. On the engine's time.
    package var readClock: (MonotonicTime) -> ClockOffsetRecord?
    /// May change a batch on its way to the database, as a planted defect does.
    package var willCommit: (inout WriteBatch) -> Void = { _ in }
    /// Sees every batch once it is committed; on the world's time.
    package var committed: (WriteBatch, MonotonicTime) -> Void = { _, _ in }
    /// Sees everything that was done because of the time; on the world's time.
    package var decided: (TimedDecision, MonotonicTime) -> Void = { _, _ in }
    /// Sees every batch that stands in the spool; on the world's time.
    package var spooled: (WriteBatch, MonotonicTime) -> Void = { _, _ in }
    /// Sees what the database refuses that was not wanted to fail.
    package var refused: (StorageError, MonotonicTime) -> Void = { _, _ in }
    /// Sees what is reported, on the world's time.
    package var reported: (AcquisitionReport, MonotonicTime) -> Void = { _, _ in }
    /// Sees what is said to the readers of the tap, on the world's time.
    package var tapped: ([TapMessage], MonotonicTime) -> Void = { _, _ in }
    /// Called after every step.
    package var stepped: () -> Void = {}
    /// Called when everything that is committed survives a power cut.
    package var flushed: (MonotonicTime) -> Void = { _ in }
    /// A planted defect between the engine and the database; nil for none, and for those that sit elsewhere.
    var defect: PlantedDefect?
    /// True once the engine has ended.
    package private(set) var isFinished = false

    private let central: any Central
    private let tasks: StorageTasks
    /// What the engine's time is behind the world's.
    private let offset: Duration
    private var queue: [EngineEffect] = []
    /// The latest batch, as it was handed to the database.
    private var handedOver: WriteBatch?
    /// When the first of the queue is done.
    private var due: MonotonicTime?
    /// When a checkpoint is done, which is beside the queue; nil while none is under way.
    private var checkpointDue: MonotonicTime?
    /// The error by which the engine ended; nil where it ended in order, or goes on.
    package private(set) var failure: StorageError?

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - bootBegan: when the host's boottime was 0, on the world's time.
    ///   - process: as the history describes it; nil for not.
    ///   - conduct: what each task of the database takes; no time by default.
    package init(
        central: any Central, store: AcquisitionStore, limits: AcquisitionLimits = AcquisitionLimits(), seed: UInt64,
        bootBegan: MonotonicTime = .boot, process: ProcessIdentity? = nil, lookUp: @escaping HeadsetLookup,
        conduct: @escaping (EngineEffect, MonotonicTime) -> TaskConduct = { _, _ in TaskConduct() },
        readClock: @escaping (MonotonicTime) -> ClockOffsetRecord?
    ) throws(StorageError) {
        self.central = bootBegan == .boot ? central : BootCentral(central, bootBegan: bootBegan)
        offset = bootBegan - .boot
        tasks = StorageTasks(store)
        self.conduct = conduct
        self.readClock = readClock
        engine = AcquisitionEngine(
            nextStreamID: try store.nextStreamID(), beginsAfterFailedWrites: store.hasUnstored, limits: limits, seed: seed,
            process: process, lookUp: lookUp)
    }

    /// Starts a process in a simulated world, one that was there ends as by `kill -9`. A commit takes what SQLite needs for a
    /// second of samples; the wall clock is right.
    convenience init(
        in world: SimulatedWorld, store: AcquisitionStore, seed: UInt64, unixNanosecondsAtBoot: Int64,
        lookUp: @escaping HeadsetLookup
    ) throws(StorageError) {
        try self.init(
            central: world.makeCentral(), store: store, seed: seed &+ UInt64(bitPattern: world.now.nanoseconds),
            process: ProcessIdentity(version: "virtual", pid: 1), lookUp: lookUp,
            conduct: { _, _ in TaskConduct(duration: .milliseconds(5)) },
            readClock: Self.rightClock(unixNanosecondsAtBoot: unixNanosecondsAtBoot))
    }

    /// A wall clock that is right and says so.
    package static func rightClock(unixNanosecondsAtBoot: Int64) -> (MonotonicTime) -> ClockOffsetRecord? {
        { now in
            ClockOffsetRecord(
                at: now, offsetNanoseconds: unixNanosecondsAtBoot, stepNanoseconds: 0, isSynchronised: true)
        }
    }

    /// When something is due, on the world's time; nil for never.
    package var deadline: MonotonicTime? {
        [engine.deadline.map { $0 + offset }, central.deadline.map { $0 + offset }, due, checkpointDue].compactMap { $0 }.min()
    }

    /// One iteration at an instant of the world.
    package func step(at now: MonotonicTime) {
        while let due, due <= now { complete(at: now) }
        if let checkpointDue, checkpointDue <= now { completeCheckpoint(at: now) }
        handle(.central(central.process(at: now - offset)), at: now)
        stepped()
    }

    /// Hands an event to the engine.
    package func handle(_ event: EngineEvent, at now: MonotonicTime) {
        if case .shutDown = event, defect == .endWithoutWriting { return isFinished = true }
        for effect in engine.handle(event, at: now - offset) { perform(effect, at: now) }
    }

    /// Everything that is to be written is committed at once, as at an orderly end.
    ///
    /// - Throws: the error by which the engine ended.
    package func end(at now: MonotonicTime) throws(StorageError) {
        var now = now
        handle(.shutDown, at: now)
        while !isFinished {
            while due != nil { complete(at: now) }
            if checkpointDue != nil { completeCheckpoint(at: now) }
            handle(.central([]), at: now)
            // What never closes is waited for until the engine's own limit.
            if due == nil, let next = engine.deadline { now = max(now, next + offset) }
        }
        if let failure { throw failure }
    }

    /// What `kill -9` does to tasks under way: each is done or not, and nobody learns which.
    ///
    /// - Parameter isDone: true where the first of them is done.
    package func kill(completing isDone: Bool, at now: MonotonicTime) {
        if isDone, let first = queue.first { _ = answer(to: first, at: now) }
        queue.removeAll()
        (due, checkpointDue) = (nil, nil)
    }

    // MARK: Effects

    private func perform(_ effect: EngineEffect, at now: MonotonicTime) {
        switch effect {
        case .request(let request): central.request(request)
        case .readClock: if let reading = readClock(now - offset) { handle(.clock(reading), at: now) }
        case .report(let report): reported(report, now)
        case .beat: break
        case .tap(let messages), .greetReader(_, let messages): tapped(messages, now)
        case .finished(let error): (isFinished, failure) = (true, error)
        case .readWishes, .readMarks, .loadResumeState, .spool, .commit, .commitByHeadset, .flush, .noteUnstored,
            .trimHistory, .decide:
            enqueue(effect, at: now)
        case .checkpoint: checkpointDue = now + conduct(effect, now).duration
        }
    }

    private func enqueue(_ effect: EngineEffect, at now: MonotonicTime) {
        queue.append(changed(effect))
        if due == nil { begin(at: now) }
        guard defect == .acknowledgeBeforeCommit else { return }
        switch effect {
        case .commit(let batch): handle(.committed(batch.number, .success([])), at: now)
        case .flush: handle(.flushed(.success(())), at: now)
        default: break
        }
    }

    /// A batch as it is handed to the database. It is changed once, and tried again as it was.
    private func changed(_ effect: EngineEffect) -> EngineEffect {
        switch effect {
        case .commit(var batch) where handedOver?.number != batch.number:
            willCommit(&batch)
            handedOver = batch
            return .commit(batch)
        case .commit(let batch): return .commit(handedOver ?? batch)
        case .commitByHeadset(let batch): return .commitByHeadset(handedOver ?? batch)
        default: return effect
        }
    }

    private func begin(at now: MonotonicTime) {
        due = queue.first.map { now + conduct($0, now).duration }
    }

    private func complete(at now: MonotonicTime) {
        guard !queue.isEmpty else { return due = nil }
        let effect = queue.removeFirst()
        let answer = answer(to: effect, at: now)
        begin(at: now)
        if let answer { handle(answer, at: now) }
    }

    private func completeCheckpoint(at now: MonotonicTime) {
        checkpointDue = nil
        if let answer = tasks.perform(.checkpoint, at: now - offset) { handle(answer, at: now) }
    }

    private func answer(to effect: EngineEffect, at now: MonotonicTime) -> EngineEvent? {
        if let error = conduct(effect, now).error { return failed(effect, error) }
        if case .decide = effect, defect == .ignoreTimes { return failed(effect, .busy(detail: "planted")) }
        if case .flush = effect { flushed(now) }
        let answer = tasks.perform(effect, at: now - offset)
        if case .spool(let batch) = effect, case .spooled(_, .success)? = answer { spooled(batch, now) }
        if case .decided(let decision, .success)? = answer { decided(decision, now) }
        guard case .committed(_, let result)? = answer else { return answer }
        switch (result, effect) {
        case (.failure(let error), _): refused(error, now)
        case (.success(let parts), .commit(let batch)), (.success(let parts), .commitByHeadset(let batch)):
            for part in parts { refused(part.error, now) }
            committed(batch, now)
        default: break
        }
        return answer
    }

    /// The answer to a task that was not done.
    private func failed(_ effect: EngineEffect, _ error: StorageError) -> EngineEvent? {
        switch effect {
        case .readWishes: .wishes(.failure(error))
        case .loadResumeState(let recording): .resumeState(recording, .failure(error))
        case .commit(let batch), .commitByHeadset(let batch):
            .committed(batch.number, defect == .dropRefusedBatches ? .success([]) : .failure(error))
        case .spool(let batch): .spooled(batch.number, .failure(error))
        case .flush: .flushed(defect == .acknowledgeBeforeFlush ? .success(()) : .failure(error))
        case .trimHistory: .trimmed(0)
        case .decide(let decision): .decided(decision, .failure(error))
        case .readMarks: .marks(.failure(error))
        case .request, .readClock, .noteUnstored, .report, .beat, .tap, .greetReader, .checkpoint, .finished: nil
        }
    }
}

extension VirtualDriver {
    /// Lets everything happen in a world until `end`, or until `isDone` says so after a step.
    func advance(_ world: any VirtualWorld, to end: MonotonicTime, until isDone: () -> Bool = { false }) {
        world.advance(
            to: end, next: { deadline },
            step: { now in
                step(at: now)
                return isDone()
            })
    }

    /// Lets everything happen until all recordings have ended, at most for `limit`. True if they have.
    func finish(_ world: any VirtualWorld, within limit: Duration) -> Bool {
        handle(.wishesChanged, at: world.now)
        advance(world, to: world.now + limit, until: { engine.recordings.isEmpty })
        return engine.recordings.isEmpty
    }
}
