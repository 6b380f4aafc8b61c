import Acquisition
import Bluetooth
import Headsets
import Simulation
package import Storage

/// The two acquisition processes of a demo. The first is killed; the second plays what the first did against a database in
/// memory, which brings its world to the same state, and goes on from what the first had committed to the file.
package final class DemoRun {
    private let plan: DemoPlan
    private let world: SimulatedWorld
    private let report: (DemoEvent) -> Void
    private var timeline: DemoTimeline
    private var driver: VirtualDriver?
    /// False while what another process did is played again.
    private var isReporting = true
    /// A defect between the engine and the database, to see that the audit bites.
    private let defect: PlantedDefect?

    /// How long the end of a recording may take at most.
    private static let patience: Duration = .seconds(60)

    /// Prepares a process.
    ///
    /// - Parameter report: gets the lines of the timeline; those of one commit come together and are not in order.
    package init(_ plan: DemoPlan, defect: PlantedDefect? = nil, report: @escaping (DemoEvent) -> Void) {
        self.plan = plan
        self.defect = defect
        self.report = report
        timeline = DemoTimeline(plan)
        world = SimulatedWorld(seed: plan.seed, headsets: [plan.headset], script: plan.script, start: DemoPlan.begin)
    }

    /// What the first process had when its end came.
    package struct Interruption: Hashable, Sendable {
        /// Rows in memory, not yet in the database.
        package var bufferedRows: Int
        /// A checksum of everything that the world reported to the process.
        package var worldDigest: UInt64
    }

    /// What the first process does until the instant of its end.
    package func runUntilKill(store: AcquisitionStore) throws(StorageError) -> Interruption {
        try store.control.startRecording(
            headset: DemoPlan.headsetName, model: plan.profile.model, label: "demo", subject: "simulated", task: "rest",
            at: world.now)
        try start(store)
        driver?.advance(world, to: plan.killTime)
        return Interruption(bufferedRows: driver?.engine.bufferedRows ?? 0, worldDigest: world.digest)
    }

    /// What the second process does, from its start to the end of the recording.
    ///
    /// - Parameter worldDigest: what the first process reported.
    /// - Returns: false where the world is another one than that of the first process, or the recording did not end.
    package func runAfterKill(store: AcquisitionStore, worldDigest: UInt64) throws(StorageError) -> Bool {
        isReporting = false
        let before = try runUntilKill(store: try AcquisitionStore.inMemory(hostBoot: store.hostBoot))
        guard before.worldDigest == worldDigest else { return false }
        driver = nil
        world.kill()
        timeline = DemoTimeline(plan, after: world)
        isReporting = true
        world.advance(
            to: plan.restartTime, next: { nil },
            step: { _ in
                observe()
                return false
            })
        try start(store)
        driver?.advance(world, to: plan.end)
        note(.world(at: world.now, "stop", "a person stops the recording"))
        if let recording = try store.openRecordings().first?.recording {
            try store.control.stopRecording(recording, at: world.now)
        }
        return driver?.finish(world, within: Self.patience) ?? false
    }

    private func start(_ store: AcquisitionStore) throws(StorageError) {
        // Named by its serial number, so that it need not be listened for whether others of the model are there.
        let known = KnownHeadset(
            name: DemoPlan.headsetName, profile: plan.profile, identityProof: plan.headset.serialNumber)
        let started = try VirtualDriver(
            in: world, store: store, seed: plan.seed,
            unixNanosecondsAtBoot: plan.startUnixNanoseconds - DemoPlan.begin.nanoseconds,
            lookUp: { open in open.headsetName == known.name ? known : nil })
        started.willCommit = { [defect] batch in defect?.spoil(&batch) }
        started.committed = { [unowned self] batch, now in timeline.note(batch, committedAt: now) { self.note($0) } }
        started.reported = { [unowned self] news, _ in
            if case .returned(let back) = news { timeline.note(back) { self.note($0) } }
        }
        started.stepped = { [unowned self] in observe() }
        driver = started
    }

    private func observe() {
        timeline.observe(world, isDaemonAlive: driver != nil) { note($0) }
    }

    private func note(_ event: DemoEvent) {
        if isReporting { report(event) }
    }
}
