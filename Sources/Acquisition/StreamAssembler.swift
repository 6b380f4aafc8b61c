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
    private(set) var description: StreamDescription
    /// The channels as they were when the stream began: what people have corrected since is no other shape.
    private var declaredChannels: [ChannelDescription]

    /// The first n that is not settled.
    var nextN: Int64
    /// True once the first sample has its place.
    var hasSamples: Bool
    var epoch: EpochRecord?
    var timeMap: TimeMap?
    var missing = MissingSamples()
    /// By channel, 1 ... 8: rows that lack it.
    var missingChannels: [MissingSamples]
    /// Samples that arrived again and were dropped.
    var duplicates: Int64 = 0

    /// What is written next.
    var draft: StreamDraft
    /// Rows of instants whose packets have not all arrived.
    var partial: PartialRows
    /// Looks at new rows; nil where nothing can be said about the stream's channels.
    var signals: SignalCheck?
    var openGap: OpenGap?
    /// The first n of the gap that a full buffer makes grow, and its end.
    var overflowGap: Range<Int64>?
    /// Why there is no room, where there is none.
    var overflowCause = GapCause.queueOverflow {
        didSet { if overflowCause != oldValue { overflowGap = nil } }
    }
    var linkStart: LinkStart?
    /// True from the beginning of a link to its end: only then samples have a place.
    var isLinked = false
    /// The unwrapped index after the last one seen on this link.
    var expectedIndex: Int64 = 0
    /// Blocks after a pause, until it is known how often the counter has turned meanwhile.
    var held: HeldBlocks?
    /// How long nothing has come of the headset.
    var silence = LinkSilence()
    /// Blocks whose counter is in doubt.
    var doubtful = DoubtfulBlocks()
    /// Blocks that were damaged on the way, by their counters.
    var damagedBlocks: Int64 = 0
    /// Why the samples before the next block are missing, should some be.
    var holeCause = GapCause.packetLost
    /// How it is known how many those are.
    var holeCertainty = GapCertainty.counted
    /// Marks of a headset whose stream has no counter.
    var marks: PeriodMarks?
    /// Losses of a stream that has neither counter nor marks.
    var lossByTime = LossByTime()
    /// What was said last to tell losses of a stream without counter; nil before anything was said.
    var lossDetection: LossDetection?
    /// The marks' period, and how many samples have come since the latest mark on this link; nil before the first mark.
    var unmarked: (period: Int64, count: Int64)?
    /// How many instants the latest block without counter held.
    var blockLength: Int64 = 0
    /// The headset's own clock, where its samples bear stamps.
    var deviceClock: DeviceClock?
    /// What earlier links and recordings have taught of the headset's clock.
    var learntRate: ArrivalEnvelope.Rate?
    /// True after a whole turn of the counter was lost unseen, until a block comes whose values are no sums.
    var sumsAreWrong = false
    /// When the latest block without counter came.
    var latestPart = MonotonicTime.boot
    /// Samples known to be missing before the next ones, in a stream without counter.
    var damagedBefore: Int64 = 0
    /// The last line of an earlier process, for placing what follows.
    var earlierMap: EarlierMap?
    /// True until the time map has taken the first arrival of this process.
    var needsNewSegment = true

    struct OpenGap: Hashable, Sendable {
        var firstN: Int64
        var cause: GapCause
        /// Nil where an earlier process noticed it: the ledger knows when.
        var noticed: MonotonicTime?
    }

    /// Where an earlier process left the stream.
    struct EarlierMap: Sendable {
        var segment: SegmentRecord?
        var isSameHostBoot: Bool
    }

    /// A stream that has no samples yet.
    init(id: StreamID, position: Int, description: StreamDescription) {
        self.id = id
        self.position = position
        self.description = description
        declaredChannels = description.channels
        nextN = 0
        hasSamples = false
        draft = StreamDraft(stream: id, channelCount: description.channels.count)
        partial = PartialRows(channelCount: description.channels.count)
        signals = SignalCheck(stream: id, description)
        missingChannels = Array(repeating: MissingSamples(), count: description.channels.count)
    }

    /// A stream as the database has it.
    init(resuming state: ResumeState.StreamState) {
        self.init(id: state.id, position: state.position, description: state.description)
        nextN = state.nextN
        declaredChannels = state.declaredChannels
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
        earlierMap = EarlierMap(segment: state.segment, isSameHostBoot: state.isSameHostBoot)
    }

    // MARK: Links

    /// Samples are expected on a new link; the next block tells where it stands.
    mutating func beginLink(_ start: LinkStart) {
        linkStart = start
        isLinked = true
        if let stamps = start.stamps, stamps.tickFrequency > 0, deviceClock?.stamps != stamps {
            deviceClock = DeviceClock(stamps, samplingFrequency: description.samplingFrequency)
        }
        sumsAreWrong = false
        silence = LinkSilence()
        damagedBefore = 0
        marks = nil
        unmarked?.count = 0
        lossByTime.reset()
    }

    /// No samples are expected any longer: a gap opens, its end unknown.
    mutating func endLink(cause: GapCause, at now: MonotonicTime) {
        placeHeld()
        settleDoubtful()
        settlePartialRows(before: .max, cause: cause, at: now)
        settleDamage(at: now)
        timeMap?.interrupt()
        // What was missing before a link that never brought a sample is still missing for the same reason.
        let cause = cause == .quarantined ? cause : linkStart?.absenceCause ?? cause
        linkStart = nil
        isLinked = false
        // A link that breaks while impedances are measured is another cause from then on.
        if openGap?.cause == .impedance, cause != .impedance { endOpenGap(at: now) }
        // What is missing from a quarantine on has that cause, where the time until then is known.
        if let gap = openGap, cause == .quarantined, gap.cause != cause,
            timeMap != nil || earlierMap?.isSameHostBoot ?? false
        {
            endOpenGap(at: now)
        }
        openAbsence(cause: cause, at: now)
    }

    /// Samples are missing from here on, nobody knows until when.
    mutating func openAbsence(cause: GapCause, at now: MonotonicTime) {
        guard hasSamples, openGap == nil else { return }
        openGap = OpenGap(firstN: nextN, cause: cause, noticed: now)
        draft.ledger.open(firstN: nextN, channel: 0, count: nil, cause: cause, noticed: now)
    }

    /// The headset measures impedances from now on. What is missing before, as no sample came on this link yet, keeps its own
    /// cause.
    mutating func pause(at now: MonotonicTime) {
        if let linkStart { endRecording(at: now, absenceCause: linkStart.absenceCause) }
        linkStart = nil
        endLink(cause: .impedance, at: now)
    }

    /// The headset still measures impedances. The gap is told to be as long as it surely is, so that it does not grow by the
    /// time without a process, should this one end here. A second less than now is less than it will be.
    mutating func staysPaused(at now: MonotonicTime) {
        guard let gap = openGap, gap.cause == .impedance else { return }
        guard let least = predicted(at: now - .seconds(1)) else { return }
        let count = least.n - gap.firstN
        if count > 0 {
            draft.ledger.close(
                firstN: gap.firstN, channel: 0, count: count, certainty: .timed(uncertainty: least.uncertainty))
        }
    }

    /// The recording ends: an open gap ends with it, as long as the elapsed time says.
    ///
    /// - Parameter absenceCause: the cause of what is missing up to the end where no gap says it yet; nil where samples flowed
    ///   until the end.
    mutating func endRecording(at now: MonotonicTime, absenceCause: GapCause? = nil) {
        placeHeld()
        settleDoubtful()
        settlePartialRows(before: .max, at: now)
        settleDamage(at: now)
        timeMap?.interrupt()
        if openGap == nil, hasSamples, let absenceCause {
            if let end = predicted(at: now) {
                addGap(
                    nextN..<max(nextN, end.n), cause: absenceCause, at: now, certainty: .timed(uncertainty: end.uncertainty),
                    isRecoverable: false)
            } else {
                enterGapBetweenBoots(at: nextN, cause: absenceCause, noticed: now, isOpened: false)
            }
        }
        endOpenGap(at: now)
    }

    /// The gap is as long as the elapsed time says.
    private mutating func endOpenGap(at now: MonotonicTime) {
        guard let gap = openGap else { return }
        openGap = nil
        guard let end = predicted(at: now) else {
            return enterGapBetweenBoots(at: gap.firstN, cause: gap.cause, noticed: now, isOpened: true)
        }
        let count = max(0, end.n - gap.firstN)
        if count == 0 {
            draft.ledger.withdraw(firstN: gap.firstN, channel: 0)
        } else {
            draft.ledger.close(
                firstN: gap.firstN, channel: 0, count: count, certainty: .timed(uncertainty: end.uncertainty))
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
    ///   - hasRoom: false where the buffer of samples is full; new samples then go to the ledger.
    mutating func take(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool
    ) {
        guard block.instantCount > 0, block.channelCount > 0, block.firstChannel >= 0,
            block.firstChannel + block.channelCount <= description.channels.count,
            values.count == block.instantCount * block.channelCount
        else { return }
        if hold(block, values, at: arrival, hasRoom: hasRoom) { return }
        takeUndoubted(block, values, at: arrival, hasRoom: hasRoom)
    }

    /// Takes a block of which no turn of the counter was missed, where its counter is not in doubt.
    mutating func takeUndoubted(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool
    ) {
        if doubt(block, values, at: arrival, hasRoom: hasRoom) { return }
        takeInPlace(block, values, at: arrival, hasRoom: hasRoom)
    }

    /// Takes a block whose counter is believed.
    mutating func takeInPlace(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool
    ) {
        defer { (holeCause, holeCertainty) = (.packetLost, .counted) }
        guard var firstN = place(block, at: arrival) else {
            duplicates += Int64(block.instantCount)
            return
        }
        // A memory holds nothing that is newer than what was sent as it was taken.
        guard block.origin == .live || firstN < nextN else {
            damagedBlocks += 1
            return
        }
        if sumsAreWrong, block.isSummed { return }
        sumsAreWrong = false
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
            timeMap?.observe(n: end - 1, count: block.instantCount, at: arrival, deviceTicks: block.deviceTicks)
            if let ticks = block.deviceTicks { deviceClock?.stamp(n: end - 1, ticks: ticks, at: arrival) }
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
        guard isLinked else { return }
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

    /// True where nothing is missing.
    var isComplete: Bool { missing.isEmpty && missingChannels.allSatisfy(\.isEmpty) }

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

    /// True where both are banks of one stream: their places in the headset's list follow each other as their numbers do.
    func isBank(besides other: StreamAssembler) -> Bool {
        description.bank != other.description.bank && position - description.bank == other.position - other.description.bank
    }

    /// True where rows of both would have the same columns.
    func hasShape(of other: StreamDescription) -> Bool {
        declaredChannels == other.channels && description.samplingFrequency == other.samplingFrequency
            && description.bank == other.bank && description.counterModulus == other.counterModulus
            && description.samplesPerCount == other.samplesPerCount
    }

    /// Takes from the profile's description what the database does not keep.
    mutating func adopt(_ described: StreamDescription) {
        guard description.saturation != described.saturation else { return }
        description.saturation = described.saturation
        signals = SignalCheck(stream: id, description)
    }

    /// The n that lies `count` samples after the one with the counter; nil where nothing is placed yet.
    func n(ofCounter counter: UInt32?, plus count: Int) -> Int64? {
        guard let epoch, let counter else { return nil }
        return n(of: unwrap(counter, near: expectedIndex), in: epoch) + Int64(count)
    }

    /// Moves everything that is to be written into a batch.
    mutating func move(into batch: inout WriteBatch) {
        if hasSamples, let pieces = timeMap?.take() {
            draft.segments += pieces
            draft.arrivals += timeMap?.takeEvidence() ?? []
        }
        draft.move(into: &batch)
        if let results = signals?.takeResults(), !results.isEmpty { batch.signalChecks += results }
    }

    /// Rows of which a packet has not come are settled now.
    ///
    /// - Parameter cause: why it will not come any more, where nothing later of its channels came either.
    mutating func settlePartialRows(before n: Int64, cause: GapCause = .packetLost, at now: MonotonicTime) {
        for row in partial.take(before: n) { settle(row, cause: cause, at: now) }
        // What follows on another line must not lie before them.
        timeMap?.extend(to: nextN - 1)
    }
}
