import Bluetooth
import Storage

/// What the readings of the wall clock say of it.
struct WallClock {
    /// So long after the boot of the machine a wall clock that is not synchronised is waited for: a machine without a clock of
    /// its own begins at the time at which it was switched off.
    static let synchronisationPatience: Duration = .seconds(600)

    /// The latest reading, recorded or not.
    private(set) var latest: ClockOffsetRecord?
    /// The latest one that was recorded.
    private var recorded: ClockOffsetRecord?

    /// Takes a reading. Returns what is to be recorded: the first one, a step and the first synchronised one are.
    mutating func observe(_ reading: ClockOffsetRecord, stepThreshold: Duration) -> ClockOffsetRecord? {
        latest = reading
        let step = recorded.map { reading.offsetNanoseconds - $0.offsetNanoseconds } ?? 0
        let isStep = abs(step) >= stepThreshold.nanoseconds
        guard recorded == nil || isStep || (reading.isSynchronised && recorded?.isSynchronised == false) else { return nil }
        recorded = ClockOffsetRecord(
            at: reading.at, offsetNanoseconds: reading.offsetNanoseconds, stepNanoseconds: step,
            isSynchronised: reading.isSynchronised)
        return recorded
    }

    /// UTC at an instant of this boot; nil before the first reading.
    func unixNanoseconds(at time: MonotonicTime) -> Int64? {
        recorded.map { time.nanoseconds + $0.offsetNanoseconds }
    }

    /// What turns instants of this boot into UTC; nil while it may still be corrected by hours.
    func trustedOffset(at now: MonotonicTime) -> Int64? {
        guard let latest, latest.isSynchronised || now >= .boot + Self.synchronisationPatience else { return nil }
        return latest.offsetNanoseconds
    }
}
