import Bluetooth
import Storage

/// What the history says of the process and the machine, and how long it is kept.
struct ProcessHistory {
    /// Nil where the process leaves no rows, as in a test of something else.
    var identity: ProcessIdentity?
    var hasStarted = false
    var hasEnded = false
    /// What is to be written.
    var changes: [Change] = []
    /// For how long the machine was suspended when that was read last.
    var suspended: Duration?
    /// True while rows are being removed.
    var isTrimming = false
}

extension AcquisitionEngine {
    /// A shorter growth is the time between the readings of two clocks.
    private static let leastSuspension = Duration.milliseconds(100)
    /// How soon it is looked again where one call did not remove all, or none could be made.
    private static let trimRetryInterval = Duration.seconds(10)
    /// How often it is looked for something old.
    private static let trimInterval = Duration.seconds(3600)

    /// The process has started, or is still alive.
    func recordActivity(at now: MonotonicTime) {
        guard let identity = history.identity, timers.take(.alive, at: now) else { return }
        timers[.alive] = now + limits.aliveInterval
        history.changes.append(.process(history.hasStarted ? .alive(at: now) : .started(identity, at: now)))
        history.hasStarted = true
    }

    /// The process ends in order; it is among what is written last.
    func noteEnd(at now: MonotonicTime) {
        guard history.hasStarted, !history.hasEnded else { return }
        history.hasEnded = true
        history.changes.append(.process(.ended(at: now)))
    }

    /// Rows are stored again: where a full disk had refused them, the history says so now, as that disk took nothing of it.
    func noteRoom(at now: MonotonicTime) {
        guard let full = commits.fullDisk else { return }
        commits.fullDisk = nil
        guard history.identity != nil else { return }
        history.changes.append(.fullDisk(FullDiskRecord(began: full.since, ended: now, detail: full.detail)))
    }

    /// Looks whether the machine was suspended since the clocks were read last.
    func observeSuspension(_ reading: ClockOffsetRecord) {
        guard let suspended = reading.suspended else { return }
        if let before = history.suspended, suspended - before >= Self.leastSuspension {
            history.changes.append(.suspension(SuspensionRecord(resumed: reading.at, duration: suspended - before)))
        }
        history.suspended = max(suspended, history.suspended ?? suspended)
    }

    /// Has old rows removed, a few at a time and never while a batch is being written.
    func trimHistory(at now: MonotonicTime) {
        guard let age = limits.historyAge, timers.take(.trim, at: now) else { return }
        timers[.trim] = now + Self.trimRetryInterval
        // Where nobody has set the clock, nobody knows what is old.
        guard !history.isTrimming, commits.underWay == nil, commits.problem == nil, let latestClock,
            latestClock.isSynchronised
        else { return }
        timers[.trim] = now + Self.trimInterval
        history.isTrimming = true
        let unixNanoseconds = now.nanoseconds + latestClock.offsetNanoseconds
        emit(.trimHistory(before: unixNanoseconds - age.nanoseconds))
    }

    /// So many rows were removed.
    func trimmed(_ rows: Int, at now: MonotonicTime) {
        history.isTrimming = false
        guard rows > 0, !shutdown.hasBegun else { return }
        timers[.trim] = now + Self.trimRetryInterval
    }
}
