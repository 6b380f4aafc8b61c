import Bluetooth

/// Blocks of which all came later than a link may keep them back.
struct LateBlocks: Hashable, Sendable {
    /// The first sample of the first one.
    var firstN: Int64
    /// By how many samples the least late one came after its time.
    var leastLateness: Int64
    /// When that came, by its last sample.
    var earliest: Arrival
}

/// What came late without end, in steps: each loss that nothing shows makes what is behind it later.
///
/// Of a step, and of all behind it, no block was less late than ``LateBlocks/leastLateness``: so many samples at the most are
/// missing before it. What comes less late again was not lost, but had waited.
struct LateRun: Hashable, Sendable {
    /// Ascending by first n and by lateness.
    private(set) var steps: [LateBlocks] = []

    /// Of more steps, the first ones are one, that is as late as the later of them.
    private static let limit = 16

    /// The next block, as late as it came.
    ///
    /// - Parameter backlog: samples of what a link keeps back: later by less is no other step.
    mutating func add(_ block: LateBlocks, backlog: Int64) {
        while let last = steps.last, block.leastLateness < last.leastLateness {
            // The step before holds all of it, unless the block is later than that by a step of its own.
            let before = steps.dropLast().last
            if let before, block.leastLateness <= before.leastLateness.addingClamped(backlog) {
                steps.removeLast()
                continue
            }
            steps[steps.count - 1].leastLateness = block.leastLateness
            steps[steps.count - 1].earliest = block.earliest
            return
        }
        guard let last = steps.last else { return steps.append(block) }
        if block.leastLateness > last.leastLateness.addingClamped(backlog) { steps.append(block) }
        guard steps.count > Self.limit else { return }
        steps[1].firstN = steps[0].firstN
        steps.removeFirst()
    }
}
