public import Storage

/// A recording that the operator wants, with what is needed to go on with it.
public struct WantedRecording: Sendable {
    /// The recording and its headset, as the database names them.
    public var open: OpenRecording
    /// What a person knows of the headset.
    public var known: KnownHeadset
    /// What the database holds.
    public var resume: ResumeState

    /// Creates a wanted recording.
    public init(_ open: OpenRecording, known: KnownHeadset, resume: ResumeState) {
        self.open = open
        self.known = known
        self.resume = resume
    }
}
