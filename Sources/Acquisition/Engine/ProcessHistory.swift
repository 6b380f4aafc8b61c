import Bluetooth
import Storage

/// What the history says of the process and the machine, and how long it is kept.
struct ProcessHistory {
    /// A shorter growth is the time between the readings of two clocks.
    private static let leastSuspension = Duration.milliseconds(100)
    /// How soon it is looked again where one call did not remove all, or none could be made.
    private static let trimRetryInterval = Duration.seconds(10)
    /// How often it is looked for something old.
    private static let trimInterval = Duration.seconds(3600)

    /// Nil where the process leaves no rows, as in a test of something else.
    let identity: ProcessIdentity?
    private let limits: AcquisitionLimits
    private var hasStarted = false
    private var hasEnded = false
    /// What is to be written.
    private var changes: [Change] = []
    /// For how long the machine was suspended when that was read last.
    private var suspended: Duration?
    /// Since when the disk has no room for what is to be written, and what was said of that; nil while it has.
    private var fullDisk: (since: MonotonicTime, detail: String)?
    /// True while rows are being removed.
    private var isTrimming = false

    init(identity: ProcessIdentity?, limits: AcquisitionLimits) {
        self.identity = identity
        self.limits = limits
    }

    /// The process has started, or is still alive.
    mutating func recordActivity(_ timers: inout EngineTimers, at now: MonotonicTime) {
        guard let identity, timers.take(.alive, at: now) else { return }
        timers[.alive] = now + limits.aliveInterval
        changes.append(.process(hasStarted ? .alive(at: now) : .started(identity, at: now)))
        hasStarted = true
    }

    /// The process ends in order; it is among what is written last.
    mutating func recordEnd(at now: MonotonicTime) {
        guard hasStarted, !hasEnded else { return }
        hasEnded = true
        changes.append(.process(.ended(at: now)))
    }

    /// Rows were refused for want of room.
    mutating func diskIsFull(_ detail: String, at now: MonotonicTime) {
        if fullDisk == nil { fullDisk = (now, detail) }
    }

    /// Rows are stored again: where a full disk had refused them, the history says so now, as that disk took nothing of it.
    mutating func diskHasRoom(at now: MonotonicTime) {
        guard let full = fullDisk else { return }
        fullDisk = nil
        guard identity != nil else { return }
        changes.append(.fullDisk(FullDiskRecord(began: full.since, ended: now, detail: full.detail)))
    }

    /// Looks whether the machine was suspended since the clocks were read last.
    mutating func observeSuspension(_ reading: ClockOffsetRecord) {
        guard let total = reading.suspended else { return }
        if let suspended, total - suspended >= Self.leastSuspension {
            changes.append(.suspension(SuspensionRecord(resumed: reading.at, duration: total - suspended)))
        }
        suspended = max(total, suspended ?? total)
    }

    /// Moves what is to be written into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.changes += changes
        changes.removeAll()
    }

    // MARK: Its age

    /// Before when rows are to be removed now, in UTC; nil where none are.
    ///
    /// - Parameter canWrite: false while a batch is being written or cannot be.
    mutating func beginTrim(
        _ timers: inout EngineTimers, canWrite: Bool, clock: WallClock, at now: MonotonicTime
    ) -> Int64? {
        guard let age = limits.historyAge, timers.take(.trim, at: now) else { return nil }
        timers[.trim] = now + Self.trimRetryInterval
        // Where nobody has set the clock, nobody knows what is old.
        guard !isTrimming, canWrite, let latest = clock.latest, latest.isSynchronised else { return nil }
        timers[.trim] = now + Self.trimInterval
        isTrimming = true
        return now.nanoseconds + latest.offsetNanoseconds - age.nanoseconds
    }

    /// So many rows were removed; where some were, there may be more. A process that ends has no timer for them any more.
    mutating func trimmed(_ rows: Int, _ timers: inout EngineTimers, at now: MonotonicTime) {
        isTrimming = false
        if rows > 0, timers[.trim] != nil { timers[.trim] = now + Self.trimRetryInterval }
    }
}
