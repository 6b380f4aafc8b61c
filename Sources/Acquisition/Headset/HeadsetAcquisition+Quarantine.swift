import Bluetooth
import Headsets
import Reconnection
import Storage

/// One headset that breaks a rule is let go alone, and the others lose nothing.
extension HeadsetAcquisition {
    /// Lets the headset go until a person says so. The recording stays open; so does a gap that names the cause.
    func quarantine(_ reason: QuarantineReason, at now: MonotonicTime) {
        guard quarantine == nil, !hasEnded else { return }
        quarantine = reason
        recorded.endLinkInQuarantine(at: now)
        handle(.stop(.quarantined), at: now)
    }

    /// Why what a person has configured cannot go on with what was recorded under the name of the headset; nil where it can.
    static func contradiction(demanded: String?, stored: String?) -> QuarantineReason? {
        guard let demanded, let stored, demanded != stored else { return nil }
        return .otherSerialNumber(stored: stored)
    }

    /// A person demands a serial number that was not demanded before: another headset than the one that was recorded is let go.
    ///
    /// - Returns: true where nothing is known of the one before, and the headset is to begin anew with the new one.
    func follow(demanded: String?, at now: MonotonicTime) -> Bool {
        guard let demanded, demanded != machine.identityProof, quarantine == nil, !isFinishing else { return false }
        guard let reason = Self.contradiction(demanded: demanded, stored: storedProof) else { return true }
        quarantine(reason, at: now)
        return false
    }

    /// The database refused what a batch held of this headset. What is in memory follows rows that were never stored.
    func refuse(_ error: StorageError, at now: MonotonicTime) {
        recorded.discard()
        records = HeadsetRecords()
        hasEnded = false
        // A recording that was being ended is ended from what the database has, unless that was just refused.
        if isFinishing, !isResumedToEnd { isReleased = true }
        quarantine(.refusedByDatabase(reason: error.refusal), at: now)
    }

    /// The recording has streams that an earlier version has believed, or is another headset's: nothing is connected for it.
    func beginQuarantined(at now: MonotonicTime) {
        recorded.openAbsence(cause: .quarantined, at: now)
        for stream in recorded.unusable { records.append(.quarantine(QuarantineRecord(stream: stream, at: now))) }
        handle(.stop(.quarantined), at: now)
    }
}

extension StorageError {
    /// What was refused, without the statement that was.
    fileprivate var refusal: String {
        guard case .constraint(let detail) = self else { return cause }
        let parts = detail.split(separator: " - while executing", maxSplits: 1)
        return String((parts.first ?? "").prefix(200))
    }
}
