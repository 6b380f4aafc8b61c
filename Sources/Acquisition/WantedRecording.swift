public import Headsets
public import Storage

/// A recording that the operator wants, with what is needed to go on with it.
public struct WantedRecording: Sendable {
    /// The headset's name in the configuration.
    public var name: String
    /// The headset's profile.
    public var profile: any HeadsetProfile
    /// What the database holds.
    public var resume: ResumeState

    /// Creates a wanted recording.
    public init(name: String, profile: any HeadsetProfile, resume: ResumeState) {
        self.name = name
        self.profile = profile
        self.resume = resume
    }
}
