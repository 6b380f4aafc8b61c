import GRDB

/// What a merge has done, or would do.
package struct MergeReport: Hashable, Sendable {
    /// In the order in which the other database has them.
    package var recordings: [MergedRecording] = []
    /// Recordings of one headset by two machines, as far as the headset's counter compares them, and what one got from the
    /// other.
    package var twins: [TwinComparison] = []

    /// True where nothing was written.
    package var isNothingNew: Bool {
        recordings.allSatisfy(\.isNothingNew) && twins.allSatisfy { $0.fill?.isNothing ?? true }
    }
    /// Samples that both have with different values.
    package var differing: Int64 {
        recordings.flatMap(\.streams).reduce(0) { $0 + $1.differing } + twins.reduce(0) { $0 + $1.differing }
    }
    /// Rows that stay in the other database, because nothing proves which samples they are.
    package var unproven: Int64 { recordings.flatMap(\.streams).reduce(0) { $0 + $1.unproven } }
}

/// What became of one recording of the other database.
package struct MergedRecording: Hashable, Sendable {
    /// How it was dealt with.
    package enum Outcome: String, Hashable, Sendable {
        /// It was not here, and was taken over as it is.
        case taken
        /// Both have it.
        case united
        /// It was deleted here, and stays so.
        case deleted
    }

    package var outcome: Outcome
    package var uuid: String
    /// Its number here; nil where it was deleted.
    package var number: Int64?
    /// Its number there.
    package var numberThere: Int64
    /// The name of its headset here.
    package var headset: String
    /// The headset's name there, where that is another one.
    package var headsetThere: String?
    /// True where the headset was not here.
    package var isNewHeadset = false
    package var streams: [MergedStream] = []
    /// Annotations that are new here.
    package var annotations: Int64 = 0
    /// Corrections that came in, by their keys here, and do not hold: what they correct was corrected or deleted here already.
    package var contradictedAnnotations: [Int64] = []
    /// Rows of other tables that are new here, or were changed.
    package var facts: Int64 = 0

    /// True where nothing was written.
    package var isNothingNew: Bool {
        outcome == .deleted || outcome == .united && annotations == 0 && facts == 0 && streams.allSatisfy(\.isNothingNew)
    }
}

/// What became of one stream.
package struct MergedStream: Hashable, Sendable {
    package var name: String
    package var bank: Int
    /// Rows that were not here.
    package var taken: Int64 = 0
    /// Values of single channels that rows here lacked.
    package var filled: Int64 = 0
    /// Rows that both have with the same values.
    package var equal: Int64 = 0
    /// Rows that both have with other values, and the first and the last of them.
    package var differing: Int64 = 0
    package var firstDiffering: Int64?
    package var lastDiffering: Int64?
    /// Of these, rows that were not kept aside before.
    package var keptAside: Int64 = 0
    /// Gaps that were open or incomplete and are neither any more.
    package var gapsClosed: Int64 = 0
    /// Rows from this n on are not proven to be the same samples; nil where all are.
    package var unprovenFrom: Int64?
    /// Rows that were left where they are for it.
    package var unproven: Int64 = 0
    /// Rows of ledger, times and checks that are new here, or were changed.
    package var facts: Int64 = 0

    init(_ row: Row) { (name, bank) = (row["name"], row["bank"]) }

    var isNothingNew: Bool { taken == 0 && filled == 0 && keptAside == 0 && gapsClosed == 0 && facts == 0 }
}
