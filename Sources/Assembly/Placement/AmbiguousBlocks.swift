import Bluetooth
import Headsets

/// Live blocks whose n is ambiguous: the time says that the counter may have wrapped unseen.
///
/// A Ganglion's counter wraps within a second. After a pause it shows how much was lost only up to whole wraps; the time of
/// arrival shows the rest, but a block may have waited in a queue for longer than one. So blocks are held until the queue has
/// run empty: the smallest lateness is that of a block that did not wait, and what is left of it are whole wraps.
struct AmbiguousBlocks: Sendable {
    /// Where the missed wraps lie.
    struct Decision: Sendable {
        /// Everything that was held.
        var entries: [Reception]
        /// The position of the entry before which wraps were missed.
        var position: Int
        /// The samples of the missed wraps.
        var missed: Int64
        /// The index of that entry's first sample, missed wraps included.
        var index: Int64
        /// True where the counter jumps there; false where only the time shows that something is missing.
        var isJump: Bool
        /// False where the blocks ended before the queue had run empty: there may be wraps less.
        var isSure: Bool
    }

    /// After this time, what arrives has not waited in the queue that the pause has filled: radios and bluetoothd empty theirs
    /// within some connection intervals.
    private static let queueLimit = Duration.milliseconds(300)
    /// More blocks than these are not held: some 20 s of the fastest headset with such a counter.
    private static let countLimit = 2048

    /// The samples from one wrap of the counter to the next.
    private let wrap: Int64
    private var entries: [Reception] = []
    private var firstArrival: MonotonicTime?
    private var latestArrival = MonotonicTime.boot
    /// The first and the latest block: of the first sample, and by how many it came after its time.
    private var first: (index: Int64, lateness: Int64) = (0, 0)
    private var latest: (index: Int64, lateness: Int64) = (0, 0)
    /// The index that continues the blocks so far, if no wrap was missed.
    private(set) var expectedIndex: Int64
    /// True where the first block continues what came before a silence of the link.
    private var goesOn = false
    /// By how many samples the least late block came after its time.
    private var leastLateness = Int64.max
    /// The entry before which counters jump most, and by how much; the first of all if that is not in sequence.
    private var jump: (entry: Int, length: Int64, index: Int64) = (0, 0, 0)

    /// Begins to hold.
    ///
    /// - Parameters:
    ///   - wrap: the samples from one wrap of the counter to the next.
    ///   - expectedIndex: the index after the last one seen.
    init(wrap: Int64, expectedIndex: Int64) {
        self.wrap = wrap
        self.expectedIndex = expectedIndex
    }

    /// True where a block that is `lateness` samples late has waited, or a wrap of the counter was missed.
    static func isAmbiguous(lateness: Int64, wrap: Int64) -> Bool { lateness >= wrap - doubt(of: wrap) }

    /// By so much the lateness of a block that did not wait may be less than the wraps that were missed: the one before it was
    /// late, too, and the clock's rate is not known well at first.
    private static func doubt(of wrap: Int64) -> Int64 { wrap * 3 / 10 }

    /// How many wraps were missed, as far as the time shows it.
    private var wrapsByTime: Int64 {
        guard leastLateness < .max else { return 0 }
        return max(0, (leastLateness + Self.doubt(of: wrap)) / wrap)
    }

    /// True where a block was among them that did not wait.
    private var isSure: Bool {
        guard wrapsByTime > 0, let firstArrival else { return true }
        return latestArrival - firstArrival >= Self.queueLimit || entries.count >= Self.countLimit
    }

    /// How many wraps were missed. Blocks that end before it is known whether they waited have only waited where their counter
    /// goes on after a silence as if nothing were missing: of all losses one in a wrap's length does that. Without a silence
    /// packets have come that could not be decoded, as the differences of a Ganglion before its next whole value.
    private var wraps: Int64 { isSure || !goesOn || jump.length > 0 ? wrapsByTime : 0 }

    /// True where nothing more is to be learned at `now`.
    func isDecided(at now: MonotonicTime) -> Bool {
        guard let firstArrival else { return false }
        return wrapsByTime == 0 || now - firstArrival >= Self.queueLimit || entries.count >= Self.countLimit
    }

    /// Learns from the block that came after those that are held: no more wraps were missed before them than before it, and as
    /// many where nothing can have been missed between.
    mutating func learn(index: Int64, lateness: Int64, at arrival: MonotonicTime) {
        leastLateness = min(leastLateness, lateness)
        let elapsed = index + lateness - latest.index - latest.lateness
        if !Self.isAmbiguous(lateness: elapsed, wrap: wrap) { latestArrival = arrival }
    }

    /// Holds a block.
    ///
    /// - Parameters:
    ///   - index: of its first sample, nearest to ``expectedIndex``.
    ///   - lateness: by how many samples it came after its time, if no wrap was missed.
    ///   - isAfterSilence: true where the link was silent before it for so long that a wrap may have been missed, or waited.
    mutating func append(_ received: ReceivedBlock, index: Int64, lateness: Int64, isAfterSilence: Bool) {
        // The latest instants once more, or other channels of them, are no jump.
        let end = index + Int64(received.block.instantCount)
        let length = min(abs(index - expectedIndex), abs(end - expectedIndex))
        let isFirstJump = jump.entry == 0 && jump.length > 0
        if firstArrival == nil {
            goesOn = isAfterSilence && index == expectedIndex
            jump = (0, length, index)
            first = (index, lateness)
        } else if !isFirstJump, length > jump.length, haveWaited {
            jump = (entries.count, length, index)
        }
        firstArrival = firstArrival ?? received.arrival
        latestArrival = received.arrival
        latest = (index, lateness)
        leastLateness = min(leastLateness, lateness)
        expectedIndex = max(expectedIndex, end)
        entries.append(.block(received.copied))
    }

    /// True where the blocks so far came faster than they were sampled, as those of a queue that runs empty. What was missed
    /// lies before others, whatever is missing or out of order behind them.
    private var haveWaited: Bool { 2 * (first.lateness - latest.lateness) >= latest.index - first.index }

    /// Holds what the headset says that it never sends.
    mutating func append(unsent counter: UInt32, count: Int, index: Int64, at now: MonotonicTime) {
        expectedIndex = max(expectedIndex, index + Int64(count))
        entries.append(.unsent(counter: counter, count: count, at: now))
    }

    /// What to do with the entries, by what is known now.
    ///
    /// The wraps belong to the pause, where the first block does not continue what was before it. Where it does, the queue
    /// kept the oldest: the wraps lie where the counter jumps most.
    func decided() -> Decision {
        let missed = wraps * wrap
        return Decision(
            entries: entries, position: jump.entry, missed: missed, index: jump.index + missed, isJump: jump.length > 0,
            isSure: isSure)
    }
}
