public import Bluetooth
public import Headsets

/// Everything that one transaction writes. A batch is committed whole or not at all, so the audit holds after every commit.
///
/// Instants are on the host's `CLOCK_BOOTTIME` of the boot that the store was opened in.
public struct WriteBatch: Sendable {
    /// The batch's number, counted by the acquisition; comes back with the commit.
    public var number: UInt64
    /// The headsets that the batch is about, so that one whose part is refused can be told from the others.
    public var parts: [HeadsetPart] = []
    /// Streams that the batch is the first to mention; inserted before everything else.
    public var newStreams: [NewStream] = []
    /// Recordings whose first sample is in the batch, with the instant of that sample; later entries change nothing.
    public var startedRecordings: [RecordingChange] = []
    /// Recordings that have ended as the operator wished.
    public var stoppedRecordings: [RecordingChange] = []
    /// Epochs, inserted or updated by (stream, number).
    public var epochs: [EpochRecord] = []
    /// New sample rows.
    public var samples: [SampleRows] = []
    /// Channels of rows stored earlier that arrived late.
    public var fills: [ChannelFill] = []
    /// Changes of the gap ledger, in order; applied after the samples.
    public var ledger: [LedgerEntry] = []
    /// Segments of the time map, inserted or updated by (stream, first n).
    public var segments: [SegmentRecord] = []
    /// Evidence of the time map.
    public var arrivals: [ArrivalRecord] = []
    /// What tells losses in streams without counter, where that has changed.
    public var lossDetections: [LossDetectionRecord] = []
    public var annotations: [AnnotationRecord] = []
    public var statusReports: [StatusReportRecord] = []
    public var connectionAttempts: [ConnectionAttemptRecord] = []
    public var connectionEvents: [ConnectionEventRecord] = []
    /// Identifiers under which headsets were reached or failed to be.
    public var identifierUses: [IdentifierUse] = []
    /// What proves which headset it is, as read from it; stored once.
    public var identityProofs: [IdentityProofRecord] = []
    public var clockObservations: [ClockObservationRecord] = []
    public var clockOffsets: [ClockOffsetRecord] = []
    /// Preserved state, replaced by headset.
    public var preservedStates: [PreservedStateRecord] = []
    /// What the signals looked like.
    public var signalChecks: [SignalCheckRecord] = []
    /// What went over the air.
    public var captureChunks: [CaptureChunk] = []
    /// Captures that have ended.
    public var completedCaptures: [CaptureID] = []
    public var impedances: [ImpedanceRecord] = []
    /// Measurements of impedances that have ended.
    public var completedMeasurements: [ImpedanceMeasurementID] = []
    /// Streams of headsets that were quarantined where nothing could be placed any more: their gaps open.
    public var quarantines: [QuarantineRecord] = []

    /// Creates an empty batch.
    public init(number: UInt64) {
        self.number = number
    }

    /// The number of sample rows.
    public var rowCount: Int { samples.reduce(0) { $0 + $1.rowCount } }

    /// True where there is nothing to write.
    public var isEmpty: Bool {
        newStreams.isEmpty && startedRecordings.isEmpty && stoppedRecordings.isEmpty && epochs.isEmpty && samples.isEmpty
            && fills.isEmpty && ledger.isEmpty && segments.isEmpty && annotations.isEmpty && statusReports.isEmpty
            && connectionAttempts.isEmpty && connectionEvents.isEmpty && identifierUses.isEmpty && identityProofs.isEmpty
            && clockObservations.isEmpty && clockOffsets.isEmpty && preservedStates.isEmpty && signalChecks.isEmpty
            && captureChunks.isEmpty && completedCaptures.isEmpty && impedances.isEmpty && completedMeasurements.isEmpty
            && arrivals.isEmpty && quarantines.isEmpty && lossDetections.isEmpty
    }
}

/// A stream that is to be created.
public struct NewStream: Hashable, Sendable {
    public var id: StreamID
    public var recording: RecordingID
    /// The stream's place in the headset's list of streams.
    public var position: Int
    public var description: StreamDescription

    public init(id: StreamID, recording: RecordingID, position: Int, description: StreamDescription) {
        self.id = id
        self.recording = recording
        self.position = position
        self.description = description
    }
}

/// A recording that began or ended at an instant.
public struct RecordingChange: Hashable, Sendable {
    public var recording: RecordingID
    public var at: MonotonicTime

    public init(recording: RecordingID, at: MonotonicTime) {
        self.recording = recording
        self.at = at
    }
}

/// One run of a headset's counter on a stream: `n = firstN + (index - firstIndex)`, with the unwrapped sample index.
public struct EpochRecord: Hashable, Sendable {
    public var stream: StreamID
    /// From 0 in each stream.
    public var number: Int
    /// The headset's boot identifier; nil where the model has none.
    public var bootIdentifier: UInt32?
    /// The n of the sample with index ``firstIndex``.
    public var firstN: Int64
    /// The unwrapped index of the first sample of the epoch (as sent, or beyond the modulus after a wrap).
    public var firstIndex: Int64
    /// When the epoch was noticed.
    public var began: MonotonicTime

    public init(stream: StreamID, number: Int, bootIdentifier: UInt32?, firstN: Int64, firstIndex: Int64, began: MonotonicTime)
    {
        self.stream = stream
        self.number = number
        self.bootIdentifier = bootIdentifier
        self.firstN = firstN
        self.firstIndex = firstIndex
        self.began = began
    }
}

/// Consecutive new rows of one stream.
public struct SampleRows: Hashable, Sendable {
    public var stream: StreamID
    /// 1 ... 8.
    public var channelCount: Int
    /// The n of the first row; the others follow without a gap.
    public var firstN: Int64
    /// Raw values: row after row, `channelCount` values each.
    public var values: [Int32]
    /// Per row a bit set of the channels that are NULL (bit 0 = channel 1); empty where no channel of any row is missing.
    public var missingChannels: [UInt8]

    public init(stream: StreamID, channelCount: Int, firstN: Int64, values: [Int32], missingChannels: [UInt8] = []) {
        self.stream = stream
        self.channelCount = channelCount
        self.firstN = firstN
        self.values = values
        self.missingChannels = missingChannels
    }

    /// The number of rows.
    public var rowCount: Int { values.count / channelCount }
}

/// Values of one channel for rows that were stored without it.
public struct ChannelFill: Hashable, Sendable {
    public var stream: StreamID
    /// 1 ... 8.
    public var channel: Int
    public var firstN: Int64
    public var values: [Int32]

    public init(stream: StreamID, channel: Int, firstN: Int64, values: [Int32]) {
        self.stream = stream
        self.channel = channel
        self.firstN = firstN
        self.values = values
    }
}

/// One change of the gap ledger. A gap is known by its stream, first n and channel.
public enum LedgerEntry: Hashable, Sendable {
    /// Samples from n on are missing. `count` is nil while the end is not known; `channel` 0 means the whole row, 1 ... 8
    /// one channel of rows that are there.
    /// A `count` of 0 is that of a gap between two host boots: n goes on, and their clocks tell how long it was.
    case open(
        stream: StreamID, firstN: Int64, channel: Int, count: Int64?, cause: GapCause, noticed: MonotonicTime,
        certainty: GapCertainty = .unknown)
    /// The end of an open gap is known, or a gap has grown: `count` is never smaller than before.
    case close(stream: StreamID, firstN: Int64, channel: Int, count: Int64, certainty: GapCertainty = .counted)
    /// `count` further samples of the gap have arrived after all.
    case recover(stream: StreamID, firstN: Int64, channel: Int, count: Int64)
    /// Nothing was missing after all; the gap is removed.
    case withdraw(stream: StreamID, firstN: Int64, channel: Int)
}

/// One piece of a stream's time map: `boottime(n) = referenceTime + (n - referenceN) × period`, for `firstN ... lastN`.
public struct SegmentRecord: Hashable, Sendable {
    public var stream: StreamID
    public var firstN: Int64
    public var lastN: Int64
    public var epoch: Int
    public var referenceN: Int64
    public var referenceTime: MonotonicTime
    /// Nanoseconds between two samples, as fitted.
    public var periodNanoseconds: Double
    /// Median absolute deviation of the arrivals from the line, in nanoseconds; nil before there are enough.
    public var residualNanoseconds: Double?
    /// How many arrivals the fit rests on.
    public var observationCount: Int
    /// Within what the times of the segment's samples are right, but for the headset's constant delay; nil where an earlier
    /// version did not say.
    public var uncertaintyNanoseconds: Double?

    public init(
        stream: StreamID, firstN: Int64, lastN: Int64, epoch: Int, referenceN: Int64, referenceTime: MonotonicTime,
        periodNanoseconds: Double, residualNanoseconds: Double?, observationCount: Int, uncertaintyNanoseconds: Double? = nil
    ) {
        self.stream = stream
        self.firstN = firstN
        self.lastN = lastN
        self.epoch = epoch
        self.referenceN = referenceN
        self.referenceTime = referenceTime
        self.periodNanoseconds = periodNanoseconds
        self.residualNanoseconds = residualNanoseconds
        self.observationCount = observationCount
        self.uncertaintyNanoseconds = uncertaintyNanoseconds
    }
}

/// Evidence of the time map: the earliest arrival of about a second, from which anybody can compute the map anew.
public struct ArrivalRecord: Hashable, Sendable {
    public var stream: StreamID
    /// The sample that arrived: the last one of its packet.
    public var n: Int64
    /// When, in the host's boot in which it is stored.
    public var at: MonotonicTime
    /// The headset's own clock, where it came along.
    public var deviceTicks: UInt64?

    public init(stream: StreamID, n: Int64, at: MonotonicTime, deviceTicks: UInt64?) {
        self.stream = stream
        self.n = n
        self.at = at
        self.deviceTicks = deviceTicks
    }
}

/// Something marked in a recording: onset, duration, description (EDF+'s words).
public struct AnnotationRecord: Hashable, Sendable {
    public var recording: RecordingID
    public var onset: MonotonicTime
    public var durationSeconds: Double?
    public var description: String
    /// Who marked it: `operator`, `headset` or `eegsync`.
    public var source: String

    public init(recording: RecordingID, onset: MonotonicTime, durationSeconds: Double?, description: String, source: String) {
        self.recording = recording
        self.onset = onset
        self.durationSeconds = durationSeconds
        self.description = description
        self.source = source
    }
}

/// A headset's answer to a status query, and what was concluded from it.
public struct StatusReportRecord: Hashable, Sendable {
    public var headset: HeadsetID
    public var at: MonotonicTime
    /// The answer; nil where there was none in time.
    public var status: HeadsetStatus?
    /// What was concluded, such as `drain`, `headsetRestarted`, `noAnswer`.
    public var outcome: String

    public init(headset: HeadsetID, at: MonotonicTime, status: HeadsetStatus?, outcome: String) {
        self.headset = headset
        self.at = at
        self.status = status
        self.outcome = outcome
    }
}

/// One attempt to reach a headset through one layer, when it ended.
public struct ConnectionAttemptRecord: Hashable, Sendable {
    public var headset: HeadsetID
    /// `restoration`, `cachedIdentifier`, `serviceRetrieval` or `scan`.
    public var layer: String
    public var identifier: PeripheralIdentifier?
    public var began: MonotonicTime
    public var ended: MonotonicTime
    /// `streaming`, or what ended it, such as `silent`, `connectionTimedOut`.
    public var outcome: String
    /// What went wrong in words; nil for success.
    public var detail: String?

    public init(
        headset: HeadsetID, layer: String, identifier: PeripheralIdentifier?, began: MonotonicTime, ended: MonotonicTime,
        outcome: String, detail: String?
    ) {
        self.headset = headset
        self.layer = layer
        self.identifier = identifier
        self.began = began
        self.ended = ended
        self.outcome = outcome
        self.detail = detail
    }
}

/// A change of the connection's state.
public struct ConnectionEventRecord: Hashable, Sendable {
    public var headset: HeadsetID
    public var at: MonotonicTime
    /// The state that was entered, such as `streaming`, `backingOff`.
    public var state: String
    /// One sentence for a person: what happened, what is waited for.
    public var detail: String?

    public init(headset: HeadsetID, at: MonotonicTime, state: String, detail: String?) {
        self.headset = headset
        self.at = at
        self.state = state
        self.detail = detail
    }
}

/// An identifier under which a headset was proven to be reached, or failed to be.
public struct IdentifierUse: Hashable, Sendable {
    public var headset: HeadsetID
    public var identifier: PeripheralIdentifier
    public var at: MonotonicTime
    public var succeeded: Bool

    public init(headset: HeadsetID, identifier: PeripheralIdentifier, at: MonotonicTime, succeeded: Bool) {
        self.headset = headset
        self.identifier = identifier
        self.at = at
        self.succeeded = succeeded
    }
}

/// The serial number, or whatever else the headset proves its identity by.
public struct IdentityProofRecord: Hashable, Sendable {
    public var headset: HeadsetID
    public var proof: String

    public init(headset: HeadsetID, proof: String) {
        self.headset = headset
        self.proof = proof
    }
}

/// The headset's own clock beside the host's: an observation, not the truth.
public struct ClockObservationRecord: Hashable, Sendable {
    public var headset: HeadsetID
    public var bootIdentifier: UInt32?
    public var deviceTicks: UInt64
    public var tickFrequency: Double
    public var at: MonotonicTime

    public init(headset: HeadsetID, bootIdentifier: UInt32?, deviceTicks: UInt64, tickFrequency: Double, at: MonotonicTime) {
        self.headset = headset
        self.bootIdentifier = bootIdentifier
        self.deviceTicks = deviceTicks
        self.tickFrequency = tickFrequency
        self.at = at
    }
}

/// UTC minus `CLOCK_BOOTTIME`, when it was first seen or had stepped.
public struct ClockOffsetRecord: Hashable, Sendable {
    public var at: MonotonicTime
    /// Nanoseconds since 1970-01-01T00:00:00Z at boottime 0.
    public var offsetNanoseconds: Int64
    /// By how much the wall clock stepped against the previous record; 0 for the first.
    public var stepNanoseconds: Int64
    /// True where the kernel said that the clock was synchronised.
    public var isSynchronised: Bool

    public init(at: MonotonicTime, offsetNanoseconds: Int64, stepNanoseconds: Int64, isSynchronised: Bool) {
        self.at = at
        self.offsetNanoseconds = offsetNanoseconds
        self.stepNanoseconds = stepNanoseconds
        self.isSynchronised = isSynchronised
    }
}

/// What a machine wants to know again after the process died, as one JSON document a headset.
public struct PreservedStateRecord: Hashable, Sendable {
    public var headset: HeadsetID
    public var json: String
    public var at: MonotonicTime

    public init(headset: HeadsetID, json: String, at: MonotonicTime) {
        self.headset = headset
        self.json = json
        self.at = at
    }
}
