package import Bluetooth
import GRDB
package import Headsets

/// Samples that flow again after a loss, or for the first time. One row each: no return is ever folded into another.
package struct StreamingReturnRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var recording: RecordingID
    /// The layer that found the headset: `restoration`, `cachedIdentifier`, `serviceRetrieval` or `scan`.
    package var layer: String
    /// How many layers were tried since the loss, this one included.
    package var attempts: Int
    /// Why samples were missing; nil for the first link of a recording.
    package var cause: GapCause?
    /// When the loss was noticed; nil where no process was there to notice it.
    package var lost: MonotonicTime?
    /// From when on samples could have flowed if the headset was in reach all the time: the last sample, or what came later of
    /// the begin of the process and the adapter's return.
    package var able: MonotonicTime
    /// When the headset was first heard since then, without a silence longer than a round of all layers.
    package var heard: MonotonicTime
    /// When everything was set up.
    package var prepared: MonotonicTime
    /// When the first live sample arrived.
    package var firstSample: MonotonicTime

    package init(
        headset: HeadsetID, recording: RecordingID, layer: String, attempts: Int, cause: GapCause?, lost: MonotonicTime?,
        able: MonotonicTime, heard: MonotonicTime, prepared: MonotonicTime, firstSample: MonotonicTime
    ) {
        self.headset = headset
        self.recording = recording
        self.layer = layer
        self.attempts = attempts
        self.cause = cause
        self.lost = lost
        self.able = able
        self.heard = heard
        self.prepared = prepared
        self.firstSample = firstSample
    }
}

extension StreamingReturnRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO streaming_return (headset_id, recording_id, host_boot_id, boottime_ns, layer, attempts, cause,
                lost_boottime_ns, able_boottime_ns, heard_boottime_ns, prepared_boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, recording.rawValue, transaction.hostBoot, firstSample.nanoseconds, layer, attempts,
                cause?.rawValue, lost?.nanoseconds, able.nanoseconds, heard.nanoseconds, prepared.nanoseconds,
            ])
    }
}

/// How strong a link was.
package struct LinkQualityRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var at: MonotonicTime
    package var quality: LinkQuality

    package init(headset: HeadsetID, at: MonotonicTime, quality: LinkQuality) {
        self.headset = headset
        self.at = at
        self.quality = quality
    }
}

extension LinkQualityRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "INSERT INTO link_quality (headset_id, host_boot_id, boottime_ns, rssi, tx_power) VALUES (?, ?, ?, ?, ?)",
            [
                headset.rawValue, transaction.hostBoot, at.nanoseconds, Int64(quality.rssi),
                quality.transmitPower.map { Int64($0) },
            ])
    }
}

/// A process that acquires.
package struct ProcessIdentity: Hashable, Sendable, Codable {
    /// The program's version.
    package var version: String
    /// The kernel's number of the process.
    package var pid: Int32

    package init(version: String, pid: Int32) {
        self.version = version
        self.pid = pid
    }
}

/// What becomes of the process that acquires. There is one at a time, so the latest row is its own.
package enum ProcessChange: Hashable, Sendable, Codable {
    case started(ProcessIdentity, at: MonotonicTime)
    /// It was alive at an instant.
    case alive(at: MonotonicTime)
    /// Somebody has ended it, and it ends in order.
    case ended(at: MonotonicTime)
}

extension ProcessChange: ChangeRecord {
    var subject: ChangeSubject { .host }

    func write(in transaction: BatchTransaction) throws {
        let latest = "id = (SELECT max(id) FROM process)"
        switch self {
        case .started(let identity, let time):
            try transaction.execute(
                """
                INSERT INTO process (version, pid, host_boot_id, started_boottime_ns, alive_boottime_ns, taken_over)
                VALUES (?1, ?2, ?3, ?4, ?4, (SELECT count(*) FROM recording
                    WHERE desired_state = 'recording' AND started_host_boot_id IS NOT NULL))
                """, [identity.version, identity.pid, transaction.hostBoot, time.nanoseconds])
        case .alive(let time):
            try transaction.execute("UPDATE process SET alive_boottime_ns = ? WHERE \(latest)", [time.nanoseconds])
        case .ended(let time):
            try transaction.execute(
                "UPDATE process SET alive_boottime_ns = ?1, ended_boottime_ns = ?1, end_cause = 'signal' WHERE \(latest)",
                [time.nanoseconds])
        }
    }
}

/// The machine was suspended.
package struct SuspensionRecord: Hashable, Sendable, Codable {
    /// When it was noticed that the machine is awake again.
    package var resumed: MonotonicTime
    /// For how long it was suspended.
    package var duration: Duration

    package init(resumed: MonotonicTime, duration: Duration) {
        self.resumed = resumed
        self.duration = duration
    }
}

extension SuspensionRecord: ChangeRecord {
    var subject: ChangeSubject { .host }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "INSERT INTO suspension (host_boot_id, resumed_boottime_ns, duration_ns) VALUES (?, ?, ?)",
            [transaction.hostBoot, resumed.nanoseconds, duration.nanoseconds])
    }
}

/// The disk was full, or full but for what is kept free of it, and rows had to wait.
package struct FullDiskRecord: Hashable, Sendable, Codable {
    /// When rows were refused first.
    package var began: MonotonicTime
    /// When all that waited was stored.
    package var ended: MonotonicTime
    /// How much was free, and how much is kept free; or what SQLite said.
    package var detail: String

    package init(began: MonotonicTime, ended: MonotonicTime, detail: String) {
        self.began = began
        self.ended = ended
        self.detail = detail
    }
}

extension FullDiskRecord: ChangeRecord {
    var subject: ChangeSubject { .host }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            "INSERT INTO full_disk (host_boot_id, began_boottime_ns, ended_boottime_ns, detail) VALUES (?, ?, ?, ?)",
            [transaction.hostBoot, began.nanoseconds, ended.nanoseconds, detail])
    }
}
