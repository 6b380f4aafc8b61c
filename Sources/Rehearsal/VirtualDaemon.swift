import Acquisition
import Bluetooth
import Capture
import Headsets
import Simulation
import Storage

/// One daemon process in virtual time where nothing is wrong with its machine: the real engine on a simulated world, with
/// its commits in a store. Replay and demo drive it; a rehearsal, whose machine has faults of its own, shares the loop.
final class VirtualDaemon {
    private let world: any VirtualWorld
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
    private let commitDuration: Duration
    /// With so many rows a commit is due although its interval has not passed: where a headset is not the one who sets the
    /// pace, an instant can have any number of samples. Far below what an acquirer takes before it drops samples.
    private static let rowsPerCommit = 50_000

    /// Starts a process in the world's present; one that runs there ends as by `kill -9`.
    ///
    /// - Parameter profile: the profile of a recording's headset; nil for one that is none of this process's.
    convenience init(
        world: SimulatedWorld, store: Store, seed: UInt64, profile: @escaping (OpenRecording) -> (any HeadsetProfile)?,
        unixNanoseconds: @escaping (MonotonicTime) -> Int64?
    ) throws(StorageError) {
        try self.init(
            world: world, central: CapturingCentral(world.makeCentral()), store: store, seed: seed,
            commitDuration: .milliseconds(5), profile: profile, unixNanoseconds: unixNanoseconds)
    }

    /// Starts a process in the world's present, whose radio is `central`.
    init(
        world: any VirtualWorld, central: any Central, store: Store, seed: UInt64, commitDuration: Duration,
        profile: @escaping (OpenRecording) -> (any HeadsetProfile)?, unixNanoseconds: @escaping (MonotonicTime) -> Int64?
    ) throws(StorageError) {
        self.world = world
        self.store = store
        self.profile = profile
        self.unixNanoseconds = unixNanoseconds
        self.commitDuration = commitDuration
        nextClockReading = world.now
        acquirer = Acquirer(
            central: central, nextStreamID: try store.nextStreamID(),
            seed: seed &+ UInt64(bitPattern: world.now.nanoseconds))
    }

    /// Reads the wall clock at the next step.
    func readClock() { nextClockReading = world.now }

    /// Lets everything happen until `end`, or until `isDone` says so after a step.
    func advance(to end: MonotonicTime, until isDone: () -> Bool = { false }) throws(StorageError) {
        try world.advance(
            to: end, next: { nextDeadline },
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

    /// Goes to an instant without anything that would have happened until then.
    func leap(to time: MonotonicTime) throws(StorageError) {
        guard time > world.now else { return }
        world.advance(to: time)
        try step(at: world.now)
    }

    /// Writes what waits for a commit.
    func flush() throws(StorageError) {
        while let batch = commit?.batch ?? acquirer.takeBatch(at: world.now, force: true) { try write(batch) }
    }

    private func write(_ batch: WriteBatch) throws(StorageError) {
        commit = nil
        try store.commit(batch)
        committed(batch, world.now)
        acquirer.committed(batch.number, at: world.now)
    }

    private var nextDeadline: MonotonicTime {
        var earliest = nextClockReading
        if let due = acquirer.deadline, due < earliest { earliest = due }
        if let due = commit?.due, due < earliest { earliest = due }
        return earliest
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
            try write(batch)
        }
        if commit == nil, var batch = acquirer.takeBatch(at: now, force: acquirer.bufferedRows > Self.rowsPerCommit) {
            willCommit(&batch)
            commit = (batch, now + commitDuration)
        }
        stepped()
    }
}
