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

/// What an audit found. It ``holds`` if nothing contradicts the evidence that was stored with the samples.
package struct AuditReport: Codable, Hashable, Sendable {
    /// What a statement about a recording rests on.
    package enum Evidence: String, Codable, Hashable, Sendable, CaseIterable {
        /// Rows and ledger add up, and the ledger's parts agree.
        case arithmetic
        /// What rows, gaps, segments, epochs, arrivals and blocks say of first and last.
        case extent
        /// The numbers of samples against the host's clock and the headset's own.
        case clock
        /// Rows are those that were written, by their digests.
        case content
        /// The file is a sound database.
        case file
    }

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
        /// No number that no recording comes to, and of which nothing can be computed.
        case numbersAreInRange

        /// Segments follow each other without overlap and cover the rows' beginning.
        case segmentsTile
        /// Epochs begin in the order of their numbers.
        case epochsAscend
        /// Blocks, segments, epochs and arrivals say of first and last what rows and gaps say.
        case extentsAgree

        /// Times ascend inside and across segments.
        case timesAscend
        /// Arrivals lie where the time map says, within what it states.
        case arrivalsAgree
        /// Gaps whose length clocks have said are as long as the time between the samples around them, within what both state.
        case timedGapsAgree
        /// The headset's own clock goes on as n does.
        case deviceClockAgrees

        /// Each block of rows has the digest that was written with it.
        case blocksAreAsWritten
        /// Each block follows the one before it in its chain.
        case chainsAreWhole
        /// The database has what the witness beside it says that it had.
        case nothingIsOlder
        /// No row outside the blocks but those that an earlier version stored.
        case rowsAreInBlocks
        /// The rows that say what samples mean have the sum of digests that was written with them.
        case factsAreAsWritten
        /// Names, units, scales and offsets of channels are as declared, or as corrected.
        case channelsAreAsDeclared
        /// The views that people read through are those of this program.
        case viewsAreAsMade

        /// SQLite finds the pages of the file whole; the order of the keys of `sample` is not looked at.
        case fileIsWhole
        /// Every row of every table belongs to something that exists.
        case nothingOrphaned

        /// Which statement it is part of.
        package var evidence: Evidence {
            switch self {
            case .rowsAndGapsAddUp, .gapsDoNotOverlap, .recoveredMatchesRows, .noRowInOpenGap, .missingChannelsAreLedgered,
                .noValueBeyondChannels, .numbersAreInRange:
                .arithmetic
            case .segmentsTile, .epochsAscend, .extentsAgree: .extent
            case .timesAscend, .arrivalsAgree, .timedGapsAgree, .deviceClockAgrees: .clock
            case .blocksAreAsWritten, .chainsAreWhole, .nothingIsOlder, .rowsAreInBlocks, .factsAreAsWritten,
                .channelsAreAsDeclared, .viewsAreAsMade:
                .content
            case .fileIsWhole, .nothingOrphaned: .file
            }
        }
    }

    /// One offending row, block or piece of a file.
    package struct Finding: Codable, Hashable, Sendable {
        package var check: Check
        /// The stream, or nil where it belongs to none.
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
        /// How n goes with the clocks; nil where too few arrivals are kept.
        package var clock: ClockAgreement?
        /// The digests of the rows; nil where they were not looked at.
        package var content: ContentSums?
    }

    /// How the numbers of a stream's samples go with the clocks.
    package struct ClockAgreement: Codable, Hashable, Sendable {
        /// For how long samples are compared with the host's clock, in hours.
        package var hours: Double
        /// The samples' rate against the nominal one, in millionths: the headset's crystal.
        package var rateOffset: Double
        /// The largest difference of a whole hour's rate from ``rateOffset``, in millionths; nil below an hour.
        package var hourlyDeviation: Double?
        /// Between the first and the last hour's arrivals, by how much the time map and the host's clock drift apart, in
        /// millionths.
        package var disagreement: Double
        /// By how many seconds the earliest arrival comes before its sample's time, beyond what the time map states.
        package var excess: Double
        /// For how long samples are compared with the headset's own clock, in hours; nil where it sends none.
        package var deviceHours: Double?
        /// The largest difference of the headset's clock from n in ten minutes, in millionths.
        package var deviceDeviation: Double?
    }

    /// What digests say of a stream's rows.
    package struct ContentSums: Codable, Hashable, Sendable {
        /// Blocks that were compared.
        package var blocks = 0
        /// Rows in them.
        package var rows: Int64 = 0
        /// Rows that an earlier version stored without digest.
        package var undigested: Int64 = 0
        /// Digests of the last block of each chain, in hexadecimal, by the chain's name.
        package var heads: [String: String] = [:]
    }

    /// Which evidence was looked at.
    package var checked: Set<Evidence> = []
    /// By recording and stream.
    package var streams: [StreamSums] = []
    /// The first offending rows: up to ``findingLimit`` of each check and stream.
    package var findings: [Finding] = []
    /// Corrections of channels and annotations that other programs have inserted: nothing says whether they are as written.
    package var unprotected: Int64 = 0
    /// How far it has looked.
    package var extent = AuditedExtent()

    /// How many offending rows are listed for each check and stream.
    package static let findingLimit = 10

    /// The report on a file in which nothing can be read.
    package static func damaged(_ detail: String) -> AuditReport {
        var report = AuditReport()
        report.checked = [.file]
        report.findings = [
            Finding(check: .fileIsWhole, streamID: nil, n: nil, detail: "the file cannot be read: \(detail)")
        ]
        return report
    }

    /// True where nothing was found.
    package var holds: Bool { findings.isEmpty }
}
