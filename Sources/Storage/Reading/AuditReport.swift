/// What detects a loss in a stream, and how what is missing of it is known: the view `stream_certainty`.
public struct StreamCertainty: Codable, Hashable, Sendable {
    /// What tells now that a sample is missing: a ``Headsets/LossDetection``.
    public var lossDetection: String
    /// Missing samples that the headset's counter or its marks have counted.
    public var counted: Int64
    /// Missing samples that clocks have told, those between two host boots included, through which n does not count.
    public var timed: Int64
    /// The sum of within what each of these is right, in samples; nil where an earlier version did not say it of all.
    public var uncertainty: Int64?
    /// Missing samples of which it is not known how they are known.
    public var unknown: Int64
    /// Gaps whose length is not known yet.
    public var unknownGaps: Int64
}

/// What an audit found. It ``holds`` if every sample between the first and the last is stored or ledgered, exactly once.
public struct AuditReport: Codable, Hashable, Sendable {
    /// What an audit checks.
    public enum Check: String, Codable, Hashable, Sendable, CaseIterable {
        /// Rows + ledgered missing = last n - first n + 1.
        case rowsAndGapsAddUp
        /// No two gaps of one stream and channel overlap, and nothing follows an open one.
        case gapsDoNotOverlap
        /// `recovered` is the number of rows inside the gap.
        case recoveredMatchesRows
        /// A row at or after the start of a gap whose end is unknown.
        case noRowInOpenGap
        /// NULL channels are those of the ledger's channel gaps.
        case missingChannelsAreLedgered
        /// No value in a channel that the stream does not have.
        case noValueBeyondChannels
        /// Segments follow each other without overlap and cover the rows' beginning.
        case segmentsTile
        /// Times ascend inside and across segments.
        case timesAscend
        /// Epochs begin in the order of their numbers.
        case epochsAscend
        /// Every row of every table belongs to something that exists.
        case nothingOrphaned
    }

    /// One offending row.
    public struct Finding: Codable, Hashable, Sendable {
        public var check: Check
        /// The stream, or nil where the row belongs to none.
        public var streamID: Int64?
        /// Where in the stream, or nil.
        public var n: Int64?
        /// What is wrong, in words.
        public var detail: String
    }

    /// The sums of one stream.
    public struct StreamSums: Codable, Hashable, Sendable {
        public var recordingID: Int64
        public var streamID: Int64
        public var name: String
        public var bank: Int
        /// First and last n that a row or a closed gap covers; nil where the stream is empty.
        public var firstN: Int64?
        public var lastN: Int64?
        /// Rows, counted.
        public var rows: Int64
        /// Samples that the ledger says are missing.
        public var missing: Int64
        /// Samples that the ledger says arrived after all.
        public var recovered: Int64
        /// Where the gap begins whose end is not known yet, or nil.
        public var openGapFirstN: Int64?
        /// What tells that a sample is missing, and how what is missing is known.
        public var certainty: StreamCertainty
        /// `lastN - firstN + 1`.
        public var expected: Int64
        /// `expected - rows - missing`: 0 if the audit holds.
        public var residual: Int64 { expected - rows - missing }
    }

    /// By recording and stream.
    public var streams: [StreamSums] = []
    /// The first offending rows: up to ``findingLimit`` of each check and stream.
    public var findings: [Finding] = []

    /// How many offending rows are listed for each check and stream.
    public static let findingLimit = 10

    /// True where nothing was found.
    public var holds: Bool { findings.isEmpty }
}
