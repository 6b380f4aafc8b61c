package import Bluetooth
import GRDB

/// UTC minus `CLOCK_BOOTTIME`, when it was first seen or had stepped.
package struct ClockOffsetRecord: Hashable, Sendable, Codable {
    package var at: MonotonicTime
    /// Nanoseconds since 1970-01-01T00:00:00Z at boottime 0.
    package var offsetNanoseconds: Int64
    /// By how much the wall clock stepped against the previous record; 0 for the first.
    package var stepNanoseconds: Int64
    /// True where the kernel said that the clock was synchronised.
    package var isSynchronised: Bool
    /// For how long the machine was suspended since its boot (`CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`), where the clocks were
    /// read; nil where nobody looked. Not stored with the offset: a growth is a ``SuspensionRecord``.
    package var suspended: Duration?

    package init(
        at: MonotonicTime, offsetNanoseconds: Int64, stepNanoseconds: Int64, isSynchronised: Bool, suspended: Duration? = nil
    ) {
        self.at = at
        self.offsetNanoseconds = offsetNanoseconds
        self.stepNanoseconds = stepNanoseconds
        self.isSynchronised = isSynchronised
        self.suspended = suspended
    }
}

extension ClockOffsetRecord: ChangeRecord {
    var subject: ChangeSubject { .host }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised) VALUES (?, ?, ?, ?, ?)
            """,
            [transaction.hostBoot, at.nanoseconds, offsetNanoseconds, stepNanoseconds, isSynchronised])
    }
}

/// The headset's own clock beside the host's: an observation, not the truth.
package struct ClockObservationRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var bootIdentifier: UInt32?
    package var deviceTicks: UInt64
    package var tickFrequency: Double
    package var at: MonotonicTime

    package init(headset: HeadsetID, bootIdentifier: UInt32?, deviceTicks: UInt64, tickFrequency: Double, at: MonotonicTime) {
        self.headset = headset
        self.bootIdentifier = bootIdentifier
        self.deviceTicks = deviceTicks
        self.tickFrequency = tickFrequency
        self.at = at
    }
}

extension ClockObservationRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO clock_observation (headset_id, boot_identifier, device_ticks, tick_frequency, host_boot_id, boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, bootIdentifier.map { Int64($0) },
                Int64(clamping: deviceTicks), tickFrequency, transaction.hostBoot, at.nanoseconds,
            ])
    }
}
