/// What two recordings of one headset, made by two machines or by two databases, have of the same samples.
///
/// They are the same where the headset itself says so: its random boot identifier is the same in an epoch of both, and its
/// counter, which did not wrap in either, gives the same index. What both have stays as it is.
package struct TwinComparison: Hashable, Sendable {
    /// The numbers of the recordings here; the first one is of the other database.
    package var recording: Int64
    package var other: Int64
    package var headset: String
    package var stream: String
    package var bank: Int
    /// Samples that both have.
    package var shared: Int64 = 0
    /// Of these, samples of which a value that both have is another one, and the first and the last n of the first recording.
    package var differing: Int64 = 0
    package var firstDiffering: Int64?
    package var lastDiffering: Int64?
    /// What the one that was recorded here got from the other one; nil where there was nothing that it could get.
    package var fill: TwinFill?
}

/// What a recording that was made here got of samples that it lacked.
package struct TwinFill: Hashable, Sendable {
    /// Its number.
    package var recording: Int64
    /// Rows that came in.
    package var rows: Int64 = 0
    /// Values of single channels that rows here lacked.
    package var values: Int64 = 0
    /// Gaps that are complete now.
    package var gapsClosed: Int64 = 0
    /// What its audit would find with them, for which nothing came in; nil where it holds.
    package var contradiction: String?

    /// True where nothing came in.
    package var isNothing: Bool { rows == 0 && values == 0 }
}
