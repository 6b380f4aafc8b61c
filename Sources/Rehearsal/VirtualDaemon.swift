import Acquisition
import Bluetooth
import Capture
import Headsets
import Simulation
import Storage

/// One daemon process in virtual time where nothing is wrong with its machine: the real engine on a simulated world, with
/// its commits in a store. Replay and demo drive it; a rehearsal, whose machine has faults of its own, shares the loop.
final class VirtualDaemon {
    let world: SimulatedWorld
    let store: Store
    let acquirer: Acquirer
    /// UTC at an instant; nil while it is not known.
    var unixNanoseconds: (MonotonicTime) -> Int64?
    /// Sees every batch once it is committed.
    var committed: (WriteBatch, MonotonicTime) -> Void = { _, _ in }
    /// May change a batch on its way to the database, as a planted defect does.
    var willCommit: (inout WriteBatch) -> Void = { _ in }
    /// Called after every step.
    var stepped: () -> Void = {}
    /// Set where the operator's wishes changed.
    var reconcileDue = true

    private let profile: (OpenRecording) -> (any HeadsetProfile)?
    private var commit: (batch: WriteBatch, due: MonotonicTime)?
    private var nextClockReading: MonotonicTime

    /// How long a commit takes: what SQLite needs for a second of samples.
    private static let commitDuration: Duration = .milliseconds(5)

    /// Starts a process in the world's present; one that runs there ends as by `kill -9`.
    ///
    /// - Parameter profile: the profile of a recording's headset; nil for one that is none of this process's.
    init(
        world: SimulatedWorld, store: Store, seed: UInt64, profile: @escaping (OpenRecording) -> (any HeadsetProfile)?,
        unixNanoseconds: @escaping (MonotonicTime) -> Int64?
    ) throws(StorageError) {
        self.world = world
        self.store = store
        self.profile = profile
        self.unixNanoseconds = unixNanoseconds
        nextClockReading = world.now
        acquirer = Acquirer(
            central: CapturingCentral(world.makeCentral()), nextStreamID: try store.nextStreamID(),
            seed: seed &+ UInt64(bitPattern: world.now.nanoseconds))
    }

    /// Reads the wall clock at the next step.
    func readClock() { nextClockReading = world.now }

    /// Lets everything happen until `end`, or until `isDone` says so after a step.
    func advance(to end: MonotonicTime, until isDone: () -> Bool = { false }) throws(StorageError) {
        try world.advance(
            to: end, next: { [acquirer.deadline, commit?.due, nextClockReading].compactMap { $0 }.min() },
            step: { now throws(StorageError) in
                try step(at: now)
                return isDone()
            })
    }

    /// Lets everything happen until all recordings have ended, at most for `limit`. True if they have.
    func finish(within limit: Duration) throws(StorageError) -> Bool {
        reconcileDue = true
        let isEnded = { [acquirer] in acquirer.recordings.isEmpty }
        try advance(to: world.now + limit, until: isEnded)
        return isEnded()
    }

    private func step(at now: MonotonicTime) throws(StorageError) {
        if nextClockReading <= now {
            nextClockReading = now + .seconds(1)
            if let time = unixNanoseconds(now) {
                acquirer.observeClock(unixNanoseconds: time, isSynchronised: true, at: now)
            }
        }
        if reconcileDue || acquirer.mustReconcile {
            reconcileDue = false
            try acquirer.reconcile(with: store, profile: profile, at: now)
        }
        acquirer.process(at: now)
        if let (batch, due) = commit, due <= now {
            commit = nil
            try store.commit(batch)
            committed(batch, now)
            acquirer.committed(batch.number, at: now)
        }
        if commit == nil, var batch = acquirer.takeBatch(at: now) {
            willCommit(&batch)
            commit = (batch, now + Self.commitDuration)
        }
        stepped()
    }
}

extension SimulatedWorld {
    /// The loop of every driver in virtual time: the world goes from one instant at which something is due to the next.
    ///
    /// - Parameters:
    ///   - next: when the driver itself has something to do; nil for never.
    ///   - step: what is done at an instant; true ends the loop.
    func advance(
        to end: MonotonicTime, next: () -> MonotonicTime?, step: (MonotonicTime) throws(StorageError) -> Bool
    ) throws(StorageError) {
        while let instant = [nextEventTime, next()].compactMap({ $0 }).min(), instant <= end {
            advance(to: max(instant, now))
            if try step(now) { return }
        }
        advance(to: end)
        _ = try step(end)
    }
}
