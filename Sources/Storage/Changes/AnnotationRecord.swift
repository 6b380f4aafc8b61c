package import Bluetooth
import GRDB

/// Something said of an instant or a sample of a recording: onset, duration, description (EDF+'s words).
package struct AnnotationRecord: Hashable, Sendable, Codable {
    package var recording: RecordingID
    /// When it happened; of what is said of a sample, when that arrived.
    package var onset: MonotonicTime
    package var durationSeconds: Double?
    package var description: String
    /// Who said it: `operator`, `headset` or `eegsync`.
    package var source: String
    /// The sample that it is said of; nil where it is said of an instant.
    package var sample: AnnotatedSample?
    /// The headset's own clock then, as sent.
    package var deviceTicks: UInt64?
    /// The number of a trigger, as sent.
    package var code: Int64?

    package init(
        recording: RecordingID, onset: MonotonicTime, durationSeconds: Double?, description: String, source: String,
        sample: AnnotatedSample? = nil, deviceTicks: UInt64? = nil, code: Int64? = nil
    ) {
        self.recording = recording
        self.onset = onset
        self.durationSeconds = durationSeconds
        self.description = description
        self.source = source
        self.sample = sample
        self.deviceTicks = deviceTicks
        self.code = code
    }
}

/// A sample that something is said of.
package struct AnnotatedSample: Hashable, Sendable, Codable {
    package var stream: StreamID
    package var n: Int64

    package init(stream: StreamID, n: Int64) {
        self.stream = stream
        self.n = n
    }
}

extension AnnotationRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .recording(recording) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id,
                n, device_ticks, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                recording.rawValue, transaction.hostBoot, onset.nanoseconds, durationSeconds, description, source,
                sample?.stream.rawValue, sample?.n, deviceTicks.map { Int64(bitPattern: $0) }, code,
            ])
    }
}
