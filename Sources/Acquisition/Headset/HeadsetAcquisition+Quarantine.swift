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
        enqueue(.stop(.quarantined), at: now)
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

    /// The recording has streams that an earlier version has believed: nothing is connected for it.
    func beginQuarantined(at now: MonotonicTime) {
        for stream in recorded.unusable { records.append(.quarantine(QuarantineRecord(stream: stream, at: now))) }
        enqueue(.stop(.quarantined), at: now)
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
