import Bluetooth
import Headsets
import Reconnection

/// What the services of a link tell, and who is meant.
extension HeadsetAcquisition {
    /// Whether the headset may have waited for a peripheral to be unblocked. One that was never met may be any.
    func waits(forUnblockingOf peripheral: PeripheralIdentifier) -> Bool {
        if machine.identifiers.contains(peripheral) { return true }
        if case .waitingForOperator = machine.state { return machine.identifiers.isEmpty }
        return false
    }

    /// A decoder that has learnt nothing yet: what the headset said to the one before may not hold any more.
    func renewDecoder(_ profile: any HeadsetProfile) {
        decoder = profile.makeDecoder()
        toldStreams = nil
    }

    /// False where the address, which was never proven to be this headset's, is another one's.
    func mayTake(_ identifier: PeripheralIdentifier) -> Bool {
        if machine.identifiers.contains(identifier) { return !acquirer.isUsed(identifier, byAnotherThan: self) }
        return !acquirer.isTaken(identifier, by: self)
    }

    /// Some headsets are told apart by their characteristics only; all must have those that the profile needs.
    func servicesDiscovered(_ result: Result<GATTDatabase, CentralError>, _ attempt: Attempt, at now: MonotonicTime) {
        switch result {
        case .failure(let error): handle(.stepFailed(error, attempt: attempt), at: now)
        case .success(let database):
            if profile.isDiscriminatedByDatabase, machine.awaits(attempt) {
                linkProfile = profile.adapted(to: database)
                renewDecoder(linkProfile)
                machine.adapt(to: linkProfile)
            }
            if let absent = linkProfile.requiredCharacteristics.first(where: { database[$0] == nil }) {
                handle(.stepFailed(.noSuchCharacteristic(absent), attempt: attempt), at: now)
            } else {
                handle(.servicesDiscovered(attempt: attempt), at: now)
            }
        }
    }
}
