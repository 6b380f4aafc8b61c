public import Bluetooth
import Reconnection
public import Storage

/// Something that the running acquisition tells the one place that logs.
public enum AcquisitionReport: Sendable {
    /// A headset's connection is in another phase, or waits for something else.
    case phaseChanged(AcquiredHeadset)
    /// Samples of a headset flow again; `layer` found it. The first of them arrived at `at`.
    case returned(headset: String, layer: String, at: MonotonicTime)
    /// A batch is on disk.
    case committed(number: UInt64, rows: Int, duration: Duration)
    /// A batch cannot be written. Told once for each cause; the batch is kept and tried again.
    case writeFailed(StorageError, bufferedRows: Int)
    /// Batches can be written again.
    case writeRecovered(after: Duration, rows: Int)
    /// The radio hangs; `isRecovering` where it is switched off and on again.
    case radioHangs(isRecovering: Bool)
    /// No row can be buffered any more; what comes now goes to the gap ledger.
    case bufferFull(rows: Int)
    /// The operator's wishes cannot be read. Told once for each cause.
    case readFailed(StorageError)
    /// A recording is wanted that no configured headset belongs to.
    case unknownHeadset(name: String, model: String)
    /// One sentence about everything.
    case summary(String)
    /// Reports that were not taken in time were dropped.
    case reportsDropped(Int)
}

/// A headset that is being acquired, as logs show it.
public struct AcquiredHeadset: Hashable, Sendable {
    /// Its name in the configuration.
    public var name: String
    /// The recording.
    public var recording: RecordingID
    /// Where its connection stands.
    public var phase: ConnectionPhase
    /// What exactly is waited for; nil where the phase says it all.
    public var detail: String?
    /// Since when.
    public var since: MonotonicTime
    /// How many attempts this process has made, the present one included.
    public var attempt: UInt64
}

extension Acquirer {
    /// What is being acquired.
    public var headsets: [AcquiredHeadset] {
        acquisitions.map { acquisition in
            AcquiredHeadset(
                name: acquisition.name, recording: acquisition.recording, phase: acquisition.phase,
                detail: acquisition.phaseDetail, since: acquisition.phaseSince,
                attempt: acquisition.machine.attempt.number & ((1 << Acquirer.attemptBits) - 1))
        }
    }
}
