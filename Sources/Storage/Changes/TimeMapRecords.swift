package import Bluetooth
import GRDB
package import Headsets

/// One run of a headset's counter on a stream: `n = firstN + (index - firstIndex)`, with the unwrapped sample index.
package struct EpochRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    /// From 0 in each stream.
    package var number: Int
    /// The headset's boot identifier; nil where the model has none.
    package var bootIdentifier: UInt32?
    /// The n of the sample with index ``firstIndex``.
    package var firstN: Int64
    /// The unwrapped index of the first sample of the epoch (as sent, or beyond the modulus after a wrap).
    package var firstIndex: Int64
    /// When the epoch was noticed.
    package var began: MonotonicTime

    package init(stream: StreamID, number: Int, bootIdentifier: UInt32?, firstN: Int64, firstIndex: Int64, began: MonotonicTime)
    {
        self.stream = stream
        self.number = number
        self.bootIdentifier = bootIdentifier
        self.firstN = firstN
        self.firstIndex = firstIndex
        self.began = began
    }
}

extension EpochRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO epoch (stream_id, number, boot_identifier, first_n, first_index, host_boot_id, boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (stream_id, number) DO UPDATE SET boot_identifier = excluded.boot_identifier,
                first_n = excluded.first_n, first_index = excluded.first_index, host_boot_id = excluded.host_boot_id,
                boottime_ns = excluded.boottime_ns
            """,
            [
                stream.rawValue, number, bootIdentifier.map { Int64($0) }, firstN, firstIndex,
                transaction.hostBoot, began.nanoseconds,
            ])
    }
}

/// One piece of a stream's time map: `boottime(n) = referenceTime + (n - referenceN) × period`, for `firstN ... lastN`.
package struct SegmentRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    package var firstN: Int64
    package var lastN: Int64
    package var epoch: Int
    package var referenceN: Int64
    package var referenceTime: MonotonicTime
    /// Nanoseconds between two samples, as fitted.
    package var periodNanoseconds: Double
    /// Median absolute deviation of the arrivals from the line, in nanoseconds; nil before there are enough.
    package var residualNanoseconds: Double?
    /// How many arrivals the fit rests on.
    package var observationCount: Int
    /// Within what the times of the segment's samples are right, but for the headset's constant delay; nil where an earlier
    /// version did not say.
    package var uncertaintyNanoseconds: Double?

    package init(
        stream: StreamID, firstN: Int64, lastN: Int64, epoch: Int, referenceN: Int64, referenceTime: MonotonicTime,
        periodNanoseconds: Double, residualNanoseconds: Double?, observationCount: Int, uncertaintyNanoseconds: Double? = nil
    ) {
        self.stream = stream
        self.firstN = firstN
        self.lastN = lastN
        self.epoch = epoch
        self.referenceN = referenceN
        self.referenceTime = referenceTime
        self.periodNanoseconds = periodNanoseconds
        self.residualNanoseconds = residualNanoseconds
        self.observationCount = observationCount
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }
}

extension SegmentRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                period_ns, residual_ns, observation_count, uncertainty_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (stream_id, first_n) DO UPDATE SET last_n = excluded.last_n, epoch = excluded.epoch,
                host_boot_id = excluded.host_boot_id, reference_n = excluded.reference_n,
                reference_boottime_ns = excluded.reference_boottime_ns, period_ns = excluded.period_ns,
                residual_ns = excluded.residual_ns, observation_count = excluded.observation_count,
                uncertainty_ns = excluded.uncertainty_ns
            """,
            [
                stream.rawValue, firstN, lastN, epoch, transaction.hostBoot, referenceN,
                referenceTime.nanoseconds, periodNanoseconds, residualNanoseconds,
                observationCount, uncertaintyNanoseconds,
            ])
    }
}

/// Evidence of the time map: the earliest arrival of about a second, from which anybody can compute the map anew.
package struct ArrivalRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    /// The sample that arrived: the last one of its packet.
    package var n: Int64
    /// When, in the host's boot in which it is stored.
    package var at: MonotonicTime
    /// The headset's own clock, where it came along.
    package var deviceTicks: UInt64?

    package init(stream: StreamID, n: Int64, at: MonotonicTime, deviceTicks: UInt64?) {
        self.stream = stream
        self.n = n
        self.at = at
        self.deviceTicks = deviceTicks
    }
}

extension ArrivalRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    /// Of one sample that came twice, the first arrival stays.
    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "INSERT OR IGNORE INTO arrival (stream_id, n, boottime_ns, device_ticks) VALUES (?, ?, ?, ?)",
            [
                stream.rawValue, n, at.nanoseconds,
                deviceTicks.map { Int64(truncatingIfNeeded: $0) },
            ])
    }
}

/// From one sample of a stream without counter on, what shows that samples are missing.
package struct LossDetectionRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    package var firstN: Int64
    /// Not ``Headsets/LossDetection/counter``: streams with a counter have no record.
    package var means: LossDetection

    package init(stream: StreamID, firstN: Int64, means: LossDetection) {
        self.stream = stream
        self.firstN = firstN
        self.means = means
    }
}

extension LossDetectionRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    /// Written where it differs from what was said last, as by an earlier process.
    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO loss_detection (stream_id, first_n, means) SELECT ?1, ?2, ?3
            WHERE ?3 IS NOT (
                SELECT means FROM loss_detection WHERE stream_id = ?1 AND first_n <= ?2 ORDER BY first_n DESC LIMIT 1)
            ON CONFLICT (stream_id, first_n) DO UPDATE SET means = excluded.means
            """,
            [stream.rawValue, firstN, means.rawValue])
    }
}
