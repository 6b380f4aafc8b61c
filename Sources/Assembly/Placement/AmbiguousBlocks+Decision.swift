extension AmbiguousBlocks {
    /// True where a block that is `lateness` samples late has waited, or a wrap of the counter was missed.
    static func isAmbiguous(lateness: Int64, wrap: Int64) -> Bool { lateness >= wrap - doubt(of: wrap) }

    /// By so much the lateness of a block that did not wait may be less than the wraps that were missed: the one before it was
    /// late, too, and the clock's rate is not known well at first.
    static func doubt(of wrap: Int64) -> Int64 { wrap * 3 / 10 }

    /// Where the missed wraps lie.
    struct Decision: Sendable {
        /// Everything that was held.
        var entries: [Reception]
        /// Where wraps were missed, ascending: before one of them, and before each whose blocks contradict those before it.
        var splits: [Split]
        /// False where the blocks ended before the queue had run empty, or the wraps may lie elsewhere among them.
        var isSure: Bool

        /// The samples of all missed wraps.
        var missed: Int64 { splits.reduce(0) { $0 + $1.missed } }

        /// What other streams may take from it: wraps that surely lie before one entry; nil where there are none, or more
        /// than one such entry.
        func surelyMissed(wrap: Int64, _ samplingFrequency: Double) -> MissedWraps? {
            guard isSure, splits.count == 1, let split = splits.first, split.missed > 0,
                let notification = entries[split.position...].lazy.compactMap(\.notification).first
            else { return nil }
            return MissedWraps(
                notification: notification, count: split.missed / wrap, period: Double(wrap) / samplingFrequency)
        }
    }

    /// Wraps that were missed before one of the entries.
    struct Split: Sendable {
        /// The position of the entry.
        var position: Int
        /// The samples of the missed wraps.
        var missed: Int64
        /// The index of that entry's first sample, missed wraps included.
        var index: Int64
        /// True where the counter jumps there; false where only the time shows that something is missing.
        var isJump: Bool
    }
}
