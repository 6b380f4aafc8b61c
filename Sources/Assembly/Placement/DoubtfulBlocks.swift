import Bluetooth
import Headsets

/// Live blocks whose counter does not go on where the one before them ended, until later ones show what happened: packets
/// were lost, the counter of the block was damaged, or the headset counts anew.
///
/// A counter is believed where the next one follows it. One that follows nothing was damaged. One that the elapsed time does
/// not bear out needs several followers, and then counts from somewhere else: an epoch of its own.
struct DoubtfulBlocks: Sendable {
    /// What a block is, by what is known now.
    enum Verdict: Hashable, Sendable {
        /// It goes on where the last one ended; what was held before it was damaged.
        case continues
        /// It is held.
        case held
        /// It lies before the last one, late or twice; what is held stays so.
        case behind
        /// What was held, and this block after it, are where their counters say.
        case believed
        /// The headset counts anew since the first block that is held.
        case restarted
    }

    /// How many blocks must follow one another for a count that time does not bear out.
    private static let followers = 3
    /// For so long they must: what a queue has held back comes at once.
    private static let period = Duration.milliseconds(200)
    /// More receptions are not held: a headset that repeats its latest count for ever must not fill the memory.
    private static let countLimit = 2048
    /// A notification that overtakes others is so far ahead at the most, in blocks.
    private static let reorder: Int64 = 4
    /// So many blocks in a row are a run.
    private static let runLength = 16
    /// Channels that come in packets of their own are so far behind the newest at the most, in samples.
    private static let spread: Int64 = 48

    private var entries: [Reception] = []
    private(set) var first: Int64 = 0
    private(set) var next: Int64 = 0
    /// Blocks that have advanced the count since the first that is held.
    private var advances = 0
    /// How many of those hold what was stored at their index.
    private var duplicates = 0
    private var isBorneOut = false
    private var began: MonotonicTime?
    /// True once a hole was left before it, for which it may stand.
    var isBehindHole = false

    var isEmpty: Bool { entries.isEmpty }

    /// The samples that the held blocks stand for.
    var length: Int64 { next - first }

    /// True where what is held is believed, should nothing follow any more.
    var isBelievedAlone: Bool { isBorneOut }

    /// Where the next block of what is held would begin; nil where nothing is.
    var nextIndex: Int64? { entries.isEmpty ? nil : next }

    /// The same where many blocks are held that go on with each other: no damage, and none that were overtaken.
    var runEnd: Int64? { advances >= Self.runLength ? nextIndex : nil }

    /// Judges a block, and holds it where it is doubtful.
    ///
    /// - Parameters:
    ///   - index: of its first sample, nearest to what is expected.
    ///   - heldIndex: the same, nearest to ``nextIndex``.
    ///   - expected: the index after the last one whose n is known.
    ///   - isBorneOut: whether the elapsed time bears the index out.
    ///   - isWhole: false for a block that holds some of the channels.
    ///   - isMissing: whether some of its samples are known to be missing.
    ///   - isDuplicate: whether it holds what was stored there a moment ago.
    mutating func judge(
        _ received: ReceivedBlock, index: Int64, heldIndex: Int64, expected: Int64, isBorneOut: Bool, isWhole: Bool,
        isMissing: Bool, isDuplicate: Bool
    ) -> Verdict {
        let count = Int64(received.block.instantCount)
        if index <= expected, index + count > expected { return .continues }
        if !isWhole, index < expected, index >= expected - Self.spread { return .continues }
        // What follows a doubtful count exactly bears it out, wherever the two lie beside what is expected: a count that began
        // at 0 is nearer to the samples behind as soon as it has come half a wrap.
        if !entries.isEmpty, !self.isBorneOut, heldIndex == next {
            return follow(received, end: heldIndex + count, isDuplicate: isDuplicate)
        }
        if index < expected, isMissing || isForward(of: expected) { return .behind }
        if !entries.isEmpty {
            // It lies before what is held, and in the hole: what is held stood for another count.
            let isBefore = first < expected || (isWhole ? index <= first : index < first)
            let isInHole = index > expected && index <= expected + length && isBefore
            if isInHole { return .continues }
            let reach = isWhole ? 0 : Self.spread
            // What lies behind is followed by what lies behind: beyond, the count goes on as it was.
            let isBeyond = first < expected && index >= expected
            let isClose = !isBeyond && heldIndex >= first - reach && heldIndex <= next + count * 2
            if isClose || (self.isBorneOut && isBorneOut && heldIndex >= next) {
                return follow(received, end: heldIndex + count, isDuplicate: isDuplicate)
            }
            // Behind a loss, what is held has overtaken this one: the two bear each other out.
            if self.isBorneOut, isBorneOut, heldIndex + count == first {
                return follow(received, end: heldIndex + count, isDuplicate: isDuplicate)
            }
        }
        // It follows neither: what was held before has no follower.
        entries = [.block(received.copied)]
        (first, next, advances, self.isBorneOut) = (index, index + count, 1, isBorneOut)
        duplicates = isDuplicate ? 1 : 0
        began = received.arrival
        return .held
    }

    /// True where something is held, beyond an index.
    private func isForward(of index: Int64) -> Bool { !entries.isEmpty && first >= index }

    private mutating func follow(_ received: ReceivedBlock, end: Int64, isDuplicate: Bool) -> Verdict {
        if entries.count < Self.countLimit || end > next { entries.append(.block(received.copied)) }
        if end > next {
            next = end
            advances += 1
            if isDuplicate { duplicates += 1 }
        }
        if self.isBorneOut { return .believed }
        guard advances >= Self.followers, let began, received.arrival - began >= Self.period else { return .held }
        return .restarted
    }

    /// True where what is held may merely have overtaken a block that ends at an index.
    func mayHaveOvertaken(_ end: Int64) -> Bool {
        isBorneOut && first >= end && first - end <= max(Self.spread, Self.reorder * length)
    }

    /// True where what is held goes on where a block ends that came behind no hole: it has overtaken that one.
    func hasOvertaken(_ end: Int64) -> Bool { first == end && !isBehindHole }

    /// True where what is held lies before an index: it came twice, or late.
    func isBehind(_ index: Int64) -> Bool { next <= index }

    /// True where the count went back, and has come up to an index again as it is sampled, block by block: the headset has
    /// begun to count anew so few samples behind. A long notification that comes twice, or a stall behind it, takes as much
    /// time: of its blocks most are duplicates, all but those that it cuts at its ends.
    func hasRisen(to index: Int64, at arrival: MonotonicTime, samplingFrequency: Double) -> Bool {
        guard let began, !isBorneOut, next == index, advances >= Self.followers, 2 * duplicates < advances else { return false }
        return (arrival - began).inSeconds * samplingFrequency >= Double(length) / 2
    }

    /// Holds what the headset says that it never sends, behind what is held.
    mutating func append(unsent counter: UInt32, count: Int, index: Int64, at now: MonotonicTime) {
        let end = index + Int64(count)
        if entries.count < Self.countLimit || end > next { entries.append(.unsent(counter: counter, count: count, at: now)) }
        next = max(next, end)
    }

    /// Hands over what is held, and forgets it.
    mutating func takeEntries() -> [Reception] {
        defer { self = DoubtfulBlocks() }
        return entries
    }
}
