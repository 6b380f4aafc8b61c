import Bluetooth
import Headsets
import Storage

/// Gives the blocks of one stream their place: every sample gets its n, is stored once, or is in the gap ledger.
///
/// Each n below ``nextN`` is settled: its row is written, or the ledger calls it missing. A block beyond `nextN` is new, what
/// lies between becomes a gap; a block below fills what is missing and is otherwise a duplicate.
struct StreamAssembler: Sendable {
    let id: StreamID
    let position: Int
    let description: StreamDescription

    /// The first n that is not settled.
    private(set) var nextN: Int64
    /// True once the first sample has its place.
    private(set) var hasSamples: Bool
    private(set) var epoch: EpochRecord?
    private(set) var timeMap: TimeMap?
    private(set) var missing = MissingSamples()
    /// By channel, 1 ... 8: rows that lack it.
    private(set) var missingChannels: [MissingSamples]
    /// Samples that arrived again and were dropped.
    private(set) var duplicates: Int64 = 0
    /// Rows settled as stored, and samples settled as missing, since the process began.
    private(set) var storedRows: Int64 = 0

    /// What is written next.
    var draft: StreamDraft
    /// Rows of instants whose packets have not all arrived.
    var partial: PartialRows
    private var openGap: OpenGap?
    /// The first n of the gap that a full buffer makes grow, and its end.
    private var overflowGap: Range<Int64>?
    private var linkStart: LinkStart?
    /// True from the beginning of a link to its end: only then samples have a place.
    private var isLinked = false
    /// The unwrapped index after the last one seen on this link.
    private var expectedIndex: Int64 = 0
    /// Samples known to be missing before the next ones, in a stream without counter.
    private var damagedBefore: Int64 = 0
    /// The last line of an earlier process, for placing what follows.
    private var earlierMap: EarlierMap?
    /// True until the time map has taken the first arrival of this process.
    private var needsNewSegment = true

    private struct OpenGap: Hashable, Sendable {
        var firstN: Int64
        var cause: GapCause
        /// Nil where an earlier process noticed it: the ledger knows when.
        var noticed: MonotonicTime?
    }

    /// Where an earlier process left the stream.
    private struct EarlierMap: Sendable {
        var segment: SegmentRecord?
        var isSameHostBoot: Bool
        var lastSampleUnixNanoseconds: Int64?
    }

    /// A stream that has no samples yet.
    init(id: StreamID, position: Int, description: StreamDescription) {
        self.id = id
        self.position = position
        self.description = description
        nextN = 0
        hasSamples = false
        draft = StreamDraft(stream: id, channelCount: description.channels.count)
        partial = PartialRows(channelCount: description.channels.count)
        missingChannels = Array(repeating: MissingSamples(), count: description.channels.count)
    }

    /// A stream as the database has it.
    init(resuming state: ResumeState.StreamState) {
        self.init(id: state.id, position: state.position, description: state.description)
        nextN = state.nextN
        hasSamples = state.hasSamples
        epoch = state.epoch
        for range in state.missing {
            missing.insert(
                MissingSamples.Run(firstN: range.firstN, end: range.firstN + range.count, gapFirstN: range.gapFirstN))
        }
        for range in state.missingChannels where (1...description.channels.count).contains(range.channel) {
            missingChannels[range.channel - 1].insert(
                MissingSamples.Run(firstN: range.firstN, end: range.firstN + range.count, gapFirstN: range.gapFirstN))
        }
        if let gap = state.openGap {
            openGap = OpenGap(firstN: gap.firstN, cause: state.openGapCause ?? .daemonDown, noticed: nil)
        }
        earlierMap = EarlierMap(
            segment: state.segment, isSameHostBoot: state.isSameHostBoot,
            lastSampleUnixNanoseconds: state.lastSampleUnixNanoseconds)
    }

    // MARK: Links

    /// Samples are expected on a new link; the next block tells where it stands.
    mutating func beginLink(_ start: LinkStart) {
        linkStart = start
        isLinked = true
        damagedBefore = 0
    }

    /// No samples are expected any longer: a gap opens, its end unknown.
    mutating func endLink(cause: GapCause, at now: MonotonicTime) {
        settlePartialRows(before: .max, at: now)
        settleDamage(at: now)
        linkStart = nil
        isLinked = false
        guard hasSamples, openGap == nil else { return }
        openGap = OpenGap(firstN: nextN, cause: cause, noticed: now)
        draft.ledger.open(firstN: nextN, channel: 0, count: nil, cause: cause, noticed: now)
    }

    /// The recording ends: an open gap ends with it, as long as the elapsed time says.
    mutating func endRecording(at now: MonotonicTime, unixNanoseconds: Int64?) {
        settlePartialRows(before: .max, at: now)
        settleDamage(at: now)
        guard let gap = openGap else { return }
        openGap = nil
        let count = max(0, predictedN(at: now, unixNanoseconds: unixNanoseconds) - gap.firstN)
        if count == 0 {
            draft.ledger.withdraw(firstN: gap.firstN, channel: 0)
        } else {
            draft.ledger.close(firstN: gap.firstN, channel: 0, count: count)
            missing.insert(MissingSamples.Run(firstN: gap.firstN, end: gap.firstN + count, gapFirstN: gap.firstN))
            nextN = gap.firstN + count
        }
    }

    // MARK: Blocks

    /// Takes a block.
    ///
    /// - Parameters:
    ///   - values: the block's values.
    ///   - arrival: when it was received.
    ///   - unixNanoseconds: UTC at `arrival`, for continuing after a restart of the host; nil if unknown.
    ///   - hasRoom: false where the buffer of samples is full; new samples then go to the ledger.
    mutating func take(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, unixNanoseconds: Int64?, hasRoom: Bool
    ) {
        guard block.instantCount > 0, block.channelCount > 0, block.firstChannel >= 0,
            block.firstChannel + block.channelCount <= description.channels.count,
            values.count == block.instantCount * block.channelCount
        else { return }
        guard var firstN = place(block, at: arrival, unixNanoseconds: unixNanoseconds) else {
            duplicates += Int64(block.instantCount)
            return
        }
        var (block, values) = (block, values)
        let end = firstN + Int64(block.instantCount)
        if let epoch, firstN < epoch.firstN {
            // Read from memory, and older than the recording: only what belongs to it is taken.
            let excess = Int(min(epoch.firstN - firstN, Int64(block.instantCount)))
            duplicates += Int64(excess)
            guard excess < block.instantCount else { return }
            values = values.dropFirst(excess * block.channelCount)
            block.instantCount -= excess
            firstN = epoch.firstN
        }
        if block.origin == .live {
            observe(end - 1, at: arrival)
        }
        if block.channelCount < description.channels.count {
            takePart(block, values, firstN: firstN, at: arrival, hasRoom: hasRoom)
        } else {
            if !partial.isEmpty, end > nextN { settlePartialRows(before: firstN, at: arrival) }
            takeRows(values, firstN: firstN, at: arrival, hasRoom: hasRoom)
        }
        timeMap?.extend(to: nextN - 1)
    }

    /// `count` samples of a stream without counter are missing before the next ones.
    mutating func damaged(count: Int) {
        damagedBefore += Int64(count)
    }

    /// The headset says that it cannot send samples with these indexes (as sent) any more.
    mutating func overwritten(from: UInt32, end: UInt32) {
        guard let epoch else { return }
        let first = n(of: unwrap(from, near: expectedIndex), in: epoch)
        let last = n(of: unwrap(end, near: expectedIndex), in: epoch)
        guard first < last else { return }
        missing.giveUp(first..<last)
        for channel in missingChannels.indices { missingChannels[channel].giveUp(first..<last) }
    }

    /// The headset's counter at sample n, as it would be sent; nil where n lies outside the present epoch.
    func counter(of n: Int64) -> UInt32? {
        guard let epoch, n >= epoch.firstN, description.samplesPerCount == 1 else { return nil }
        let index = epoch.firstIndex + (n - epoch.firstN)
        guard let modulus = description.counterModulus else { return nil }
        return UInt32(truncatingIfNeeded: index - modulus * floorDivide(index, modulus))
    }

    /// The first sample that may still be read from the headset's memory, with the end of its run; nil where there is none.
    func firstRecoverable() -> Range<Int64>? {
        guard let epoch else { return nil }
        let candidates =
            [missing.firstRecoverable(from: epoch.firstN)]
            + missingChannels.map { $0.firstRecoverable(from: epoch.firstN) }
        guard let run = candidates.compactMap({ $0 }).min(by: { $0.firstN < $1.firstN }) else { return nil }
        return run.firstN..<run.end
    }

    /// Every sample below this n is in a batch that was or is being taken, or cannot be had: what may be acknowledged to the
    /// headset after the batch's commit.
    var settledN: Int64 { min(firstRecoverable()?.lowerBound ?? .max, partial.firstN ?? .max, nextN) }

    /// True where the first recoverable run lies so close to the newest sample that its packet may merely be late.
    var hasFreshGap: Bool {
        guard let run = firstRecoverable() else { return false }
        return nextN - run.upperBound < Int64(description.samplingFrequency)
    }

    /// True once a block of the present link has told where the stream stands.
    var isPlaced: Bool { isLinked && linkStart == nil && epoch != nil }

    /// True where rows of both would have the same columns.
    func hasShape(of other: StreamDescription) -> Bool {
        description.channels == other.channels && description.samplingFrequency == other.samplingFrequency
            && description.bank == other.bank && description.counterModulus == other.counterModulus
            && description.samplesPerCount == other.samplesPerCount
    }

    /// The n that lies `count` samples after the one with the counter; nil where nothing is placed yet.
    func n(ofCounter counter: UInt32?, plus count: Int) -> Int64? {
        guard let epoch, let counter else { return nil }
        return n(of: unwrap(counter, near: expectedIndex), in: epoch) + Int64(count)
    }

    /// Moves everything that is to be written into a batch.
    mutating func move(into batch: inout WriteBatch) {
        if hasSamples, let segment = timeMap?.take() { draft.segments.append(segment) }
        draft.move(into: &batch)
    }

    /// Samples missing now.
    var missingCount: Int64 { missing.runs.reduce(0) { $0 + $1.end - $1.firstN } }

    /// Whole rows of which a packet never came are settled now.
    mutating func settlePartialRows(before n: Int64, at now: MonotonicTime) {
        for row in partial.take(before: n) { settle(row, at: now) }
    }
}

// MARK: - The place of a block

extension StreamAssembler {
    /// The n of the block's first sample; nil where the block belongs to another boot of the headset.
    private mutating func place(_ block: SampleBlock, at arrival: MonotonicTime, unixNanoseconds: Int64?) -> Int64? {
        guard isLinked else { return nil }
        if let start = linkStart {
            guard block.origin == .live else { return nil }
            linkStart = nil
            let isFirstOfStream = !hasSamples
            let blockN = beginSamples(block, start, at: arrival, unixNanoseconds: unixNanoseconds)
            // Where the stream goes on, the elapsed time has counted what was damaged before this block.
            if block.counter == nil, isFirstOfStream, damagedBefore > 0 {
                settleDamage(at: arrival)
                return nextN
            }
            damagedBefore = 0
            return blockN
        }
        guard let epoch else { return nil }
        if let boot = block.bootIdentifier, let known = epoch.bootIdentifier, boot != known { return nil }
        guard let counter = block.counter else {
            // Without a counter, a channel that the waiting row has already tells that the next instant has come.
            if damagedBefore > 0 || partial.holdsAny(of: block) { settlePartialRows(before: .max, at: arrival) }
            settleDamage(at: arrival)
            return nextN
        }
        let index = unwrap(counter, near: expectedIndex)
        if block.origin == .live { expectedIndex = max(expectedIndex, index + Int64(block.instantCount)) }
        return n(of: index, in: epoch)
    }

    /// Samples of a stream without counter that are known to be damaged are missing.
    private mutating func settleDamage(at now: MonotonicTime) {
        if hasSamples { addGap(nextN..<(nextN + damagedBefore), cause: .packetDamaged, at: now, isRecoverable: false) }
        damagedBefore = 0
    }

    /// The first block of a link: continues the epoch or begins one, and closes the gap.
    private mutating func beginSamples(
        _ block: SampleBlock, _ start: LinkStart, at arrival: MonotonicTime, unixNanoseconds: Int64?
    ) -> Int64? {
        let boot = block.bootIdentifier ?? start.bootIdentifier
        let blockN: Int64
        var oldestN: Int64?
        if let epoch, start.epochRule == .boot, epoch.bootIdentifier == boot, boot != nil, let counter = block.counter {
            let predicted = predictedN(at: arrival, unixNanoseconds: unixNanoseconds)
            let index = unwrap(counter, near: epoch.firstIndex + (predicted - epoch.firstN))
            expectedIndex = index + Int64(block.instantCount)
            blockN = max(n(of: index, in: epoch), epoch.firstN)
            if let buffered = start.buffered { oldestN = n(of: unwrap(buffered.oldest, near: index), in: epoch) }
            if needsNewSegment { beginSegment(epoch: epoch.number, firstN: nextN, referenceN: blockN, at: arrival) }
        } else {
            let isRestart = epoch != nil && start.epochRule == .boot
            blockN = beginEpoch(block, start, boot: boot, at: arrival, unixNanoseconds: unixNanoseconds)
            oldestN = start.buffered == nil || !isRestart ? nil : epoch?.firstN
            if isRestart, let first = epoch?.firstN {
                settleAbsence(
                    until: blockN, recoverableFrom: oldestN ?? blockN, lostCause: .headsetRestarted,
                    cause: .headsetRestarted, at: arrival)
                beginSegment(epoch: epoch?.number ?? 0, firstN: min(first, blockN), referenceN: blockN, at: arrival)
                hasSamples = true
                return blockN
            }
            beginSegment(epoch: epoch?.number ?? 0, firstN: blockN, referenceN: blockN, at: arrival)
        }
        let cause = openGap?.cause ?? start.absenceCause
        // A headset that did not tell what it holds is asked for everything; it then says what it cannot send.
        let recoverable = start.hasMemory ? max(nextN, oldestN ?? nextN) : blockN
        settleAbsence(
            until: blockN, recoverableFrom: recoverable, lostCause: start.hasMemory ? .bufferOverrun : cause,
            cause: cause, at: arrival)
        hasSamples = true
        return blockN
    }

    /// Everything from ``nextN`` to `end` is missing: what lies before `recoverableFrom` for good, the rest may be drained.
    private mutating func settleAbsence(
        until end: Int64, recoverableFrom: Int64, lostCause: GapCause, cause: GapCause, at now: MonotonicTime
    ) {
        let gap = openGap
        openGap = nil
        let first = nextN
        let isMissing = hasSamples && end > first
        let split = min(end, max(first, recoverableFrom))
        let continued = isMissing && gap?.firstN == first && gap?.cause == (split > first ? lostCause : cause)
        if let gap, !continued { draft.ledger.withdraw(firstN: gap.firstN, channel: 0) }
        guard isMissing else { return }
        let noticed = gap?.noticed ?? now
        addGap(first..<split, cause: lostCause, at: noticed, isRecoverable: false, isOpened: continued)
        addGap(split..<end, cause: cause, at: noticed, isOpened: continued && split == first)
    }

    /// A new run of the counter: its first n follows from the time that has passed, and never goes back.
    private mutating func beginEpoch(
        _ block: SampleBlock, _ start: LinkStart, boot: UInt32?, at arrival: MonotonicTime, unixNanoseconds: Int64?
    ) -> Int64 {
        let blockIndex = Int64(block.counter ?? 0) * Int64(description.samplesPerCount)
        var firstIndex = blockIndex
        if hasSamples, epoch?.bootIdentifier != nil, let buffered = start.buffered {
            firstIndex = min(blockIndex, unwrap(buffered.oldest, near: blockIndex))
        }
        let lastOfBlock = predictedN(at: arrival, unixNanoseconds: unixNanoseconds)
        let predicted = lastOfBlock - Int64(block.instantCount - 1) - (blockIndex - firstIndex)
        let firstN = hasSamples ? max(nextN, predicted) : 0
        let began = EpochRecord(
            stream: id, number: epoch.map { $0.number + 1 } ?? 0, bootIdentifier: boot, firstN: firstN,
            firstIndex: firstIndex, began: arrival)
        epoch = began
        draft.epochs.append(began)
        // What an earlier boot still owed can never be read again.
        missing.giveUp(Int64.min..<firstN)
        for channel in missingChannels.indices { missingChannels[channel].giveUp(Int64.min..<firstN) }
        expectedIndex = blockIndex + Int64(block.instantCount)
        return firstN + (blockIndex - firstIndex)
    }

    private func n(of index: Int64, in epoch: EpochRecord) -> Int64 { epoch.firstN + (index - epoch.firstIndex) }

    /// The index nearest to `expected` whose counter is `counter`.
    private func unwrap(_ counter: UInt32, near expected: Int64) -> Int64 {
        let step = Int64(description.samplesPerCount)
        guard let modulus = description.counterModulus else { return Int64(counter) * step }
        let expectedCount = floorDivide(expected, step)
        let behind = expectedCount - Int64(counter)
        return (Int64(counter) + floorDivide(behind + modulus / 2, modulus) * modulus) * step
    }

    private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

// MARK: - Time

extension StreamAssembler {
    /// Where the stream stands at `now` by the time that has passed: by the line of this process, that of an earlier one in the
    /// same boot of the host, or UTC after a restart of the host.
    func predictedN(at now: MonotonicTime, unixNanoseconds: Int64?) -> Int64 {
        if let timeMap { return max(nextN, timeMap.n(at: now)) }
        guard let earlierMap else { return nextN }
        if earlierMap.isSameHostBoot, let segment = earlierMap.segment {
            let elapsed = Double((now - segment.referenceTime).nanoseconds)
            return max(nextN, segment.referenceN + Int64((elapsed / segment.periodNanoseconds).rounded()))
        }
        guard let last = earlierMap.lastSampleUnixNanoseconds, let unixNanoseconds, unixNanoseconds > last else { return nextN }
        let elapsed = Double(unixNanoseconds - last) / 1e9
        return nextN - 1 + Int64((elapsed * description.samplingFrequency).rounded())
    }

    private mutating func beginSegment(epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime) {
        if let finished = timeMap?.segment { draft.segments.append(finished) }
        var map = TimeMap(
            stream: id, epoch: epoch, firstN: firstN, referenceN: referenceN, at: time,
            samplingFrequency: description.samplingFrequency)
        if let previous = timeMap {
            map.setFloor(previous.time(of: previous.segment.lastN))
        } else if let earlierMap, earlierMap.isSameHostBoot, let segment = earlierMap.segment {
            let last = Double(segment.lastN - segment.referenceN) * segment.periodNanoseconds
            map.setFloor(segment.referenceTime + .nanoseconds(Int64(last.rounded())))
        }
        timeMap = map
        needsNewSegment = false
    }

    private mutating func observe(_ n: Int64, at arrival: MonotonicTime) {
        timeMap?.observe(n: n, at: arrival)
        if let finished = timeMap?.rollOver(at: nextN) { draft.segments.append(finished) }
    }
}

// MARK: - Rows and gaps

extension StreamAssembler {
    /// Whole rows: new ones, ones that were missing, and duplicates.
    private mutating func takeRows(_ values: ArraySlice<Int32>, firstN: Int64, at now: MonotonicTime, hasRoom: Bool) {
        let channels = description.channels.count
        let end = firstN + Int64(values.count / channels)
        if firstN < nextN {
            let below = firstN..<min(end, nextN)
            let stored = fill(below, values, firstN: firstN, hasRoom: hasRoom)
            duplicates += below.upperBound - below.lowerBound - stored
        }
        guard end > nextN else { return }
        let newFirst = max(firstN, nextN)
        if newFirst > nextN { addGap(nextN..<newFirst, cause: .packetLost, at: now) }
        if hasRoom {
            draft.append(values.dropFirst(Int(newFirst - firstN) * channels), firstN: newFirst)
            storedRows += end - newFirst
            nextN = end
        } else {
            overflow(until: end, at: now)
        }
    }

    /// Stores what is missing of `range`. Returns how many samples were stored or completed.
    private mutating func fill(_ range: Range<Int64>, _ values: ArraySlice<Int32>, firstN: Int64, hasRoom: Bool) -> Int64 {
        guard hasRoom else { return 0 }
        let channels = description.channels.count
        var stored: Int64 = 0
        for run in missing.remove(range) {
            let first = values.startIndex + Int(run.firstN - firstN) * channels
            draft.append(values[first..<(first + Int(run.end - run.firstN) * channels)], firstN: run.firstN)
            draft.ledger.recover(firstN: run.gapFirstN, channel: 0, count: run.end - run.firstN)
            stored += run.end - run.firstN
        }
        storedRows += stored
        for channel in 0..<channels where missingChannels[channel].intersects(range) {
            stored += fillChannel(channel, range) { values[values.startIndex + Int($0 - firstN) * channels + channel] }
        }
        return stored
    }

    private mutating func fillChannel(_ channel: Int, _ range: Range<Int64>, _ value: (Int64) -> Int32) -> Int64 {
        var stored: Int64 = 0
        for run in missingChannels[channel].remove(range) {
            draft.fills.append(
                ChannelFill(
                    stream: id, channel: channel + 1, firstN: run.firstN, values: (run.firstN..<run.end).map(value)))
            draft.ledger.recover(firstN: run.gapFirstN, channel: channel + 1, count: run.end - run.firstN)
            stored += run.end - run.firstN
        }
        return stored
    }

    /// A block that holds some of the channels: joined with the packets of the other channels of the same instants.
    private mutating func takePart(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, firstN: Int64, at now: MonotonicTime, hasRoom: Bool
    ) {
        for instant in 0..<block.instantCount {
            let n = firstN + Int64(instant)
            let first = values.startIndex + instant * block.channelCount
            let part = values[first..<(first + block.channelCount)]
            if n < nextN, !missing.intersects(n..<(n + 1)) {
                // The row is settled: only channels that it lacks are of use.
                var stored: Int64 = 0
                for (offset, value) in part.enumerated() where hasRoom {
                    let channel = block.firstChannel + offset
                    if missingChannels[channel].intersects(n..<(n + 1)) {
                        stored += fillChannel(channel, n..<(n + 1)) { _ in value }
                    }
                }
                if stored == 0 { duplicates += 1 }
            } else if hasRoom {
                partial.add(part, n: n, firstChannel: block.firstChannel)
            } else if n >= nextN {
                overflow(until: n + 1, at: now)
            }
        }
        for row in partial.takeReady() { settle(row, at: now) }
    }

    /// Writes a row whose packets have all arrived, or are not waited for any longer.
    private mutating func settle(_ row: PartialRows.Row, at now: MonotonicTime) {
        if row.n < nextN {
            for run in missing.remove(row.n..<(row.n + 1)) {
                draft.ledger.recover(firstN: run.gapFirstN, channel: 0, count: 1)
                store(row, at: now)
            }
            return
        }
        if row.n > nextN { addGap(nextN..<row.n, cause: .packetLost, at: now) }
        store(row, at: now)
        nextN = row.n + 1
    }

    private mutating func store(_ row: PartialRows.Row, at now: MonotonicTime) {
        draft.append(row.values[...], firstN: row.n, missingChannels: row.missing)
        storedRows += 1
        for channel in 0..<description.channels.count where row.missing >> channel & 1 == 1 {
            // Consecutive rows that lack the same channel belong to one gap: it grows.
            if let last = missingChannels[channel].runs.last, last.end == row.n {
                _ = missingChannels[channel].remove(last.firstN..<last.end)
                missingChannels[channel].insert(
                    MissingSamples.Run(firstN: last.firstN, end: row.n + 1, gapFirstN: last.gapFirstN))
                draft.ledger.close(firstN: last.gapFirstN, channel: channel + 1, count: row.n + 1 - last.gapFirstN)
            } else {
                missingChannels[channel].insert(
                    MissingSamples.Run(firstN: row.n, end: row.n + 1, gapFirstN: row.n))
                draft.ledger.open(firstN: row.n, channel: channel + 1, count: 1, cause: .packetLost, noticed: now)
            }
        }
    }

    /// There is no room for what lies below `end`. A buffer that stays full is one gap, however long it lasts.
    private mutating func overflow(until end: Int64, at now: MonotonicTime) {
        guard let gap = overflowGap, gap.upperBound == nextN, let last = missing.runs.last, last.end == nextN,
            last.gapFirstN == gap.lowerBound, last.isRecoverable
        else {
            overflowGap = nextN..<end
            return addGap(nextN..<end, cause: .queueOverflow, at: now)
        }
        _ = missing.remove(last.firstN..<last.end)
        missing.insert(MissingSamples.Run(firstN: last.firstN, end: end, gapFirstN: last.gapFirstN))
        draft.ledger.close(firstN: gap.lowerBound, channel: 0, count: end - gap.lowerBound)
        overflowGap = gap.lowerBound..<end
        nextN = end
    }

    /// Enters a gap into the ledger, and settles it.
    ///
    /// - Parameter isOpened: the ledger has it already, without its end.
    private mutating func addGap(
        _ range: Range<Int64>, cause: GapCause, at now: MonotonicTime, isRecoverable: Bool = true, isOpened: Bool = false
    ) {
        guard !range.isEmpty else { return }
        let (firstN, count) = (range.lowerBound, range.upperBound - range.lowerBound)
        if isOpened {
            draft.ledger.close(firstN: firstN, channel: 0, count: count)
        } else {
            draft.ledger.open(firstN: firstN, channel: 0, count: count, cause: cause, noticed: now)
        }
        missing.insert(
            MissingSamples.Run(firstN: firstN, end: range.upperBound, gapFirstN: firstN, isRecoverable: isRecoverable))
        nextN = max(nextN, range.upperBound)
    }
}
