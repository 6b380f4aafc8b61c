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
    /// What a person calls the EEG channels; nil for the profile's own names.
    public var montage: Montage?

    /// Creates a wanted recording.
    public init(name: String, profile: any HeadsetProfile, resume: ResumeState, montage: Montage? = nil) {
        self.name = name
        self.profile = profile
        self.resume = resume
        self.montage = montage
    }
}
