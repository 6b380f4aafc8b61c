package import Storage

/// A recording that the operator wants, with what is needed to go on with it.
package struct WantedRecording: Sendable {
    /// The recording and its headset, as the database names them.
    package var open: OpenRecording
    /// What a person knows of the headset.
    package var known: KnownHeadset
    /// What the database holds.
    package var resume: ResumeState

    /// Creates a wanted recording.
    package init(_ open: OpenRecording, known: KnownHeadset, resume: ResumeState) {
        self.open = open
        self.known = known
        self.resume = resume
    }
}
