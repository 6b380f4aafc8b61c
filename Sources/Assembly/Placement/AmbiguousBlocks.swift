import Bluetooth
import Headsets

/// Live blocks whose n is ambiguous: the time says that the counter may have wrapped unseen.
///
/// A Ganglion's counter wraps within a second. After a pause it shows how much was lost only up to whole wraps; the time of
/// arrival shows the rest, but a block may have waited in a queue for longer than one. So blocks are held until the queue has
/// run empty: the smallest lateness is that of a block that did not wait, and what is left of it are whole wraps.
///
/// Where the wraps lie depends on the queue. One that keeps the newest lost them before the first block that comes. One that
/// takes nothing more once it is full kept the oldest: its blocks go on where those before the pause ended, and the wraps lie
/// before the first one behind them, where the counter jumps. How late its own blocks are says nothing about wraps: they have
/// waited for as long as the pause.
struct AmbiguousBlocks: Sendable {
    /// Where the blocks do not go on as those before them.
    private struct Jump: Sendable {
        var entry: Int
        /// Of the first sample, if no wrap was missed.
        var index: Int64
        /// How many samples are missing there, whole wraps not counted.
        var length: Int64
        var arrival: MonotonicTime
        /// By how many samples the least late block from here on came after its time.
        var leastLateness = Int64.max
        /// What is missing, where the counter went forth.
        var hole: Range<Int64>?
        /// True where blocks behind it hold other values than those that were held at the same index: it went back for no
        /// block that has come late or twice.
        var isContradicted = false
        /// True where it lies behind the block before it; the first block, behind what came before all of them.
        var goesBack: Bool
    }

    /// After this time, what arrives has not waited in the queue that the pause has filled: radios and bluetoothd empty theirs
    /// within some connection intervals.
    static let queueLimit = Duration.milliseconds(300)
    /// Jumps that follow each other sooner are waited for no longer.
    private static let jumpLimit = Duration.milliseconds(1500)
    /// Blocks that come faster than they were sampled are held for so long at the most.
    private static let drainLimit = Duration.seconds(5)
    /// Packets that are lost besides are shorter than such a part of a wrap.
    private static let wrapPartOfLoss: Int64 = 16
    /// More blocks than these are not held: some 20 s of the fastest headset with such a counter.
    private static let countLimit = 2048
    /// More jumps than these are not kept: the shortest one makes room.
    private static let jumpCountLimit = 16
    /// Channels that come in packets of their own are so far behind the newest at the most, in samples.
    private static let spread: Int64 = 48

    /// The samples from one wrap of the counter to the next.
    private let wrap: Int64
    private let channelCount: Int
    private var entries: [Reception] = []
    /// Of each entry, its first sample.
    private var indexes: [Int64] = []
    private var firstArrival: MonotonicTime?
    private var latestArrival = MonotonicTime.boot
    /// True where the line by which blocks are late is that of a burst, which may have waited itself.
    private var isLineUncertain = false
    /// The latest block: its first sample, and by how many it came after its time.
    private var latest: (index: Int64, lateness: Int64) = (0, 0)
    /// The same of the first block, and the samples of its notification: a serial port's brings several blocks.
    private var firstLateness: Int64 = 0
    private var firstLength: Int64 = 0
    private var firstNotification: UInt64 = 0
    /// The same of blocks before it, ``queueLimit`` apart.
    private var marks: [(index: Int64, lateness: Int64, arrival: MonotonicTime)] = []
    /// The index after the latest block.
    private var latestEnd: Int64 = 0
    /// The index after the furthest sample that follows others.
    private var reach: Int64
    /// The index that continues the blocks so far, if no wrap was missed.
    private(set) var expectedIndex: Int64
    /// What lies between the first block and what came before a silence of the link; nil without one, and where the block goes
    /// back. None where it holds other channels of the latest instants.
    private var firstGap: Int64?
    /// The first block, and where the counter jumps behind it.
    private var jumps: [Jump] = []
    /// Where the blocks last went back behind ``reach``, until they come up to it again.
    private var back: (entry: Int, index: Int64, isJump: Bool, goesBack: Bool)?
    /// True where the block after those that are held jumps.
    private var endsInJump = false

    /// Begins to hold.
    ///
    /// - Parameters:
    ///   - wrap: the samples from one wrap of the counter to the next.
    ///   - expectedIndex: the index after the last one seen.
    ///   - channelCount: of the stream; a block may hold fewer.
    init(wrap: Int64, expectedIndex: Int64, channelCount: Int) {
        self.wrap = wrap
        self.channelCount = channelCount
        self.expectedIndex = expectedIndex
        reach = expectedIndex
    }

    // MARK: Holding

    /// Learns from the block that came after those that are held: no more wraps were missed before them than before it, and as
    /// many where nothing can have been missed between.
    mutating func learn(index: Int64, count: Int, lateness: Int64, at arrival: MonotonicTime) {
        endsInJump = !continues(index, end: index + Int64(count)) && !isPunctual
        note(lateness: lateness)
        let elapsed = index + lateness - latest.index - latest.lateness
        if !Self.isAmbiguous(lateness: elapsed, wrap: wrap) { latestArrival = arrival }
    }

    /// Holds a block.
    ///
    /// - Parameters:
    ///   - index: of its first sample, nearest to ``expectedIndex``.
    ///   - lateness: by how many samples it came after its time, if no wrap was missed.
    ///   - isAfterSilence: true where the link was silent before it for so long that a wrap may have been missed, or waited.
    ///   - isLineUncertain: true where the line behind that rests on what may have waited itself.
    mutating func append(
        _ received: ReceivedBlock, index: Int64, lateness: Int64, isAfterSilence: Bool, isLineUncertain: Bool
    ) {
        self.isLineUncertain = self.isLineUncertain || isLineUncertain
        let end = index + Int64(received.block.instantCount)
        if firstArrival == nil {
            // The latest instants once more, or other channels of them, are no jump.
            let length = min(abs(index - reach), abs(end - reach))
            (firstLateness, firstLength) = (lateness, end - index)
            // Other channels of the latest instants go on, too.
            let isRest = end == reach && received.block.channelCount < channelCount
            firstGap = isAfterSilence && (isRest || index >= reach) ? (isRest ? 0 : index - reach) : nil
            firstNotification = received.notification
            let goesBack = received.block.channelCount < channelCount ? end < reach : index < reach
            jumps = [Jump(entry: 0, index: index, length: length, arrival: received.arrival, goesBack: goesBack)]
        } else {
            noteJump(before: received, index: index, end: end)
            if received.notification == firstNotification, index == latestEnd { firstLength += end - index }
        }
        firstArrival = firstArrival ?? received.arrival
        latestArrival = received.arrival
        latest = (index, lateness)
        if marks.last.map({ received.arrival - $0.arrival >= Self.queueLimit }) ?? true {
            marks = marks.suffix(1) + [(index, lateness, received.arrival)]
        }
        latestEnd = end
        reach = max(reach, end)
        note(lateness: lateness)
        expectedIndex = max(expectedIndex, end)
        indexes.append(index)
        entries.append(.block(received.copied))
    }

    /// Holds what the headset says that it never sends.
    mutating func append(unsent counter: UInt32, count: Int, index: Int64, at now: MonotonicTime) {
        let end = index + Int64(count)
        if index == reach { reach = end }
        if index == latestEnd { latestEnd = end }
        expectedIndex = max(expectedIndex, end)
        indexes.append(index)
        entries.append(.unsent(counter: counter, count: count, at: now))
    }

    private mutating func note(lateness: Int64) {
        for position in jumps.indices { jumps[position].leastLateness = min(jumps[position].leastLateness, lateness) }
    }

    /// True where a block goes on as those before it, or holds other channels of their instants.
    private func continues(_ index: Int64, end: Int64) -> Bool { index == reach || index == latestEnd || end == reach }

    /// A block that does not go on where the one before it ended lies behind a loss, unless it has overtaken others, is late,
    /// or came twice.
    private mutating func noteJump(before received: ReceivedBlock, index: Int64, end: Int64) {
        noteReturn(of: received, index: index, end: end)
        if continues(index, end: end) {
            // What lay before has come late, or twice: the counter went on as it was.
            let isLate = jumps.last.map { $0.entry > 0 && $0.hole == nil && !$0.isContradicted } ?? false
            if index == reach, latestEnd != reach, isLate { jumps.removeLast() }
            return
        }
        if fillsHole(index..<end) || isRepeated(received, index: index) { return }
        if received.block.channelCount < channelCount, index < reach, index >= reach - Self.spread { return }
        addJump(at: entries.count, index: index, arrival: received.arrival, goesBack: index < latestEnd)
    }

    private mutating func addJump(at entry: Int, index: Int64, arrival: MonotonicTime, goesBack: Bool) {
        if jumps.last?.entry == entry { return }
        if back?.entry == entry { back?.isJump = true }
        let isForth = index > reach
        if jumps.count > Self.jumpCountLimit,
            let shortest = jumps.indices.dropFirst().min(by: { jumps[$0].length < jumps[$1].length })
        {
            jumps.remove(at: shortest)
        }
        jumps.append(
            Jump(
                entry: entry, index: index, length: isForth ? index - reach : index - reach + wrap, arrival: arrival,
                hole: isForth ? reach..<index : nil, goesBack: goesBack))
    }

    /// Blocks that go back behind others, and hold other values than those, are neither late nor duplicates: they lie behind a
    /// loss, from the first of them on, even where that has found a hole by chance.
    private mutating func noteReturn(of received: ReceivedBlock, index: Int64, end: Int64) {
        guard index < reach else { return back = nil }
        // What follows, and other channels of the same instants, go back with them.
        let goesWithThem = index == latestEnd || back != nil && end == latestEnd
        if !goesWithThem { back = (entries.count, index, false, index < latestEnd) }
        guard let back, isContradicted(received, index: index, end: end) else { return }
        if !back.isJump {
            addJump(at: back.entry, index: back.index, arrival: received.arrival, goesBack: back.goesBack)
        }
        if let position = jumps.lastIndex(where: { $0.entry == back.entry }) { jumps[position].isContradicted = true }
    }

    /// True where a block was overtaken by others: it lies in the hole before them, which is no loss then.
    private mutating func fillsHole(_ range: Range<Int64>) -> Bool {
        guard let position = jumps.firstIndex(where: { $0.hole.map { $0.overlaps(range) } ?? false }) else { return false }
        jumps[position].length -= min(jumps[position].length, range.upperBound - range.lowerBound)
        if jumps[position].length == 0 { jumps.remove(at: position) }
        return true
    }

    /// True where a block is one of those that are held once more.
    private func isRepeated(_ received: ReceivedBlock, index: Int64) -> Bool {
        zip(indexes, entries).contains { heldIndex, entry in
            guard heldIndex == index, case .block(let held) = entry else { return false }
            return held.block.firstChannel == received.block.firstChannel && held.values == received.values
        }
    }

    /// True where another block that is held has other values at the instants of this one.
    private func isContradicted(_ received: ReceivedBlock, index: Int64, end: Int64) -> Bool {
        zip(indexes, entries).contains { heldIndex, entry in
            guard case .block(let held) = entry, held.block.firstChannel == received.block.firstChannel else { return false }
            let width = Int64(received.block.channelCount)
            let first = max(index, heldIndex)
            let common = first..<max(first, min(end, heldIndex + Int64(held.block.instantCount)))
            guard !common.isEmpty, held.block.channelCount == received.block.channelCount else { return false }
            func values(_ block: ReceivedBlock, _ blockFirst: Int64) -> ArraySlice<Int32> {
                let start = block.values.startIndex + Int((first - blockFirst) * width)
                return block.values[start..<(start + common.count * Int(width))]
            }
            return values(held, heldIndex) != values(received, index)
        }
    }

    // MARK: Deciding

    /// True where the first block continues what came before a silence of the link, but for a packet or two.
    private var goesOn: Bool { firstGap.map { $0 <= 2 * firstLength } ?? false }

    /// How many wraps were missed before a jump, as far as the time shows it.
    private func wrapsByTime(before jump: Jump) -> Int64 {
        guard jump.leastLateness < .max else { return 0 }
        return max(0, (jump.leastLateness + Self.doubt(of: wrap)) / wrap)
    }

    /// The jumps behind the first block before which wraps may have been missed, where that block continues what was before
    /// the silence. Else the queue kept the newest: what was missed lies before the first block, whatever is missing or out of
    /// order behind it.
    private var laterSplits: [Jump] { goesOn ? jumps.dropFirst().filter { wrapsByTime(before: $0) > 0 } : [] }

    /// True where blocks have come for so long that one was among them that did not wait.
    private var hasRunEmpty: Bool {
        guard let firstArrival else { return false }
        return latestArrival - firstArrival >= Self.queueLimit || entries.count >= Self.countLimit
    }

    /// True where the latest blocks came as they were sampled: those of a queue that runs empty come faster, and those that a
    /// radio holds back slower.
    private var isSteady: Bool {
        guard marks.count == 2, let mark = marks.first else { return false }
        let fall = mark.lateness - latest.lateness
        return 10 * abs(fall) <= latest.index - mark.index - fall
    }

    /// True where the blocks did not wait: they came for a while, as they were sampled.
    private var isPunctual: Bool { hasRunEmpty && isSteady }

    /// True where the blocks caught up: some have waited, and where those end is where wraps may lie.
    private var hasCaughtUp: Bool { jumps.first.map { firstLateness - $0.leastLateness > firstLength } ?? false }

    /// How many wraps were missed before the first block. Where its counter goes on after a silence as if nothing were missing,
    /// none unless the blocks show that they did not wait: of all losses one in a wrap's length does that. Without a silence
    /// packets have come that could not be decoded, as the differences of a Ganglion before its next whole value.
    private func wraps(before first: Jump) -> Int64 {
        if goesOn, first.length == 0, endsInJump || !isPunctual { return 0 }
        return wrapsByTime(before: first)
    }

    /// True where nothing more is to be learned at `now`.
    func isDecided(at now: MonotonicTime) -> Bool {
        guard let firstArrival else { return false }
        let candidates = goesOn ? jumps[...] : jumps.prefix(1)
        if entries.count >= Self.countLimit || candidates.allSatisfy({ wrapsByTime(before: $0) == 0 }) { return true }
        let splits = laterSplits
        let latestJump = splits.last?.arrival ?? firstArrival
        if now - latestJump < Self.queueLimit, now - firstArrival < Self.jumpLimit { return false }
        return !goesOn || !splits.isEmpty || isSteady || now - firstArrival >= Self.drainLimit
    }

    /// What to do with the entries, by what is known now.
    ///
    /// The wraps belong to the pause, where the first block does not continue what was before it. Where it does, the queue
    /// kept the oldest: the wraps lie where the counter first jumps by more than a packet or two that were lost besides.
    ///
    /// - Parameter lent: what another stream of the headset has missed; it decides where these blocks alone do not.
    func decided(with lent: MissedWraps?) -> Decision {
        let own = decidedAlone
        guard let lent, !own.isSure, let entry = beginning(of: lent) else { return own }
        let isJump = jumps.contains { $0.entry == entry && $0.length > 0 }
        let missed = lent.count * wrap
        let split = Split(position: entry, missed: missed, index: indexes[entry] + missed, isJump: isJump)
        return Decision(entries: entries, splits: [split], isSure: true)
    }

    /// The first entry behind wraps that another stream has missed, where these blocks show as many, and none elsewhere; nil
    /// where none is before them.
    private func beginning(of lent: MissedWraps) -> Int? {
        guard let first = jumps.first, wrapsByTime(before: first) == lent.count,
            let entry = entries.firstIndex(where: { $0.notification.map { $0 >= lent.notification } ?? false }), entry > 0
        else { return nil }
        return turns.allSatisfy { $0.entry == entry } ? entry : nil
    }

    private var decidedAlone: Decision {
        guard let first = jumps.first else { return Decision(entries: entries, splits: [], isSure: true) }
        let splits = laterSplits
        let shortLoss = wrap / Self.wrapPartOfLoss
        let furthest = splits.first { $0.length >= shortLoss } ?? splits.max { $0.length < $1.length }
        let isLater = (furthest?.length ?? 0) > first.length
        let jump = isLater ? furthest ?? first : first
        let missed = (isLater ? wrapsByTime(before: jump) : wraps(before: first)) * wrap
        // Another jump that came before, or is as long, may be the one. One of a packet or two may be a loss of its own.
        let others = splits.filter { $0.entry != jump.entry && (jump.length < shortLoss || $0.entry < jump.entry) }
        let lengths = others.map(\.length) + (isLater ? [first.length] : [])
        let isHidden = goesOn && jump.length == 0 && hasCaughtUp
        let isFar = jump.length >= (first.length == 0 ? min(shortLoss, 2 * firstLength + 1) : shortLoss)
        let isClear = !isHidden && (!isLater || isFar) && lengths.allSatisfy { 2 * $0 < jump.length }
        let (parts, isOnly) = self.splits(of: missed, at: isHidden ? interruption ?? jump : jump)
        let isKnown = hasRunEmpty && isClear && isOnly && !isLineUncertain
        return Decision(entries: entries, splits: parts, isSure: isKnown || parts.allSatisfy { $0.missed == 0 })
    }

    /// Where one instant alone lacks channels: a queue that has taken nothing for a while ends or goes on amid one. A turn of
    /// which the counter shows nothing lies there.
    private var interruption: Jump? {
        var present: [Int64: UInt8] = [:]
        for (index, entry) in zip(indexes, entries) {
            guard case .block(let held) = entry, held.block.instantCount == 1 else { continue }
            present[index, default: 0] |= UInt8(
                truncatingIfNeeded: (1 << held.block.channelCount - 1) << held.block.firstChannel)
        }
        let all = UInt8(truncatingIfNeeded: 1 << channelCount - 1)
        // The rest of the first one came before, and that of the last one has not come yet.
        let cut = present.filter { $0.key != indexes.first && $0.key != indexes.last && $0.value != all }
        guard cut.count == 1, let (index, channels) = cut.first else { return nil }
        let begins = channels & 1 == 0
        guard let entry = indexes.firstIndex(where: { begins ? $0 == index : $0 > index }) else { return nil }
        return Jump(entry: entry, index: indexes[entry], length: 0, arrival: .boot, goesBack: false)
    }

    /// The jumps at which the counter has come round, as what they go back to holds other values: what is lost behind such a
    /// one jumps forth.
    private var turns: [Jump] {
        var latest: Jump?
        return jumps.reduce(into: []) { found, jump in
            if jump.goesBack { latest = jump }
            let turn = latest ?? jump
            if jump.isContradicted, found.last?.entry != turn.entry { found.append(turn) }
        }
    }

    /// Where the wraps lie that were missed up to the blocks behind a jump.
    ///
    /// Blocks that go back and hold other values than those before them lie a wrap behind those at least, and before none are
    /// more wraps than the time shows. What came before them has waited for as long, in a queue that has kept the oldest: no
    /// more wraps than must be lie before the first of it.
    ///
    /// - Returns: where they lie, and whether they cannot lie otherwise among these.
    private func splits(of missed: Int64, at jump: Jump) -> (parts: [Split], isOnly: Bool) {
        let later = turns.filter { $0.entry > jump.entry && wrapsByTime(before: $0) > 0 }
        // What comes on a link comes behind what has come.
        let least: Int64 = jump.goesBack ? 1 : 0
        let count = Int64(later.count)
        let total = max(later.last.map(wrapsByTime) ?? missed / wrap, count == 0 ? 0 : least + count)
        let most = max(least, min(missed / wrap, total - count))
        var sum = count == 0 ? missed / wrap : jump.entry == 0 ? least : most
        func split(_ jump: Jump, wraps: Int64, isJump: Bool) -> Split {
            Split(position: jump.entry, missed: wraps * wrap, index: jump.index + sum * wrap, isJump: isJump)
        }
        var parts = [split(jump, wraps: sum, isJump: jump.length > 0)]
        for (position, turn) in later.enumerated() {
            let before = sum
            sum = max(before + 1, min(wrapsByTime(before: turn), total - (count - Int64(position) - 1)))
            parts.append(split(turn, wraps: sum - before, isJump: true))
        }
        return (parts, count == 0 || most == least && sum == total)
    }
}
