public import Bluetooth
public import Headsets
import Storage

/// A headset that the operator has configured.
public struct KnownHeadset: Sendable {
    /// Its name; recordings refer to it.
    public var name: String
    /// The profile of its model.
    public var profile: any HeadsetProfile
    /// Addresses that a person knows; tried after those under which the headset was reached before.
    public var identifiers: [PeripheralIdentifier]
    /// The serial number that a person demands; nil keeps to the first headset of the model that was found.
    public var identityProof: String?
    /// What a person calls the EEG channels; nil for the profile's own names.
    public var montage: Montage?

    /// Creates a known headset.
    public init(
        name: String, profile: any HeadsetProfile, identifiers: [PeripheralIdentifier] = [], identityProof: String? = nil,
        montage: Montage? = nil
    ) {
        self.name = name
        self.profile = profile
        self.identifiers = identifiers
        self.identityProof = identityProof
        self.montage = montage
    }

    /// True where an open recording is this headset's.
    func matches(_ recording: OpenRecording) -> Bool {
        recording.headsetName == name && recording.model == profile.model
    }

    /// Adds what a person knows to what the database has.
    func amend(_ resume: inout ResumeState) {
        resume.identifiers += identifiers.filter { !resume.identifiers.contains($0) }
        if let identityProof { resume.identityProof = identityProof }
    }
}
