import Bluetooth
import Headsets
import Reconnection
import Storage

/// One headset that breaks a rule is let go alone, and the others lose nothing.
extension HeadsetAcquisition {
    /// Lets the headset go until a person says so. The recording stays open; so does a gap that tells the cause.
    func quarantine(_ reason: QuarantineReason, at now: MonotonicTime) {
        guard quarantine == nil, !hasEnded else { return }
        quarantine = reason
        for index in streams.indices { streams[index].endLink(cause: .quarantined, at: now) }
        tellMachine(.stop(.quarantined), at: now)
    }

    /// The database refused what a batch held of this headset. What is in memory follows rows that were never stored.
    func refuse(_ error: StorageError, at now: MonotonicTime) {
        streams.removeAll()
        retiredStreams.removeAll()
        memoryReaders.removeAll()
        latestArrivals.removeAll()
        acknowledgedN.removeAll()
        records = HeadsetRecords()
        hasEnded = false
        // A recording that was being ended is ended from what the database has, unless that was just refused.
        if isFinishing, !isResumedToEnd { isReleased = true }
        quarantine(.refusedByDatabase(reason: error.refusal), at: now)
    }

    /// The recording has streams that an earlier version has believed: nothing is connected for it.
    func beginQuarantined(at now: MonotonicTime) {
        records.quarantine = QuarantineRecord(streams: quarantinedStreams, at: now)
        tellMachine(.stop(.quarantined), at: now)
    }

    /// Checks what a headset says that it sends, before anything is computed from it.
    ///
    /// - Parameter described: its streams.
    func admit(_ described: [StreamDescription], at now: MonotonicTime) throws(QuarantineReason) {
        do throws(StreamDescriptionError) {
            try StreamDescription.check(described)
        } catch {
            throw .description(error)
        }
        guard !streams.isEmpty else { return }
        let new = described.enumerated().count { position, description in
            !streams.contains { $0.position == position && $0.hasShape(of: description) }
        }
        guard new > 0 else { return }
        let limits = acquirer.limits
        guard furtherStreamCount + new <= limits.furtherStreamLimit else {
            throw .tooManyStreams(limit: limits.furtherStreamLimit)
        }
        changes.removeAll { now - $0 >= limits.changePeriod }
        guard changes.count < limits.changeLimit else { throw .changesTooOften }
        changes.append(now)
        furtherStreamCount += new
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
