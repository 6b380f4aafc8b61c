/// What detects a loss in a stream, and how what is missing of it is known: the view `stream_certainty`.
package struct StreamCertainty: Codable, Hashable, Sendable {
    /// What shows now that a sample is missing: a ``Headsets/LossDetection``.
    package var lossDetection: String
    /// Missing samples that the headset's counter or its marks have counted.
    package var counted: Int64
    /// Missing samples that clocks have shown, those between two host boots included, through which n does not count.
    package var timed: Int64
    /// The sum of within what each of these is right, in samples; nil where an earlier version did not say it of all.
    package var uncertainty: Int64?
    /// Missing samples of which it is not known how they are known.
    package var unknown: Int64
    /// Gaps whose length is not known yet.
    package var unknownGaps: Int64
}

/// What an audit found. It ``holds`` if every sample between the first and the last is stored or ledgered, exactly once.
package struct AuditReport: Codable, Hashable, Sendable {
    /// What an audit checks.
    package enum Check: String, Codable, Hashable, Sendable, CaseIterable {
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
    package struct Finding: Codable, Hashable, Sendable {
        package var check: Check
        /// The stream, or nil where the row belongs to none.
        package var streamID: Int64?
        /// Where in the stream, or nil.
        package var n: Int64?
        /// What is wrong, in words.
        package var detail: String
    }

    /// The sums of one stream.
    package struct StreamSums: Codable, Hashable, Sendable {
        package var recordingID: Int64
        package var streamID: Int64
        package var name: String
        package var bank: Int
        /// First and last n that a row or a closed gap covers; nil where the stream is empty.
        package var firstN: Int64?
        package var lastN: Int64?
        /// Rows, counted.
        package var rows: Int64
        /// Samples that the ledger says are missing.
        package var missing: Int64
        /// Samples that the ledger says arrived after all.
        package var recovered: Int64
        /// Where the gap begins whose end is not known yet, or nil.
        package var openGapFirstN: Int64?
        /// What shows that a sample is missing, and how what is missing is known.
        package var certainty: StreamCertainty
        /// `lastN - firstN + 1`.
        package var expected: Int64
        /// `expected - rows - missing`: 0 if the audit holds.
        package var residual: Int64 { expected - rows - missing }
    }

    /// By recording and stream.
    package var streams: [StreamSums] = []
    /// The first offending rows: up to ``findingLimit`` of each check and stream.
    package var findings: [Finding] = []

    /// How many offending rows are listed for each check and stream.
    package static let findingLimit = 10

    /// True where nothing was found.
    package var holds: Bool { findings.isEmpty }
}
