import Acquisition
import Bluetooth
import Foundation
import Headsets
import Reconnection
import Simulation
package import Storage

/// Runs the whole acquisition through weeks, in virtual time and into a real file, without anything that remembers what was
/// stored: what it has in memory at the end is what weeks cost.
package final class WeeksRun {
    private let plan: WeeksPlan
    private let path: String
    private let world: SimulatedWorld
    private var store: AcquisitionStore
    private var driver: VirtualDriver?
    private var disk = RehearsedDisk(commitDuration: .milliseconds(5))
    private var report = WeeksReport()
    /// When the daemon starts again; nil while it runs.
    private var restart: MonotonicTime?
    /// The present boot of the host: when its boottime was 0, on the world's time.
    private var bootBegan = MonotonicTime.boot
    private var bootCount = 1
    private var clock = HostClock()
    private var reboots: ArraySlice<HostReboot>
    private var wallClockStep: Int64 = 0
    /// Since when the headset could be recorded; nil while it cannot.
    private var availableSince: MonotonicTime?
    private var returnCount = 0
    private var slowestReturn = Duration.zero
    /// What a planted defect keeps.
    package private(set) var kept: [WriteBatch] = []

    private static let headsetName = "weeks"
    /// How long a daemon's start comes after the kernel's.
    private static let startAfterBoot = Duration.seconds(20)
    private static let model = BufferedEEGProfile()

    /// Prepares weeks.
    ///
    /// - Parameter path: a database that does not exist yet.
    package init(_ plan: WeeksPlan, path: String) throws(StorageError) {
        self.plan = plan
        self.path = path
        world = SimulatedWorld(
            seed: plan.seed, headsets: [.buffered(number: 1, plan.headset)], script: plan.script, start: WeeksPlan.begin)
        reboots = plan.hostReboots[...]
        store = try Self.open(path, boot: 1)
        report.samplingFrequency = plan.headset.streams.reduce(0) { $0 + $1.samplingFrequency }
    }

    /// Everything, from the begin of a recording to its audit.
    ///
    /// - Parameters:
    ///   - residentBytes: what the process has in memory now.
    ///   - dayEnded: hears how things stand.
    package func run(
        residentBytes: () -> Int64, dayEnded: (WeeksReport.Day) -> Void = { _ in }
    ) throws(StorageError) -> WeeksReport {
        try store.control.startRecording(headset: Self.headsetName, model: Self.model.model, at: boottime(world.now))
        try startDaemon(at: world.now)
        for day in 1...plan.days {
            try advance(to: plan.begin(ofDay: day + 1))
            _ = world.headsets.first?.buffered?.takeAcknowledgements()
            try report.days.append(stand(atEndOf: day, residentBytes()))
            if let last = report.days.last { dayEnded(last) }
            slowestReturn = .zero
        }
        report.seconds = (world.now - WeeksPlan.begin).inSeconds
        report.forecastBytes = RowSize.forecast(rows: report.days.last?.rows ?? 0)
        try store.control.stopRecording(headset: Self.headsetName, at: boottime(world.now))
        if driver?.finish(world, within: .seconds(60)) != true { report.problems.append("the recording did not end") }
        try driver?.end(at: world.now)
        let audit = try store.audit()
        report.problems += audit.findings.map { "audit: \($0.check.rawValue): \($0.detail)" }
        try store.close()
        return report
    }

    private func stand(atEndOf day: Int, _ residentBytes: Int64) throws(StorageError) -> WeeksReport.Day {
        let recordings = try store.recordings()
        return WeeksReport.Day(
            number: day, residentBytes: residentBytes, databaseBytes: try store.size().bytes,
            rows: recordings.reduce(0) { $0 + $1.rows }, missing: recordings.reduce(0) { $0 + $1.missing },
            gaps: recordings.reduce(0) { $0 + $1.gaps }, returns: returnCount, slowestReturnSeconds: slowestReturn.inSeconds)
    }

    // MARK: Time

    private func advance(to end: MonotonicTime) throws(StorageError) {
        try world.advance(
            to: end,
            next: { [driver?.deadline, restart, reboots.first.map { WeeksPlan.begin + $0.at }].compactMap { $0 }.min() },
            step: { now throws(StorageError) in
                try step(at: now)
                return false
            })
    }

    private func step(at now: MonotonicTime) throws(StorageError) {
        try takeHostFaults(at: now)
        try takeReboot(at: now)
        if let restart, restart <= now { try startDaemon(at: now) }
        let isAvailable = driver != nil && world.headsets[0].isInRange
        if isAvailable != (availableSince != nil) { availableSince = isAvailable ? now : nil }
        driver?.step(at: now)
        if driver?.isFinished == true { report.problems.append("the daemon ended by itself at \(now)") }
    }

    private func boottime(_ now: MonotonicTime) -> MonotonicTime { now - (bootBegan - .boot) }

    // MARK: The daemon

    private static func open(_ path: String, boot: Int) throws(StorageError) -> AcquisitionStore {
        try AcquisitionStore(
            path: path, hostBoot: HostBoot(uuid: "weeks-\(boot)"), options: StoreOptions(spoolPath: path + "-spool"))
    }

    private func startDaemon(at now: MonotonicTime) throws(StorageError) {
        restart = nil
        let known = KnownHeadset(
            name: Self.headsetName, profile: Self.model, identityProof: world.headsets[0].specification.serialNumber)
        let started = try VirtualDriver(
            central: world.makeCentral(), store: store, limits: RehearsedSpool.limits,
            seed: plan.seed &+ UInt64(now.nanoseconds), bootBegan: bootBegan,
            process: ProcessIdentity(version: "weeks", pid: 1), lookUp: { $0.headsetName == known.name ? known : nil },
            conduct: { [unowned self] in disk.conduct($0, at: $1) }, readClock: { [unowned self] in readClock(at: $0) })
        started.willCommit = { [unowned self] in spoil(&$0) }
        started.refused = { [unowned self] in report.problems.append("refused at \($1): \($0)") }
        started.reported = { [unowned self] news, _ in
            if case .returned(let back) = news { noteReturn(back) }
        }
        driver = started
    }

    private func noteReturn(_ back: StreamingReturn) {
        returnCount += 1
        guard let availableSince else { return }
        let toWorld = bootBegan - .boot
        let since = max(availableSince, back.lastSample.map { $0 + toWorld } ?? availableSince)
        slowestReturn = max(slowestReturn, back.firstSample + toWorld - since)
    }

    private func spoil(_ batch: inout WriteBatch) {
        switch plan.defect {
        case .leak: kept.append(batch)
        case .bloat:
            guard let chunk = batch.samples.first, let headset = try? store.headset(named: Self.headsetName) else { return }
            // Four for each of its rows.
            let quality = LinkQuality(rssi: -60, transmitPower: nil)
            let now = boottime(world.now)
            batch.changes += (0..<chunk.rowCount * 4).map { index in
                .linkQuality(LinkQualityRecord(headset: headset, at: now + .nanoseconds(index), quality: quality))
            }
        case nil: break
        }
    }

    /// What `kill -9` does, to the process and to what the file system holds of it.
    private func kill(for duration: Duration, at now: MonotonicTime) {
        driver?.kill(completing: true, at: now)
        driver = nil
        world.kill()
        restart = now + duration
    }

    // MARK: The host

    private func takeHostFaults(at now: MonotonicTime) throws(StorageError) {
        for fault in world.takeHostFaults() {
            switch fault.fault {
            case .daemonKilled where driver != nil:
                kill(for: fault.duration, at: now)
                try store.close()
                store = try Self.open(path, boot: bootCount)
                if let problem = store.recoveredSpool?.problem { report.problems.append("spool: \(problem)") }
            case .wallClockStep: wallClockStep += fault.duration.nanoseconds
            case .diskFull: disk.diskFullUntil = now + fault.duration
            default: break
            }
        }
    }

    /// The host loses its power: what is in the spool is in memory, and gone.
    private func takeReboot(at now: MonotonicTime) throws(StorageError) {
        guard let reboot = reboots.first, WeeksPlan.begin + reboot.at <= now else { return }
        reboots.removeFirst()
        kill(for: reboot.downFor, at: now)
        world.losePower()
        (bootBegan, clock) = (now + reboot.downFor - Self.startAfterBoot, reboot.clock)
        bootCount += 1
        try store.close()
        try? FileManager.default.removeItem(atPath: path + "-spool")
        store = try Self.open(path, boot: bootCount)
    }

    private func readClock(at now: MonotonicTime) -> ClockOffsetRecord {
        let world = now + (bootBegan - .boot)
        let reading = clock.reading(after: now - .boot)
        let unix = WeeksPlan.unixNanosecondsAtBoot + world.nanoseconds + wallClockStep + reading.error.nanoseconds
        return ClockOffsetRecord(
            at: now, offsetNanoseconds: unix - now.nanoseconds, stepNanoseconds: 0, isSynchronised: reading.isSynchronised)
    }
}
