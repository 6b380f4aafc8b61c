package import Bluetooth

/// What a person says of a recording, once its onset is read.
package struct StatedAnnotation: Hashable, Sendable {
    package var onset: StatedOnset
    /// 0 or more; nil for an instant.
    package var durationSeconds: Double?
    package var description: String
    package var code: Int64?

    package init(onset: StatedOnset, durationSeconds: Double? = nil, description: String, code: Int64? = nil) {
        self.onset = onset
        self.durationSeconds = durationSeconds
        self.description = description
        self.code = code
    }
}

/// When something happened, in the words that a person has for it.
package enum StatedOnset: Hashable, Sendable {
    /// On the clock of the present host boot. One before its beginning is earlier by so much, and lies in the boot that UTC
    /// says.
    case boottime(MonotonicTime)
    /// UTC in nanoseconds since 1970.
    case unix(nanoseconds: Int64)
    /// Seconds after the first sample of the recording.
    case recordingStart(seconds: Double)
    /// A sample of a stream: `n` of its view.
    case sample(AnnotatedSample)
}

/// Why an annotation cannot be stored.
package struct AnnotationRefusal: Error, Hashable, Sendable {
    /// In words that complete "the annotation is refused: ...".
    package var reason: String
}
