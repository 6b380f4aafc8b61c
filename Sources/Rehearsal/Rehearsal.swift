import Acquisition
public import Bluetooth
import Headsets
public import Simulation
public import Storage

/// Runs the whole acquisition in virtual time: the real engine and a real database against a simulated world, watched by
/// checkers. Faults of the daemon's machine (kills, slow commits, a full disk, a stepping clock) are carried out here.
public final class Rehearsal {
    /// What is rehearsed.
    public let plan: RehearsalPlan
    /// The world.
    public let world: SimulatedWorld
    /// The database, opened by the present boot of the host.
    public private(set) var store: Store
    /// What was found so far.
    public internal(set) var report: RehearsalReport

    var acquirer: Acquirer?
    var checker: RehearsalChecker
    private var commit: PendingCommit?
    /// When a killed daemon starts again.
    private var restart: MonotonicTime?
    private var commitDelayUntil: MonotonicTime = .boot
    private var diskFullUntil: MonotonicTime = .boot
    private var wallClockStep: Int64 = 0
    /// The present boot of the host: when its boottime was 0, on the world's time, and its wall clock.
    private var bootBegan: MonotonicTime = .boot
    private var bootCount = 1
    private var clock: HostClock
    private var reboots: ArraySlice<HostReboot>
    private var generator: SeededGenerator
    private var operatorActions: [OperatorAction] = []
    private var nextClockReading: MonotonicTime
    /// What another connection would see first: the operator's wishes changed.
    private var reconcileDue = true
    private let begin: MonotonicTime

    /// After what time the service manager starts a daemon again that has failed (RestartSec).
    private static let restartPause = Duration.milliseconds(100)

    private struct PendingCommit {
        var batch: WriteBatch
        var due: MonotonicTime
        /// Whether the wall clock was right when the batch was taken.
        var isClockRight: Bool
    }

    private struct OperatorAction {
        enum Kind {
            case start, stop
            case measureImpedance(Duration)
        }

        var at: MonotonicTime
        var headset: Int
        var kind: Kind
    }

    /// Prepares a run.
    ///
    /// - Parameter store: where to record; a fresh one in memory by default.
    public init(_ plan: RehearsalPlan, store: Store? = nil) throws(StorageError) {
        self.plan = plan
        begin = MonotonicTime(nanoseconds: 60_000_000_000)
        var options = SimulatedWorld.Options()
        options.lateness = plan.lateness
        world = SimulatedWorld(
            seed: plan.seed, headsets: plan.headsets.map(\.specification), faults: plan.faults, script: plan.script,
            options: options, start: begin)
        if let store {
            self.store = store
        } else {
            self.store = try Store.inMemory(hostBoot: HostBoot(uuid: "rehearsal-\(plan.seed)"))
        }
        clock = plan.clock
        reboots = plan.hostReboots[...]
        report = RehearsalReport(seed: plan.seed)
        checker = RehearsalChecker(plan: plan)
        generator = SeededGenerator(seed: plan.seed, purpose: 200)
        nextClockReading = begin
        for stop in plan.operatorStops {
            operatorActions.append(OperatorAction(at: begin + stop.at, headset: stop.headset, kind: .stop))
            operatorActions.append(OperatorAction(at: begin + stop.at + stop.pause, headset: stop.headset, kind: .start))
        }
        operatorActions += plan.impedanceMeasurements.map {
            OperatorAction(at: begin + $0.at, headset: $0.headset, kind: .measureImpedance($0.duration))
        }
        operatorActions.sort { $0.at < $1.at }
    }

    /// The whole plan: recordings begin, faults happen, faults end, everything is checked.
    public func run() throws(StorageError) -> RehearsalReport {
        for headset in plan.headsets { try start(headset) }
        startDaemon(at: world.now)
        let calm = begin + plan.faultyPeriod
        world.stopFaults(at: calm)
        try advance(to: calm)
        // A daemon that is down is started again: that is the last fault to end.
        if restart != nil { restart = calm }
        commitDelayUntil = min(commitDelayUntil, calm)
        diskFullUntil = min(diskFullUntil, calm)
        if let due = commit?.due { commit?.due = min(due, calm + plan.commitDuration) }
        try advance(to: calm + .seconds(10))
        for (index, headset) in plan.headsets.enumerated() {
            checker.checkIsBack(index, headset, world: world, since: calm, &report)
        }
        try advance(to: calm + plan.calmPeriod)
        try finish()
        return report
    }

    /// Lets everything happen until `end`.
    public func advance(to end: MonotonicTime) throws(StorageError) {
        try world.advance(
            to: end, next: { nextInstant() },
            step: { now throws(StorageError) in
                try step(at: now)
                return false
            })
    }

    private func nextInstant() -> MonotonicTime? {
        // A commit that the acquirer wants while one is under way has to wait for it.
        let wanted = acquirer?.deadline.map { $0 + (bootBegan - .boot) }
        let deadline = wanted.flatMap { commit != nil && $0 <= world.now ? nil : $0 }
        var instants = [deadline, commit?.due, restart, operatorActions.first?.at, reboots.first.map { begin + $0.at }]
        if acquirer != nil { instants.append(nextClockReading) }
        return instants.compactMap { $0 }.min()
    }

    private func step(at now: MonotonicTime) throws(StorageError) {
        takeHostFaults(at: now)
        try takeReboot(at: now)
        try takeOperatorActions(at: now)
        if let restart, restart <= now {
            self.restart = nil
            startDaemon(at: now)
        }
        guard let acquirer else { return checker.observe(world, at: now, isDaemonAlive: false) }
        if nextClockReading <= now {
            nextClockReading = now + .seconds(1)
            let reading = clock.reading(after: timeSinceBoot(now))
            acquirer.observeClock(
                unixNanoseconds: unixNanoseconds(at: now) + reading.error.nanoseconds, isSynchronised: reading.isSynchronised,
                at: boottime(now))
        }
        if reconcileDue || acquirer.mustReconcile { try reconcile(at: now) }
        acquirer.process(at: boottime(now))
        try completeCommit(at: now)
        beginCommit(at: now)
        checker.observe(world, at: now, isDaemonAlive: true)
        checker.checkAcknowledgements(world, store, &report)
        for back in acquirer.takeReturns() { checker.noteReturn(back, bootBegan, &report) }
    }

    // MARK: The daemon

    private func startDaemon(at now: MonotonicTime) {
        let central: any Central = world.makeCentral()
        let spoiled = plan.defect.flatMap { SpoiledCentral(central, defect: $0) } ?? central
        let next = (try? store.nextStreamID()) ?? 1
        let own: any Central = bootBegan == .boot ? spoiled : BootCentral(spoiled, bootBegan: bootBegan)
        acquirer = Acquirer(central: own, nextStreamID: next, seed: plan.seed &+ UInt64(now.nanoseconds))
        reconcileDue = true
        note("the daemon starts", at: now)
    }

    /// What `kill -9` does: everything in memory is gone; a commit under way is either done or not.
    private func kill(for duration: Duration, at now: MonotonicTime) {
        if let commit, generator.next() % 2 == 0 { try? write(commit, at: now) }
        commit = nil
        acquirer = nil
        checker.daemonEnded(at: now)
        world.kill()
        restart = now + duration
        note("the daemon is killed", at: now)
    }

    private func reconcile(at now: MonotonicTime) throws(StorageError) {
        reconcileDue = false
        try acquirer?.reconcile(
            with: store, profile: { [plan] open in plan.headsets.first { $0.name == open.headsetName }?.profile },
            at: boottime(now))
    }

    // MARK: The host

    /// An instant of the world on the boottime of the present boot.
    private func boottime(_ now: MonotonicTime) -> MonotonicTime { now - (bootBegan - .boot) }

    /// The world begins when the first boot is 20 s old.
    private func timeSinceBoot(_ now: MonotonicTime) -> Duration {
        now - (bootCount == 1 ? begin - .seconds(20) : bootBegan)
    }

    private func takeReboot(at now: MonotonicTime) throws(StorageError) {
        guard let reboot = reboots.first, begin + reboot.at <= now else { return }
        reboots.removeFirst()
        kill(for: reboot.downFor, at: now)
        world.losePower()
        // The daemon is started 20 s after the kernel.
        bootBegan = now + reboot.downFor - .seconds(20)
        bootCount += 1
        clock = reboot.clock
        store = try store.reopened(hostBoot: HostBoot(uuid: "rehearsal-\(plan.seed)-\(bootCount)"))
        note("the host loses its power", at: now)
    }

    // MARK: The operator

    private func start(_ headset: RehearsedHeadset) throws(StorageError) {
        let recording = try store.startRecording(
            headset: headset.name, model: headset.profile.model, label: "rehearsal", subject: "sim", task: "rest",
            at: boottime(world.now))
        // With several headsets of a model a person says which is which; a single one is found and kept to.
        if plan.headsets.count > 1, let serial = headset.specification.serialNumber,
            let id = try store.headset(named: headset.name)
        {
            try store.setIdentityProof(serial, of: id)
        }
        checker.began(recording, headset: plan.headsets.firstIndex { $0.name == headset.name } ?? 0, at: world.now)
        reconcileDue = true
    }

    private func takeOperatorActions(at now: MonotonicTime) throws(StorageError) {
        while let action = operatorActions.first, action.at <= now {
            operatorActions.removeFirst()
            let headset = plan.headsets[action.headset]
            switch action.kind {
            case .start:
                try start(headset)
                note("the operator starts a recording of \(headset.name)", at: now)
            case .stop:
                let recording = try store.stopRecording(headset: headset.name, at: boottime(now))
                checker.stopRequested(recording)
                reconcileDue = true
                note("the operator stops the recording of \(headset.name)", at: now)
            case .measureImpedance(let duration):
                _ = try store.startImpedanceMeasurement(
                    headset: headset.name, at: boottime(now), until: boottime(now) + duration)
                reconcileDue = true
                note("the operator measures impedances of \(headset.name) for \(duration)", at: now)
            }
        }
    }

    // MARK: The daemon's machine

    private func takeHostFaults(at now: MonotonicTime) {
        for fault in world.takeHostFaults() {
            switch fault.fault {
            case .daemonKilled:
                if acquirer != nil { kill(for: fault.duration, at: now) }
            case .wallClockStep:
                wallClockStep += (generator.next() % 2 == 0 ? 1 : -1) * fault.duration.nanoseconds
                note("the wall clock steps by \(fault.duration)", at: now)
            case .slowCommit: commitDelayUntil = max(commitDelayUntil, now + fault.duration)
            case .diskFull:
                diskFullUntil = max(diskFullUntil, now + fault.duration)
                note("the disk is full", at: now)
            default: break
            }
        }
    }

    private func unixNanoseconds(at now: MonotonicTime) -> Int64 {
        plan.unixNanosecondsAtBoot + now.nanoseconds + wallClockStep
    }

    private func beginCommit(at now: MonotonicTime) {
        guard commit == nil, var batch = acquirer?.takeBatch(at: boottime(now)) else { return }
        plan.defect?.spoil(&batch)
        let due = max(now + plan.commitDuration, min(commitDelayUntil, now + .seconds(10)))
        commit = PendingCommit(batch: batch, due: due, isClockRight: clock.isRight(after: timeSinceBoot(now)))
        if plan.defect == .acknowledgeBeforeCommit { acquirer?.committed(batch.number, at: boottime(now)) }
    }

    private func completeCommit(at now: MonotonicTime) throws(StorageError) {
        guard var current = commit, current.due <= now else { return }
        if diskFullUntil > now {
            acquirer?.writeFailed()
            current.due = now + .seconds(1)
            commit = current
            return
        }
        commit = nil
        do {
            try write(current, at: now)
        } catch {
            checker.add(.storage, "\(error)", at: now, &report)
            // As in life: what was refused is never acknowledged, and the next process begins with what is stored.
            return kill(for: Self.restartPause, at: now)
        }
        if plan.defect != .acknowledgeBeforeCommit {
            // As in life, not every commit is flushed to the disk at once.
            acquirer?.committed(current.batch.number, isDurable: current.batch.number % 3 == 0, at: boottime(now))
        }
    }

    private func write(_ pending: PendingCommit, at now: MonotonicTime) throws(StorageError) {
        try store.commit(pending.batch)
        checker.committed(pending.batch, boot: bootBegan, at: now, &report)
        checker.clockIsStored[bootCount] = checker.clockIsStored[bootCount] ?? false || pending.isClockRight
        if plan.defect == .writeAfterStop { try checker.storeAfterStop(store, &report, at: now) }
    }

    // MARK: The end

    /// Ends the daemon in order, and checks everything that is stored.
    private func finish() throws(StorageError) {
        let now = world.now
        checker.checkContract(world, &report)
        while commit != nil || acquirer?.bufferedRows ?? 0 > 0 {
            try advance(to: world.now + .seconds(1))
            guard world.now - now < .seconds(60) else { break }
        }
        report.injected = world.injected
        try checker.checkStored(store, world: world, &report)
        try checker.checkDrained(store, world: world, &report)
        report.simulated = world.now - begin
        report.timeline.sort { $0.time < $1.time }
    }

    func note(_ text: String, at now: MonotonicTime) {
        report.timeline.append(RehearsalReport.TimelineEntry(time: now, text: text))
    }
}
