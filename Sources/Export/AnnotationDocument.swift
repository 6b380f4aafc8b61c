import Bluetooth
import Headsets
import Storage

/// What a sidecar says of an annotation.
struct AnnotationDocument: Codable, Hashable {
    /// UTC.
    var onset: String
    var durationSeconds: Double?
    var description: String
    /// `operator`, `headset`, `eegsync` or `sql`.
    var source: String
    /// The stream and the sample that the headset said it of; absent where it is said of an instant.
    var stream: String?
    var n: Int64?
    /// The headset's own clock then, as sent.
    var deviceTicks: Int64?
    /// The number of a trigger, as sent.
    var code: Int64?

    init(_ annotation: AnnotationContents, of recording: RecordingContents) {
        onset = CivilTime.iso8601(unixNanoseconds: annotation.onsetUnixNanoseconds)
        durationSeconds = annotation.durationSeconds
        description = annotation.description
        source = annotation.source
        stream = annotation.sample.flatMap { sample in
            recording.streams.first { $0.id == sample.stream }?.description.bankName
        }
        n = annotation.sample?.n
        deviceTicks = annotation.deviceTicks
        code = annotation.code
    }
}

extension AnnotationContents {
    /// The duration as files have it that count microseconds; nil for an instant.
    var durationMicroseconds: Int64? {
        durationSeconds.map { Int64((Self.capped(durationSeconds: $0) * 1e6).rounded()) }
    }
}
