package import Bluetooth
package import Storage

/// Something that the running acquisition reports to whoever logs.
package enum AcquisitionReport: Sendable {
    /// A headset's connection is in another phase, or waits for something else.
    case phaseChanged(AcquiredHeadset)
    /// It has changed more often than is reported one by one: the sum of the rest, and where it stands now.
    case phasesChanged(AcquiredHeadset, PhaseChanges)
    /// Samples of a headset flow again.
    case returned(StreamingReturn)
    /// A batch is on disk.
    case committed(number: UInt64, rows: Int, duration: Duration)
    /// A batch cannot be written. Reported once for each cause; the batch is kept and tried again.
    case writeFailed(StorageError, bufferedRows: Int)
    /// Batches can be written again.
    case writeRecovered(after: Duration, rows: Int)
    /// The disk did not make safe what is written: headsets with a memory keep it until it is.
    case flushFailed(StorageError)
    /// What is written survives a power cut again.
    case flushRecovered(after: Duration)
    /// The spool takes nothing: commits are made as often as it would be filled. Reported once until it does again.
    case spoolFailed(StorageError)
    /// The radio hangs; `isRecovering` where it is switched off and on again.
    case radioHangs(isRecovering: Bool)
    /// No row can be buffered any more; what comes now goes to the gap ledger.
    case bufferFull(rows: Int)
    /// The operator's wishes cannot be read. Reported once for each cause.
    case readFailed(StorageError)
    /// A recording is wanted that no configured headset belongs to.
    case unknownHeadset(name: String, model: String)
    /// One of a headset's model was heard at an address that nothing proves to be the headset's. Reported once for each
    /// address.
    case unrecognisedCandidate(headset: String, PeripheralIdentifier)
    /// The headset streams at an address that was adopted, or no longer does.
    case addressChanged(headset: String, detail: String)
    /// The headset has another firmware than on its link before.
    case firmwareChanged(headset: String, from: String, to: String)
    /// Samples of a stream came once more on the link that has ended, with other values than those that are stored, and were
    /// dropped: one of the two has another n than its counter says.
    case contradicted(headset: String, stream: String, samples: Int64, firstN: Int64)
    /// Readers of the tap did not keep up and were dropped.
    ///
    /// - Parameter total: since the process began.
    case readersDropped(Int, total: UInt64)
    /// One sentence about everything.
    case summary(String)
    /// Reports that were not taken in time were dropped.
    case reportsDropped(Int)
}

/// A headset that is being acquired, as logs show it.
package struct AcquiredHeadset: Hashable, Sendable {
    /// Its name in the configuration.
    package var name: String
    /// The recording.
    package var recording: RecordingID
    /// Where its connection stands.
    package var phase: ConnectionPhase
    /// What exactly is waited for; nil where the phase says it all.
    package var cause: ConnectionCause?
    /// Since when.
    package var since: MonotonicTime
    /// How many attempts this process has made, the present one included.
    package var attempt: UInt64
}

/// Changes of a connection that were not reported one by one.
package struct PhaseChanges: Hashable, Sendable {
    /// How many.
    package var count: Int
    /// How many of them were returns to streaming.
    package var returns: Int
    /// Within what time.
    package var period: Duration
}

/// A headset whose samples flow again.
package struct StreamingReturn: Hashable, Sendable {
    /// Its name in the configuration.
    package var headset: String
    /// The recording.
    package var recording: RecordingID
    /// The layer that found the headset: `restoration`, `cachedIdentifier`, `serviceRetrieval` or `scan`.
    package var layer: String
    /// When the last live sample of the link before arrived; nil for the first link of a process.
    package var lastSample: MonotonicTime?
    /// When the first live sample arrived.
    package var firstSample: MonotonicTime
}
