import Bluetooth
import Headsets
import Storage

/// What one stream lacks: every n below ``nextN`` has its row, or is missing here and in the gap ledger of the database, whose
/// changes are gathered.
struct StreamLedger: Sendable {
    /// The first n that is not settled.
    private(set) var nextN: Int64 = 0
    /// The gap that goes on, whose end nobody knows; nil for none.
    private(set) var openGap: OpenGap?
    private var missing = MissingSamples()
    /// By channel, 1 ... 8: rows that lack it.
    private var missingChannels: [MissingSamples]
    private var draft: LedgerDraft
    /// The first n of the gap that a full buffer makes grow, and its end.
    private var overflowGap: Range<Int64>?

    /// Why there is no room, where there is none.
    var overflowCause = GapCause.queueOverflow {
        didSet { if overflowCause != oldValue { overflowGap = nil } }
    }

    struct OpenGap: Hashable, Sendable {
        var firstN: Int64
        var cause: GapCause
        /// Nil where an earlier process noticed it: the ledger knows when.
        var noticed: MonotonicTime?
    }

    /// The ledger of a stream without samples.
    init(stream: StreamID, channelCount: Int) {
        draft = LedgerDraft(stream: stream)
        missingChannels = Array(repeating: MissingSamples(), count: channelCount)
    }

    /// The ledger as the database has it.
    init(resuming state: ResumeState.StreamState) {
        self.init(stream: state.id, channelCount: state.description.channels.count)
        nextN = state.nextN
        for range in state.missing { missing.insert(MissingSamples.Run(range)) }
        for range in state.missingChannels where (1...missingChannels.count).contains(range.channel) {
            missingChannels[range.channel - 1].insert(MissingSamples.Run(range))
        }
        if let gap = state.openGap {
            openGap = OpenGap(firstN: gap.firstN, cause: state.openGapCause ?? .daemonDown, noticed: nil)
        }
    }

    // MARK: Asking

    /// True where the headset may still have some of what is missing.
    var isRecoverable: Bool { missing.isRecoverable || missingChannels.contains(where: \.isRecoverable) }

    /// True where samples are missing, whole or of a channel.
    func isMissing(_ range: Range<Int64>) -> Bool {
        isMissingWhole(range) || missingChannels.contains { $0.intersects(range) }
    }

    /// True where whole samples are missing.
    func isMissingWhole(_ range: Range<Int64>) -> Bool { missing.intersects(range) }

    /// True where rows lack a channel, 0 ... 7.
    func isMissing(_ range: Range<Int64>, channel: Int) -> Bool { missingChannels[channel].intersects(range) }

    /// The first samples from `n` on that the headset may still have; nil where there are none.
    func firstRecoverable(from n: Int64) -> Range<Int64>? {
        let candidates = [missing.firstRecoverable(from: n)] + missingChannels.map { $0.firstRecoverable(from: n) }
        return candidates.compactMap { $0 }.min { $0.firstN < $1.firstN }.map { $0.firstN..<$0.end }
    }

    /// True where nothing follows a gap of no count yet, which is not handed over.
    var endsInGapOfNoCount: Bool { draft.hasGapOfNoCount(at: nextN) }

    // MARK: What came

    /// Rows up to `end` are stored.
    mutating func extend(to end: Int64) { nextN = end }

    /// Whole samples have come. Returns what of them was missing, in ascending order: it is to be stored.
    mutating func recover(_ range: Range<Int64>) -> [MissingSamples.Run] {
        let runs = missing.remove(range)
        for run in runs { draft.recover(firstN: run.gapFirstN, channel: 0, count: run.end - run.firstN) }
        return runs
    }

    /// The same for one channel, 0 ... 7, of rows that lack it.
    mutating func recover(_ range: Range<Int64>, channel: Int) -> [MissingSamples.Run] {
        let runs = missingChannels[channel].remove(range)
        for run in runs { draft.recover(firstN: run.gapFirstN, channel: channel + 1, count: run.end - run.firstN) }
        return runs
    }

    // MARK: What is missing

    /// Enters a gap, and settles it.
    ///
    /// - Parameters:
    ///   - certainty: how its length is known.
    ///   - isOpened: the ledger has it already, without its end.
    mutating func add(
        _ range: Range<Int64>, cause: GapCause, at now: MonotonicTime, certainty: GapCertainty = .counted,
        isRecoverable: Bool = true, isOpened: Bool = false
    ) {
        guard !range.isEmpty else { return }
        let (firstN, count) = (range.lowerBound, range.upperBound - range.lowerBound)
        if isOpened {
            draft.close(firstN: firstN, channel: 0, count: count, certainty: certainty)
        } else {
            draft.open(firstN: firstN, channel: 0, count: count, cause: cause, noticed: now, certainty: certainty)
        }
        missing.insert(
            MissingSamples.Run(firstN: firstN, end: range.upperBound, gapFirstN: firstN, isRecoverable: isRecoverable))
        nextN = max(nextN, range.upperBound)
    }

    /// The length of a gap is right only within so many samples, unless all of it has come meanwhile.
    mutating func doubt(_ gap: Range<Int64>, within uncertainty: Int64) {
        guard missing.intersects(gap) else { return }
        draft.close(
            firstN: gap.lowerBound, channel: 0, count: gap.upperBound - gap.lowerBound,
            certainty: .timed(uncertainty: uncertainty))
    }

    /// Enters the next `count` samples, which the headset took and never sends.
    mutating func addUnsent(count: Int64, at now: MonotonicTime) {
        draft.open(firstN: nextN, channel: 0, count: count, cause: .notSent, noticed: now, certainty: .counted)
        nextN += count
    }

    /// The row n lacks a channel, 0 ... 7. Consecutive rows that lack the same one belong to one gap: it grows.
    mutating func add(channel: Int, ofRow n: Int64, cause: GapCause, at now: MonotonicTime) {
        if let last = missingChannels[channel].last, last.end == n {
            _ = missingChannels[channel].remove(last.firstN..<last.end)
            missingChannels[channel].insert(MissingSamples.Run(firstN: last.firstN, end: n + 1, gapFirstN: last.gapFirstN))
            draft.close(
                firstN: last.gapFirstN, channel: channel + 1, count: n + 1 - last.gapFirstN, certainty: .counted)
        } else {
            missingChannels[channel].insert(MissingSamples.Run(firstN: n, end: n + 1, gapFirstN: n))
            draft.open(firstN: n, channel: channel + 1, count: 1, cause: cause, noticed: now, certainty: .counted)
        }
    }

    /// There is no room for what lies below `end`. A buffer that stays full is one gap, however long it lasts.
    mutating func overflow(until end: Int64, at now: MonotonicTime) {
        guard let gap = overflowGap, gap.upperBound == nextN, let last = missing.last, last.end == nextN,
            last.gapFirstN == gap.lowerBound, last.isRecoverable
        else {
            overflowGap = nextN..<end
            return add(nextN..<end, cause: overflowCause, at: now)
        }
        _ = missing.remove(last.firstN..<last.end)
        missing.insert(MissingSamples.Run(firstN: last.firstN, end: end, gapFirstN: last.gapFirstN))
        draft.close(firstN: gap.lowerBound, channel: 0, count: end - gap.lowerBound, certainty: .counted)
        overflowGap = gap.lowerBound..<end
        nextN = end
    }

    /// What is missing of `range` can never be read again.
    mutating func giveUp(_ range: Range<Int64>) {
        missing.giveUp(range)
        for channel in missingChannels.indices { missingChannels[channel].giveUp(range) }
    }

    // MARK: Absences

    /// Samples are missing from here on, nobody knows until when.
    mutating func beginOpenGap(cause: GapCause, at now: MonotonicTime) {
        guard openGap == nil else { return }
        openGap = OpenGap(firstN: nextN, cause: cause, noticed: now)
        draft.open(firstN: nextN, channel: 0, count: nil, cause: cause, noticed: now)
    }

    /// The open gap goes on, and is at least as long as a time says.
    mutating func lengthenOpenGap(to least: StreamPosition) {
        guard let gap = openGap, least.n > gap.firstN else { return }
        draft.close(
            firstN: gap.firstN, channel: 0, count: least.n - gap.firstN, certainty: .timed(uncertainty: least.uncertainty))
    }

    /// The open gap ends.
    ///
    /// - Parameter end: where the stream stands now by the time that has passed; nil between two boots of the host.
    mutating func endOpenGap(at end: StreamPosition?) {
        guard let gap = openGap else { return }
        openGap = nil
        guard let end else { return draft.close(firstN: gap.firstN, channel: 0, count: 0, certainty: .timed(uncertainty: 0)) }
        let count = max(0, end.n - gap.firstN)
        if count == 0 {
            draft.withdraw(firstN: gap.firstN, channel: 0)
        } else {
            draft.close(
                firstN: gap.firstN, channel: 0, count: count, certainty: .timed(uncertainty: end.uncertainty))
            missing.insert(MissingSamples.Run(firstN: gap.firstN, end: gap.firstN + count, gapFirstN: gap.firstN))
            nextN = gap.firstN + count
        }
    }

    /// Enters a gap of no count: n goes on, and only clocks know how long it is, those of two boots of the host or the segments
    /// on both sides of a pause. The ledger's views compute the rest.
    mutating func addGapOfNoCount(at firstN: Int64, cause: GapCause, noticed: MonotonicTime) {
        draft.open(firstN: firstN, channel: 0, count: 0, cause: cause, noticed: noticed, certainty: .timed(uncertainty: 0))
    }

    /// Enters that the headset paused: it took no samples, and did not count meanwhile.
    mutating func addPause(at firstN: Int64, noticed: MonotonicTime) {
        addGapOfNoCount(at: firstN, cause: .silence, noticed: noticed)
    }

    /// Everything from ``nextN`` to the end of an absence is missing: what cannot be read any more for good, the rest may be
    /// drained. The open gap becomes this one, or never was.
    mutating func settle(_ absence: Absence, at now: MonotonicTime) {
        let gap = openGap
        openGap = nil
        let (first, end) = (nextN, absence.end)
        let noticed = gap?.noticed ?? now
        if absence.certainty == .unknown {
            let continued = gap?.firstN == first && gap?.cause == absence.cause
            if let gap, !continued { draft.withdraw(firstN: gap.firstN, channel: 0) }
            // What another bank shows to be missing comes first: two gaps never begin at one n.
            if end > first { add(first..<end, cause: absence.cause, at: noticed, isRecoverable: false, isOpened: continued) }
            if continued, end == first {
                draft.close(firstN: end, channel: 0, count: 0, certainty: .timed(uncertainty: 0))
            } else {
                addGapOfNoCount(at: end, cause: absence.cause, noticed: noticed)
            }
            return
        }
        let split = min(end, max(first, absence.recoverableFrom))
        let isMissing = end > first
        let cause = split > first ? absence.lostCause : absence.cause
        let continued = isMissing && gap?.firstN == first && gap?.cause == cause
        if let gap, !continued { draft.withdraw(firstN: gap.firstN, channel: 0) }
        guard isMissing else { return }
        add(
            first..<split, cause: absence.lostCause, at: noticed, certainty: absence.certainty, isRecoverable: false,
            isOpened: continued)
        add(
            split..<end, cause: absence.cause, at: noticed, certainty: absence.certainty,
            isOpened: continued && split == first)
    }

    /// Hands over the changes, ordered by n, and forgets them.
    mutating func take() -> [LedgerEntry] { draft.take() }

    /// True while somebody follows the changes one by one.
    var isFollowed: Bool {
        get { draft.isFollowed }
        set { draft.isFollowed = newValue }
    }

    /// What has changed since the last time, for whoever follows.
    mutating func takeFollowed() -> [LedgerEntry] { draft.takeFollowed() }

    /// The gap that goes on, as an entry; nil for none.
    func openEntry(of stream: StreamID) -> LedgerEntry? {
        openGap.map {
            .open(
                stream: stream, firstN: $0.firstN, channel: 0, count: nil, cause: $0.cause, noticed: $0.noticed ?? .boot)
        }
    }
}

/// What is missing before the first block of a link.
struct Absence: Sendable {
    /// The n of the block's first sample.
    var end: Int64
    /// From here on the headset may still have what is missing.
    var recoverableFrom: Int64
    /// Why the headset has what lies before no longer.
    var lostCause: GapCause
    /// Why samples are missing.
    var cause: GapCause
    /// How the end is known; unknown between two host boots, where only their clocks can say it.
    var certainty: GapCertainty
}

extension MissingSamples.Run {
    /// A run as the database has it.
    init(_ range: ResumeState.MissingRange) {
        self.init(firstN: range.firstN, end: range.firstN + range.count, gapFirstN: range.gapFirstN)
    }
}
