package import Bluetooth
package import Headsets
package import Reconnection
package import Storage

/// A headset that the operator has configured.
package struct KnownHeadset: Sendable {
    /// Its name; recordings refer to it.
    package var name: String
    /// The profile of its model.
    package var profile: any HeadsetProfile
    /// Addresses that a person knows; tried after those under which the headset was reached before.
    package var identifiers: [PeripheralIdentifier]
    /// The serial number that a person demands; nil keeps to the first headset of the model that was found.
    package var identityProof: String?
    /// What is done about addresses that nothing proves to be the headset's.
    package var adoption: Adoption
    /// Services by which it advertises in pairing mode, beyond those of its model.
    package var pairingServices: [BluetoothUUID]
    /// What a person calls the EEG channels; nil for the profile's own names.
    package var montage: Montage?
    /// What a person has chosen about it, as the facts of its links say it.
    package var facts: LinkFacts

    /// Creates a known headset.
    package init(
        name: String, profile: any HeadsetProfile, identifiers: [PeripheralIdentifier] = [], identityProof: String? = nil,
        adoption: Adoption = Adoption(), pairingServices: [BluetoothUUID] = [], montage: Montage? = nil,
        facts: LinkFacts = LinkFacts()
    ) {
        self.facts = facts
        self.adoption = adoption
        self.pairingServices = pairingServices
        self.name = name
        self.profile = profile
        self.identifiers = identifiers
        self.identityProof = identityProof
        self.montage = montage
    }

    /// What stands for a headset that nobody has configured, where its recording is merely to be ended: nothing is connected
    /// for it, so that any profile will do.
    static func unnamed(_ recording: OpenRecording) -> KnownHeadset {
        let profile: any HeadsetProfile =
            HeadsetCatalog.builtIn.profiles.first { $0.model == recording.model } ?? BufferedEEGProfile()
        return KnownHeadset(name: recording.headsetName, profile: profile)
    }

    /// Which advertisements are taken for the headset's.
    var scanFilter: ScanFilter { profile.recognition.scanFilter.union(ScanFilter(serviceUUIDs: pairingServices)) }

    /// True where an open recording is this headset's.
    package func matches(_ recording: OpenRecording) -> Bool {
        recording.headsetName == name && recording.model == profile.model
    }

    /// The addresses that a person knows beyond those under which the headset was reached: an address that was reached with
    /// one type does not exist with the other.
    func furtherIdentifiers(beyond reached: [PeripheralIdentifier]) -> [PeripheralIdentifier] {
        identifiers.filter { named in
            !reached.contains { $0 == named || ($0.differsInTypeAlone(from: named) && identifiers.contains($0)) }
        }
    }
}
