public import Bluetooth
public import Headsets

/// One line of a list of recordings. Rows are computed from extent and ledger; ``Store/audit(recording:)`` counts them.
public struct RecordingSummary: Codable, Hashable, Sendable {
    /// Where a recording stands.
    public enum State: String, Codable, Hashable, Sendable {
        /// Wanted, without a sample so far.
        case waiting
        /// Wanted, and has samples.
        case recording
        /// Stopped by the operator, not yet ended by the acquisition.
        case stopping
        /// Ended.
        case stopped
    }

    public var id: Int64
    public var headset: String
    public var model: String
    public var label: String?
    public var subject: String?
    public var task: String?
    public var state: State
    /// UTC nanoseconds since 1970: when it was asked for, its first and its last sample, when it ended; nil where unknown.
    public var requestedUnixNanoseconds: Int64?
    public var startUnixNanoseconds: Int64?
    public var endUnixNanoseconds: Int64?
    public var stoppedUnixNanoseconds: Int64?
    public var durationSeconds: Double?
    /// Sums over the streams.
    public var rows: Int64
    public var missing: Int64
    public var recovered: Int64
    public var gaps: Int64
    /// Those of ``missing`` and ``gaps`` that the headset by its design never sends (``Headsets/GapCause/notSent``).
    public var missingByDesign: Int64 = 0
    public var gapsByDesign: Int64 = 0
    /// The views that show the streams, such as `eeg_12`.
    public var views: [String]
}

/// One line of a list of gaps.
public struct GapSummary: Codable, Hashable, Sendable {
    public var stream: String
    public var bank: Int
    public var firstN: Int64
    /// nil while the end is not known.
    public var count: Int64?
    /// 0 for whole rows, else 1 ... 8.
    public var channel: Int
    public var channelName: String?
    public var cause: String
    /// The cause in words.
    public var meaning: String
    public var recovered: Int64
    /// UTC nanoseconds since 1970: when the first missing sample was due, when samples went on, when it was noticed.
    public var startUnixNanoseconds: Int64?
    public var endUnixNanoseconds: Int64?
    public var noticedUnixNanoseconds: Int64?
    /// `count` at the nominal sampling frequency, or what the clocks of two host boots say; nil while that is not known.
    public var durationSeconds: Double?
    /// How many samples are missing for good; nil while that is not known.
    public var missing: Int64?
    /// How the length is known: `counted`, `timed` or `unknown`.
    public var certainty: String
    /// Of a timed length: right within so many samples.
    public var uncertainty: Int64?
}

/// An instant as the database has it.
public struct StoredInstant: Hashable, Sendable {
    /// On the clock of its host boot.
    public var time: MonotonicTime
    /// True where that boot is the store's: only then ``time`` compares with now.
    public var isSameHostBoot: Bool
    /// UTC nanoseconds since 1970; nil where the boot has no clock offset.
    public var unixNanoseconds: Int64?
}

/// What the database knows last about a headset: what `eegsync status` shows.
public struct HeadsetActivity: Hashable, Sendable {
    public var id: HeadsetID
    public var name: String
    public var model: String
    public var serialNumber: String?
    /// False where all of its recordings were asked for on a clock that is no machine's: replays and simulations.
    public var isLive: Bool
    /// The wanted recording, or one that is being ended, or nil.
    public var recording: RecordingID?
    /// False where the operator has stopped ``recording``.
    public var isWanted: Bool
    /// The connection state entered last, such as `streaming`; nil where nothing ever acquired.
    public var state: String?
    /// What is waited for; see ``ConnectionEventRecord/cause``. Nil also in what earlier versions have written: they had one
    /// sentence for a person in ``stateDetail``.
    public var stateCause: String?
    /// What the cause leaves open.
    public var stateDetail: String?
    public var stateEntered: StoredInstant?
    /// What the headset said last.
    public var condition: HeadsetStatus.Condition?
    public var statusOutcome: String?
    public var statusReported: StoredInstant?
    /// 0 ... 100 %, as told last.
    public var batteryPercent: Double?
    public var batteryReported: StoredInstant?
    /// The streams of ``recording``.
    public var streams: [StreamActivity]
    /// What a person should know of its address.
    public var address = AddressActivity(candidates: [])
}

/// How a stream flows.
public struct StreamActivity: Hashable, Sendable {
    public var id: StreamID
    public var name: String
    public var bank: Int
    public var view: String
    /// Nominal, in hertz.
    public var samplingFrequency: Double
    /// Rows a second over the window that was asked for; 0 where nothing flows.
    public var rowsPerSecond: Double
    /// The last stored row, or nil.
    public var lastN: Int64?
    /// When it was taken; nil without rows or time map.
    public var lastSample: StoredInstant?
    public var rows: Int64
    public var missing: Int64
    public var recovered: Int64
    public var gaps: Int64
    /// Those of ``missing`` and ``gaps`` that the headset by its design never sends (``Headsets/GapCause/notSent``).
    public var missingByDesign: Int64 = 0
    public var gapsByDesign: Int64 = 0
    /// Where the gap begins whose end is not known, or nil.
    public var openGapFirstN: Int64?
    /// What the time map says at the last row; nil without one.
    public var times: StreamTimes?
    /// What tells now that a sample is missing: a ``Headsets/LossDetection``.
    public var lossDetection: String
    /// The part of the samples of the last ten minutes that was lost or damaged on the way, by the ledger, 0 ... 1; a sample
    /// that lacks some of its channels counts in part.
    public var lostFraction: Double
    /// The latest check of each channel that has one, in the order of the channels.
    public var signals: [SignalActivity]
}

/// What the present piece of a stream's time map says.
public struct StreamTimes: Hashable, Sendable {
    /// Between two samples.
    public var periodNanoseconds: Double
    /// The median of how late packets come against the map; nil where nothing was fitted.
    public var residualNanoseconds: Double?
    /// Within what the times are right; nil where an earlier version did not say.
    public var uncertaintyNanoseconds: Double?

    public init(periodNanoseconds: Double, residualNanoseconds: Double?, uncertaintyNanoseconds: Double?) {
        self.periodNanoseconds = periodNanoseconds
        self.residualNanoseconds = residualNanoseconds
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }
}

/// What the signal of a channel looked like last.
public struct SignalActivity: Hashable, Sendable {
    /// The channel's name.
    public var channel: String
    /// The channel's unit.
    public var unit: String
    public var check: SignalCheckRecord
    /// How long ago the last sample that was looked at was taken, counted in samples of the stream, in seconds.
    public var ageSeconds: Double
}

/// How much room the database takes and has.
public struct DatabaseSize: Codable, Hashable, Sendable {
    /// The file with its write-ahead log.
    public var bytes: Int64
    /// What is free on its file system; nil for a database in memory, or where it is not told.
    public var freeBytes: Int64?
}
