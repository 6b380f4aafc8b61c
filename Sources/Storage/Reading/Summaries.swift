package import Bluetooth
package import Headsets

/// One line of a list of recordings. Rows are computed from extent and ledger; ``Store/audit(recording:)`` counts them.
package struct RecordingSummary: Codable, Hashable, Sendable {
    /// Where a recording stands.
    package enum State: String, Codable, Hashable, Sendable {
        /// Wanted, without a sample so far.
        case waiting
        /// Wanted, and has samples.
        case recording
        /// Stopped by the operator, not yet ended by the acquisition.
        case stopping
        /// Ended.
        case stopped
    }

    package var id: Int64
    package var headset: String
    package var model: String
    package var label: String?
    package var subject: String?
    package var task: String?
    package var state: State
    /// UTC nanoseconds since 1970: when it was asked for, its first and its last sample, when it ended; nil where unknown.
    package var requestedUnixNanoseconds: Int64?
    package var startUnixNanoseconds: Int64?
    package var endUnixNanoseconds: Int64?
    package var stoppedUnixNanoseconds: Int64?
    package var durationSeconds: Double?
    /// Sums over the streams.
    package var rows: Int64
    package var missing: Int64
    package var recovered: Int64
    package var gaps: Int64
    /// Those of ``missing`` and ``gaps`` that the headset by its design never sends (``Headsets/GapCause/notSent``).
    package var missingByDesign: Int64 = 0
    package var gapsByDesign: Int64 = 0
    /// The views that show the streams, such as `eeg_12`.
    package var views: [String]
}

/// One line of a list of gaps.
package struct GapSummary: Codable, Hashable, Sendable {
    package var stream: String
    package var bank: Int
    package var firstN: Int64
    /// nil while the end is not known.
    package var count: Int64?
    /// 0 for whole rows, else 1 ... 8.
    package var channel: Int
    package var channelName: String?
    package var cause: String
    /// The cause in words.
    package var meaning: String
    package var recovered: Int64
    /// UTC nanoseconds since 1970: when the first missing sample was due, when samples went on, when it was noticed.
    package var startUnixNanoseconds: Int64?
    package var endUnixNanoseconds: Int64?
    package var noticedUnixNanoseconds: Int64?
    /// `count` at the nominal sampling frequency, or what the clocks of two host boots say; nil while that is not known.
    package var durationSeconds: Double?
    /// How many samples are missing for good; nil while that is not known.
    package var missing: Int64?
    /// How the length is known: `counted`, `timed` or `unknown`.
    package var certainty: String
    /// Of a timed length: right within so many samples.
    package var uncertainty: Int64?
}

/// An instant as the database has it.
package struct StoredInstant: Hashable, Sendable {
    /// On the clock of its host boot.
    package var time: MonotonicTime
    /// True where that boot is the store's: only then ``time`` compares with now.
    package var isSameHostBoot: Bool
    /// UTC nanoseconds since 1970; nil where the boot has no clock offset.
    package var unixNanoseconds: Int64?
}

/// What the database knows last about a headset: what `eegsync status` shows.
package struct HeadsetActivity: Hashable, Sendable {
    package var id: HeadsetID
    package var name: String
    package var model: String
    package var serialNumber: String?
    /// False where all of its recordings were asked for on a clock that is no machine's: replays and simulations.
    package var isLive: Bool
    /// The wanted recording, or one that is being ended, or nil.
    package var recording: RecordingID?
    /// False where the operator has stopped ``recording``.
    package var isWanted: Bool
    /// When ``recording`` was asked for.
    package var requested: StoredInstant?
    /// When its end was asked for; nil while it is wanted.
    package var stopRequested: StoredInstant?
    /// The connection state entered last, such as `streaming`; nil where nothing ever acquired.
    package var state: String?
    /// What is waited for; see ``ConnectionEventRecord/cause``. Nil also in what earlier versions have written: they had one
    /// sentence for a person in ``stateDetail``.
    package var stateCause: String?
    /// What the cause leaves open.
    package var stateDetail: String?
    package var stateEntered: StoredInstant?
    /// What the headset said last.
    package var condition: HeadsetStatus.Condition?
    package var statusOutcome: String?
    package var statusReported: StoredInstant?
    /// 0 ... 100 %, as reported last.
    package var batteryPercent: Double?
    package var batteryReported: StoredInstant?
    /// The streams of ``recording``.
    package var streams: [StreamActivity]
    /// What a person should know of its address.
    package var address = AddressActivity(candidates: [])
}

/// How a stream flows.
package struct StreamActivity: Hashable, Sendable {
    package var id: StreamID
    package var name: String
    package var bank: Int
    package var view: String
    /// Nominal, in hertz.
    package var samplingFrequency: Double
    /// Rows a second over the window that was asked for; 0 where nothing flows.
    package var rowsPerSecond: Double
    /// The last stored row, or nil.
    package var lastN: Int64?
    /// When it was taken; nil without rows or time map.
    package var lastSample: StoredInstant?
    package var rows: Int64
    package var missing: Int64
    package var recovered: Int64
    package var gaps: Int64
    /// Those of ``missing`` and ``gaps`` that the headset by its design never sends (``Headsets/GapCause/notSent``).
    package var missingByDesign: Int64 = 0
    package var gapsByDesign: Int64 = 0
    /// Where the gap begins whose end is not known, or nil.
    package var openGapFirstN: Int64?
    /// What the time map says at the last row; nil without one.
    package var times: StreamTimes?
    /// What shows now that a sample is missing: a ``Headsets/LossDetection``.
    package var lossDetection: String
    /// The part of the samples of the last ten minutes that was lost or damaged on the way, by the ledger, 0 ... 1; a sample
    /// that lacks some of its channels counts in part.
    package var lostFraction: Double
    /// The latest check of each channel that has one, in the order of the channels.
    package var signals: [SignalActivity]
}

/// What the present piece of a stream's time map says.
package struct StreamTimes: Hashable, Sendable {
    /// Between two samples.
    package var periodNanoseconds: Double
    /// The median of how late packets come against the map; nil where nothing was fitted.
    package var residualNanoseconds: Double?
    /// Within what the times are right; nil where an earlier version did not say.
    package var uncertaintyNanoseconds: Double?

    package init(periodNanoseconds: Double, residualNanoseconds: Double?, uncertaintyNanoseconds: Double?) {
        self.periodNanoseconds = periodNanoseconds
        self.residualNanoseconds = residualNanoseconds
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }
}

/// What the signal of a channel looked like last.
package struct SignalActivity: Hashable, Sendable {
    /// The channel's name.
    package var channel: String
    /// The channel's unit.
    package var unit: String
    package var check: SignalCheckRecord
    /// How long ago the last sample that was looked at was taken, counted in samples of the stream, in seconds.
    package var ageSeconds: Double
}

/// How much room the database takes and has.
package struct DatabaseSize: Codable, Hashable, Sendable {
    /// The file with its write-ahead log.
    package var bytes: Int64
    /// What is free on its file system; nil for a database in memory, or where it is not known.
    package var freeBytes: Int64?
    /// How much of that is kept free.
    package var reservedBytes: Int64 = 0

    /// What may be filled; nil where it is not known.
    package var usableBytes: Int64? { freeBytes.map { max(0, $0 - reservedBytes) } }
}
