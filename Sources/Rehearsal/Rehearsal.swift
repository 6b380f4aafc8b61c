import Acquisition
package import Bluetooth
import Headsets
import Reconnection
package import Simulation
package import Storage
package import Tap

/// Runs the whole acquisition in virtual time: the real engine and a real database against a simulated world, watched by
/// checkers. Faults of the daemon's machine (kills, slow commits, a full disk, a stepping clock) are carried out here.
package final class Rehearsal {
    /// What is rehearsed.
    package let plan: RehearsalPlan
    /// The world.
    package let world: SimulatedWorld
    /// The database, opened by the present boot of the host.
    package private(set) var store: AcquisitionStore
    /// What was found so far.
    package internal(set) var report: RehearsalReport

    /// Reads the tap of every daemon, as a program beside it would; nil for nobody.
    package var tapReader: (([TapMessage], MonotonicTime) -> Void)?

    private var driver: VirtualDriver?
    /// What outlives the daemon, and not the host; nil where every batch is committed at once.
    private var spool: RehearsedSpool?
    var checker: RehearsalChecker
    /// When a killed daemon starts again.
    private var restart: MonotonicTime?
    private(set) var disk: RehearsedDisk
    /// After what time a daemon that is ending in order starts again; nil while none ends.
    private var pauseAfterEnd: Duration?
    /// By number: whether the wall clock was right when the batch was taken.
    private var batchesOfRightClock: [UInt64: Bool] = [:]
    private var wallClockStep: Int64 = 0
    /// The present boot of the host: when its boottime was 0, on the world's time, and its wall clock.
    private(set) var bootBegan: MonotonicTime = .boot
    private var bootCount = 1
    private var clock: HostClock
    private var reboots: ArraySlice<HostReboot>
    private var generator: SeededGenerator
    var operatorActions: [OperatorAction] = []
    private let begin: MonotonicTime
    private var driverBegan = MonotonicTime.boot

    /// Prepares a run.
    ///
    /// - Parameter store: where to record; a fresh one in memory by default.
    package init(_ plan: RehearsalPlan, store: AcquisitionStore? = nil) throws(StorageError) {
        self.plan = plan
        begin = MonotonicTime(nanoseconds: 60_000_000_000)
        var options = SimulatedWorld.Options()
        options.lateness = plan.lateness
        world = SimulatedWorld(
            seed: plan.seed, headsets: plan.headsets.map(\.specification) + plan.neighbours, faults: plan.faults,
            script: plan.script, options: options, start: begin)
        disk = RehearsedDisk(commitDuration: plan.commitDuration)
        if let store {
            self.store = store
        } else {
            let spool = plan.usesSpool ? try BatchSpool.inMemory() : nil
            self.store = try AcquisitionStore.inMemory(
                hostBoot: HostBoot(uuid: "rehearsal-\(plan.seed)"), spool: spool, reserve: disk.room.reserve)
            self.spool = spool.map(RehearsedSpool.init)
        }
        clock = plan.clock
        reboots = plan.hostReboots[...]
        report = RehearsalReport(seed: plan.seed)
        checker = RehearsalChecker(plan: plan)
        generator = SeededGenerator(seed: plan.seed, purpose: 200)
        operatorActions = Self.actions(of: plan, from: begin)
    }

    /// The whole plan: recordings begin, faults happen, faults end, everything is checked.
    package func run() throws(StorageError) -> RehearsalReport {
        for headset in plan.headsets { try start(headset) }
        try startDaemon(at: world.now)
        let calm = begin + plan.faultyPeriod
        world.stopFaults(at: calm)
        try advance(to: calm)
        // A daemon that is down is started again, on a host that has booted in time: that is the last fault to end.
        if pauseAfterEnd != nil { kill(for: .zero, at: calm) }
        if restart != nil { (restart, bootBegan) = (calm, min(bootBegan, calm - Self.startAfterBoot)) }
        disk.endFaults(at: calm)
        let limits = try plan.headsets.indices.map(returnLimit)
        for limit in Set(limits).sorted() {
            try advance(to: calm + limit)
            for (index, headset) in plan.headsets.enumerated() where limits[index] == limit {
                checker.checkIsBack(index, headset, world: world, since: calm, within: limit, &report)
            }
        }
        try advance(to: calm + plan.calmPeriod)
        try finish()
        return report
    }

    /// Within which time a headset is to be back once all faults have ended. Whoever proves nothing, and is at an address that
    /// nobody knows, waits for the set time, and until the address before it is out of sight: one of Bluetooth Classic is
    /// paged there for up to ``ReconnectionLimits/classicConnectLimit`` before anything is scanned for.
    private func returnLimit(_ index: Int) throws(StorageError) -> Duration {
        let headset = plan.headsets[index]
        guard !headset.profile.provesIdentity, let id = try store.headset(named: headset.name) else { return .seconds(10) }
        var known = try store.identifiers(of: id)
        if headset.isNamedByAddress { known.append(headset.specification.identifier) }
        if known.isEmpty || known.contains(world.headsets[index].identifier) { return .seconds(10) }
        return headset.profile.usesSerialPort ? .seconds(30) : .seconds(25)
    }

    /// Lets everything happen until `end`.
    package func advance(to end: MonotonicTime) throws(StorageError) {
        try world.advance(
            to: end, next: { nextInstant() },
            step: { now throws(StorageError) in
                try step(at: now)
                return false
            })
    }

    private func nextInstant() -> MonotonicTime? {
        [driver?.deadline, restart, operatorActions.first?.at, reboots.first.map { begin + $0.at }].compactMap { $0 }.min()
    }

    private func step(at now: MonotonicTime) throws(StorageError) {
        takeHostFaults(at: now)
        try takeReboot(at: now)
        try takeOperatorActions(at: now)
        if let restart, restart <= now {
            self.restart = nil
            try startDaemon(at: now)
        }
        checkTimes(isAlive: driver != nil, at: now)
        guard let driver else { return checker.observe(world, at: now, isDaemonAlive: false) }
        driver.step(at: now)
        checker.observe(world, at: now, isDaemonAlive: true)
        checker.checkPause(world, daemonSince: driverBegan, at: now, &report)
        checker.checkAcknowledgements(world, store, &report)
        if driver.isFinished { ended(driver, at: now) }
    }

    // MARK: The daemon

    private func startDaemon(at now: MonotonicTime) throws(StorageError) {
        try takeSpool(at: now)
        let central: any Central = world.makeCentral()
        let headsets = plan.headsets.map(known)
        let started = try VirtualDriver(
            central: plan.defect.flatMap { SpoiledCentral(central, defect: $0) } ?? central, store: store,
            limits: plan.usesSpool ? RehearsedSpool.limits : AcquisitionLimits(), seed: plan.seed &+ UInt64(now.nanoseconds),
            bootBegan: bootBegan,
            lookUp: { open in headsets.first { $0.matches(open) } },
            conduct: { [unowned self] in disk.conduct($0, at: $1) }, readClock: { [unowned self] in readClock(at: $0) })
        started.willCommit = { [unowned self] batch in willCommit(&batch) }
        started.committed = { [unowned self] in committed($0, at: $1) }
        started.spooled = { [unowned self] batch, now in
            spool?.batches.append(batch)
            checker.spooled(batch, at: now)
        }
        started.decided = { [unowned self] in decided($0, at: $1) }
        started.flushed = { [unowned self] _ in checker.flushed() }
        started.refused = { [unowned self] in if !disk.spares($0) { checker.add(.storage, "\($0)", at: $1, &report) } }
        started.reported = { [unowned self] in reported($0, at: $1) }
        started.defect = plan.defect
        if let tapReader {
            started.tapped = tapReader
            started.handle(.readerJoined(TapQueue.ReaderID(rawValue: 1), droppedReaders: 0), at: now)
        }
        driver = started
        driverBegan = now
        note("the daemon starts", at: now)
    }

    /// What the configuration says of a headset; a planted defect takes it for something else.
    private func known(_ headset: RehearsedHeadset) -> KnownHeadset {
        var adoption = headset.adoption
        if plan.defect == .adoptAtOnce { adoption.delay = .zero }
        if plan.defect == .adoptUnasked { adoption.policy = .automatic }
        return KnownHeadset(
            name: headset.name, profile: headset.profile,
            identifiers: headset.isNamedByAddress ? [headset.specification.identifier] : [], adoption: adoption)
    }

    private func reported(_ news: AcquisitionReport, at now: MonotonicTime) {
        switch news {
        case .returned(let back):
            checker.checkBinding(
                back.recording, neighbours: world.headsets.dropFirst(plan.headsets.count), at: now, &report)
            checker.noteReturn(back, bootBegan, &report)
        case .unrecognisedCandidate(let name, let identifier):
            // The operator reads the address off the board, and needs a moment.
            guard let index = plan.headsets.firstIndex(where: { $0.name == name }),
                plan.headsets[index].adoption.policy == .ask, world.headsets[index].identifier == identifier
            else { return }
            operatorActions.append(
                OperatorAction(at: now + .seconds(2), headset: index, kind: .adopt(identifier)))
            operatorActions.sort { $0.at < $1.at }
        default: break
        }
    }

    /// What `kill -9` does: everything in memory is gone; a commit under way is either done or not.
    private func kill(for duration: Duration, at now: MonotonicTime) {
        driver?.kill(completing: generator.next() % 2 == 0, at: now)
        driver = nil
        pauseAfterEnd = nil
        checker.daemonEnded(at: now)
        world.kill()
        restart = now + duration
        note("the daemon is killed", at: now)
    }

    /// The daemon has ended in order: what it had is written, unless the disk took nothing.
    private func ended(_ finished: VirtualDriver, at now: MonotonicTime) {
        if finished.failure == nil, finished.engine.bufferedRows > 0 {
            checker.add(.endsInOrder, "\(finished.engine.bufferedRows) rows were not written at the end", at: now, &report)
        }
        driver = nil
        checker.daemonEnded(at: now)
        world.kill()
        restart = now + (pauseAfterEnd ?? .seconds(1))
        pauseAfterEnd = nil
        note("the daemon has ended", at: now)
    }

    // MARK: What is stored

    private func willCommit(_ batch: inout WriteBatch) {
        plan.defect?.spoil(&batch)
        batchesOfRightClock[batch.number] = clock.isRight(after: timeSinceBoot(world.now))
    }

    private func takeSpool(at now: MonotonicTime) throws(StorageError) {
        guard let batches = try spool?.restart(&store, isLost: plan.defect == .loseSpool) else { return }
        for batch in batches { checker.committed(batch, boot: bootBegan, at: now, &report) }
        let rows = batches.reduce(0) { $0 + $1.rowCount }
        checker.check(store.recoveredSpool, rowCount: rows, at: now, &report)
    }

    private func committed(_ batch: WriteBatch, at now: MonotonicTime) {
        spool?.batches.removeAll { $0.number <= batch.number }
        checker.committed(batch, boot: bootBegan, at: now, &report)
        let isRight = batchesOfRightClock.removeValue(forKey: batch.number) ?? false
        checker.clockIsStored[bootCount] = checker.clockIsStored[bootCount] ?? false || isRight
        guard plan.defect == .writeAfterStop else { return }
        do {
            try checker.storeAfterStop(store, &report, at: now)
        } catch {
            checker.add(.storage, "\(error)", at: now, &report)
        }
    }

    // MARK: The host

    /// An instant of the world on the boottime of the present boot.
    func boottime(_ now: MonotonicTime) -> MonotonicTime { now - (bootBegan - .boot) }

    /// The daemon is started so long after the kernel.
    private static let startAfterBoot = Duration.seconds(20)

    /// The world begins when the daemon is started for the first time.
    private func timeSinceBoot(_ now: MonotonicTime) -> Duration {
        now - (bootCount == 1 ? begin - Self.startAfterBoot : bootBegan)
    }

    private func takeReboot(at now: MonotonicTime) throws(StorageError) {
        guard let reboot = reboots.first, begin + reboot.at <= now else { return }
        reboots.removeFirst()
        kill(for: reboot.downFor, at: now)
        world.losePower()
        bootBegan = now + reboot.downFor - Self.startAfterBoot
        bootCount += 1
        // From now on the wall clock decides, which may have been wrong.
        checker.asked.ends.removeAll()
        try spool?.losePower()
        clock = reboot.clock
        store = try store.reopened(hostBoot: HostBoot(uuid: "rehearsal-\(plan.seed)-\(bootCount)"))
        note("the host loses its power", at: now)
    }

    // MARK: The daemon's machine

    private func takeHostFaults(at now: MonotonicTime) {
        for fault in world.takeHostFaults() {
            switch fault.fault {
            case .daemonKilled:
                if driver != nil { kill(for: fault.duration, at: now) }
            case .wallClockStep:
                wallClockStep += (generator.next() % 2 == 0 ? 1 : -1) * fault.duration.nanoseconds
                note("the wall clock steps by \(fault.duration)", at: now)
            case .slowCommit: disk.commitDelayUntil = max(disk.commitDelayUntil, now + fault.duration)
            case .diskFull:
                disk.fill(until: now + fault.duration)
                note("the disk is full", at: now)
            case .databaseBusy:
                disk.busyUntil = max(disk.busyUntil, now + fault.duration)
                note("another program holds the database for \(fault.duration)", at: now)
            case .flushRefused:
                disk.flushRefusedUntil = max(disk.flushRefusedUntil, now + fault.duration)
                note("the disk refuses to flush for \(fault.duration)", at: now)
            case .daemonEnded:
                guard let driver, pauseAfterEnd == nil else { continue }
                pauseAfterEnd = fault.duration
                driver.handle(.shutDown, at: now)
                note("the daemon is ended in order", at: now)
            default: break
            }
        }
    }

    /// Reads the wall clock at an instant of the boot.
    func readClock(at now: MonotonicTime) -> ClockOffsetRecord {
        let world = now + (bootBegan - .boot)
        let reading = clock.reading(after: timeSinceBoot(world))
        let unix = plan.unixNanosecondsAtBoot + world.nanoseconds + wallClockStep + reading.error.nanoseconds
        return ClockOffsetRecord(
            at: now, offsetNanoseconds: unix - now.nanoseconds, stepNanoseconds: 0, isSynchronised: reading.isSynchronised)
    }

    // MARK: The end

    /// Ends the daemon in order, and checks everything that is stored.
    private func finish() throws(StorageError) {
        let now = world.now
        checker.checkContract(world, &report)
        while let engine = driver?.engine, engine.bufferedRows > 0 {
            try advance(to: world.now + .seconds(1))
            guard world.now - now < .seconds(60) else { break }
        }
        report.injected = world.injected
        try checker.checkStored(store, world: world, &report)
        try checker.checkAddresses(store, &report, at: world.now)
        try checker.checkDrained(store, world: world, &report)
        report.simulated = world.now - begin
        report.timeline.sort { $0.time < $1.time }
    }

    func note(_ text: String, at now: MonotonicTime) {
        report.timeline.append(RehearsalReport.TimelineEntry(time: now, text: text))
    }
}
