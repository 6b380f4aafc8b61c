import Bluetooth
import Headsets
import Storage

/// Which n the samples of one stream have: by the headset's counter within one run of it, by the time that has passed from one
/// run to the next, and one after the other where there is no counter.
package struct Placement: Sendable {
    /// The time of the samples.
    private(set) var clock: StreamClock
    /// The present run of the counter; nil before the first.
    private(set) var epoch: EpochRecord?
    /// The unwrapped index after the last one seen on this link.
    private(set) var expectedIndex: Int64 = 0
    /// True once the first sample has its n.
    private(set) var hasSamples = false
    /// True from the beginning of a link to its end: only then samples get an n.
    private(set) var isLinked = false
    /// What is known of a link whose first block has not come yet.
    package private(set) var linkStart: LinkStart?

    /// The gap before the present link, while its length may turn out to be known less well.
    var absence: AbsenceCheck?

    private let stream: StreamID
    private let sampleCounter: SampleCounter
    private let samplingFrequency: Double
    private let channelCount: Int
    private var uncounted: UncountedLosses
    private var newEpochs: [EpochRecord] = []
    /// True after a wrap of the counter was lost unseen, until a block comes whose values are no sums of differences.
    private var hasLostDeltaReference = false

    /// By how much the counter of a link's first block may differ from what the time says, in seconds: a queue, a slow clock.
    private static let startTolerance = 60.0

    /// The placement of a stream that has no samples yet.
    init(stream: StreamID, _ description: StreamDescription) {
        self.stream = stream
        sampleCounter = SampleCounter(description)
        samplingFrequency = description.samplingFrequency
        channelCount = description.channels.count
        clock = StreamClock(stream: stream, samplingFrequency: samplingFrequency)
        uncounted = UncountedLosses(stream: stream, description)
    }

    /// The placement as an earlier process has left it.
    init(resuming state: ResumeState.StreamState) {
        self.init(stream: state.id, state.description)
        hasSamples = state.hasSamples
        epoch = state.epoch
        clock = StreamClock(
            stream: stream, samplingFrequency: samplingFrequency, earlierSegment: state.isSameHostBoot ? state.segment : nil)
    }

    // MARK: Asking

    /// True once a block of the present link has shown where the stream stands.
    var isNumbered: Bool { isLinked && linkStart == nil && epoch != nil }

    /// The samples from one wrap of the counter to the next; nil where there is none.
    var wrapLength: Int64? { sampleCounter.wrapLength }

    /// The index of a counter, nearest to the expected one or to another.
    func index(of counter: UInt32, near index: Int64? = nil) -> Int64 {
        sampleCounter.index(of: counter, near: index ?? expectedIndex)
    }

    /// The n of the sample with a counter; nil where nothing shows it yet.
    func n(of counter: UInt32) -> Int64? { epoch?.n(of: index(of: counter)) }

    /// The headset's counter at sample n, as it would be sent; nil where n lies outside the present epoch.
    func counter(of n: Int64) -> UInt32? {
        guard let epoch, n >= epoch.firstN else { return nil }
        return sampleCounter.counter(at: epoch.index(of: n))
    }

    // MARK: Links

    /// Samples are expected on a new link; the next block shows where it stands.
    mutating func beginLink(_ start: LinkStart) {
        linkStart = start
        isLinked = true
        if let stamps = start.stamps { clock.use(stamps) }
        hasLostDeltaReference = false
        uncounted.beginLink()
    }

    /// The link goes on without samples; what was known of its beginning is of no use.
    mutating func forgetLinkStart() { linkStart = nil }

    /// No samples are expected any longer.
    mutating func endLink() {
        linkStart = nil
        isLinked = false
    }

    /// What another bank of the stream knows where the link begins.
    ///
    /// - Parameters:
    ///   - n: of the first block's first sample there; nil where that bank does not know it yet.
    ///   - nextN: the first n that the bank has not settled.
    mutating func align(n: Int64?, nextN: Int64) {
        if let n { linkStart?.alignedN = n }
        if let leastN = linkStart?.leastN { linkStart?.leastN = max(leastN, nextN) }
    }

    /// The headset's counter has begun anew while the link stayed up: an epoch of its own, where the time says.
    mutating func restart(in rows: inout StreamRows, at now: MonotonicTime) {
        settlePartial(in: &rows, cause: .headsetRestarted, at: now)
        checkAbsence(in: &rows, isOver: true)
        linkStart = LinkStart(
            epochRule: .connection, bootIdentifier: epoch?.bootIdentifier, hasMemory: false, buffered: nil,
            absenceCause: .headsetRestarted)
        linkStart?.leastN = rows.nextN
    }

    /// Takes the rates of earlier recordings.
    mutating func learn(from rates: [ResumeState.LearntRate], streamName: String) {
        clock.learn(from: rates, streamName: streamName)
    }

    /// Nothing more comes on this line of the time map: what came late in the end lies behind a loss, perhaps.
    mutating func interrupt() {
        clock.interrupt()
        for late in uncounted.takeLate() { clock.misplaced(late) }
    }

    /// Takes what a stamp of another stream says of the time.
    mutating func borrow(ticks: UInt64, at arrival: MonotonicTime) {
        if isLinked { clock.borrow(ticks: ticks, at: arrival) }
    }

    // MARK: Blocks

    /// Stores a block whose counter is believed.
    mutating func store(_ received: ReceivedBlock, in rows: inout StreamRows) {
        defer { rows.hole = StreamRows.Hole() }
        guard let firstN = firstN(of: received, in: &rows) else { return rows.drop(count: received.block.instantCount) }
        // A memory holds nothing that is newer than what was sent as it was taken.
        guard received.block.origin == .live || firstN < rows.nextN else { return }
        if hasLostDeltaReference, received.block.isSummed { return }
        hasLostDeltaReference = false
        guard let epoch, firstN < epoch.firstN else { return store(received, firstN: firstN, in: &rows) }
        // Read from memory, and older than the recording: only what belongs to it is taken.
        let excess = Int(min(epoch.firstN - firstN, Int64(received.block.instantCount)))
        rows.drop(count: excess)
        if excess < received.block.instantCount {
            store(received.droppingFirst(excess), firstN: epoch.firstN, in: &rows)
        }
    }

    private mutating func store(_ received: ReceivedBlock, firstN: Int64, in rows: inout StreamRows) {
        let block = received.block
        if block.origin == .live {
            clock.observe(block, lastN: firstN + Int64(block.instantCount) - 1, at: received.arrival)
        }
        rows.take(received, firstN: firstN)
        clock.extend(to: rows.nextN - 1)
        if let misplaced = rows.takeMisplaced() { noteMisplaced(count: misplaced) }
        checkAbsence(in: &rows)
    }

    /// The latest rows may lie beside their n by so many samples.
    mutating func noteMisplaced(count: Int64) { clock.misplaced(count: count) }

    /// Begins another piece of the time map, in the same epoch, where the headset paused before a block that follows the one
    /// before it directly.
    mutating func takePause(before received: ReceivedBlock, in rows: inout StreamRows) {
        let (first, arrival) = (rows.nextN, received.arrival)
        guard let epoch, rows.isWhole, epoch.n(of: expectedIndex) == first,
            clock.showsPause(before: received.block, lastN: first + Int64(received.block.instantCount) - 1, at: arrival)
        else { return }
        rows.ledger.addPause(at: first, noticed: arrival)
        clock.beginRun()
        clock.beginSegment(epoch: epoch.number, firstN: first, referenceN: first, at: arrival)
    }

    /// The headset took `count` samples from `counter` on, and never sends them.
    mutating func storeUnsent(counter: UInt32, count: Int, at now: MonotonicTime, in rows: inout StreamRows) {
        guard isNumbered, let epoch else { return }
        let index = index(of: counter)
        guard rows.takeUnsent(firstN: epoch.n(of: index), count: Int64(count), at: now) else { return }
        expect(index: index + Int64(count))
        clock.extend(to: rows.nextN - 1)
    }

    /// The next index is no smaller than this one.
    mutating func expect(index: Int64) { expectedIndex = max(expectedIndex, index) }

    /// Whether a wrap of the counter was lost of which the decoder saw nothing: it went on adding differences.
    mutating func noteDeltaReference(isLost: Bool) { hasLostDeltaReference = isLost }

    /// Rows of which a packet has not come are settled now.
    ///
    /// - Parameter cause: why it will not come any more, where nothing later of its channels came either.
    mutating func settlePartial(in rows: inout StreamRows, cause: GapCause = .packetLost, at now: MonotonicTime) {
        rows.settlePartial(before: .max, cause: cause, at: now)
        // What follows on another line must not lie before them.
        clock.extend(to: rows.nextN - 1)
    }

    /// The n of a block's first sample; nil where it belongs to another boot of the headset.
    private mutating func firstN(of received: ReceivedBlock, in rows: inout StreamRows) -> Int64? {
        let (block, arrival) = (received.block, received.arrival)
        guard isLinked else { return nil }
        if let start = linkStart {
            guard block.origin == .live else { return nil }
            linkStart = nil
            _ = uncounted.noteArrival(arrival)
            let isFirstOfStream = !hasSamples
            let firstN = beginSamples(block, start, at: arrival, in: &rows)
            // Where the stream goes on, the elapsed time has counted what was damaged before this block.
            if block.counter == nil, isFirstOfStream, uncounted.hasDamage {
                settleDamage(in: &rows, at: arrival)
                return rows.nextN
            }
            _ = uncounted.takeDamaged()
            return firstN
        }
        guard let epoch, !epoch.isOtherBoot(block) else { return nil }
        guard let count = block.counter else { return firstUncountedN(of: received, in: &rows) }
        let index = index(of: count)
        if block.origin == .live { expect(index: index + Int64(block.instantCount)) }
        return epoch.n(of: index)
    }

    // MARK: Without counter

    /// `count` samples of a stream without counter are missing before the next ones.
    mutating func addDamaged(count: Int) {
        if isLinked { uncounted.addDamaged(count: count) }
    }

    /// Samples of a stream without counter that are known to be damaged are missing. Before the link's first sample they lie
    /// in the absence that came before it, whose length the elapsed time shows.
    mutating func settleDamage(in rows: inout StreamRows, at now: MonotonicTime) {
        let count = uncounted.takeDamaged()
        guard hasSamples, linkStart == nil else { return }
        rows.ledger.add(rows.nextN..<(rows.nextN + count), cause: .packetDamaged, at: now, isRecoverable: false)
    }

    /// Between this mark of the headset and the one before it, it took exactly `period` samples. The mark stands between two
    /// blocks of `blockLength` samples.
    mutating func takeMark(period: Int, blockLength: Int, at arrival: MonotonicTime, in rows: inout StreamRows) {
        guard isLinked, linkStart == nil, hasSamples, wrapLength == nil, uncounted.countsMarks,
            let due = clock.mapPosition(at: arrival)
        else { return }
        settlePartial(in: &rows, at: arrival)
        settleDamage(in: &rows, at: arrival)
        let lost = uncounted.takeMark(period: period, block: blockLength, nextN: rows.nextN, dueN: due.n)
        guard lost > 0 else { return }
        rows.ledger.add(rows.nextN..<(rows.nextN + lost), cause: .packetLost, at: arrival, isRecoverable: false)
        clock.misplaced(count: lost)
    }

    private mutating func firstUncountedN(of received: ReceivedBlock, in rows: inout StreamRows) -> Int64 {
        let (block, arrival) = (received.block, received.arrival)
        // A channel that the waiting row has already, or the time, shows that the next instant has come.
        let isLater = uncounted.noteArrival(arrival)
        if uncounted.hasDamage || isLater || rows.isBeyondPartial(block) { settlePartial(in: &rows, at: arrival) }
        settleDamage(in: &rows, at: arrival)
        let isRateCertain = clock.isRateKnown(within: LossByTime.certainRate)
        if rows.isWhole, block.channelCount == channelCount,
            let lost = uncounted.takeLateness(
                of: block, nextN: rows.nextN, due: clock.mapPosition(at: arrival), isRateCertain: isRateCertain, at: arrival)
        {
            rows.ledger.add(
                rows.nextN..<(rows.nextN + lost.count), cause: .packetLost, at: arrival,
                certainty: .timed(uncertainty: lost.uncertainty), isRecoverable: false)
            clock.misplaced(count: lost.count)
        }
        uncounted.noteDetection(block, nextN: rows.nextN, isRateCertain: isRateCertain)
        return rows.nextN
    }

    // MARK: The first block of a link

    /// Continues the epoch or begins one, and closes the gap. Returns the n of the block's first sample.
    private mutating func beginSamples(
        _ block: SampleBlock, _ start: LinkStart, at arrival: MonotonicTime, in rows: inout StreamRows
    ) -> Int64 {
        defer { hasSamples = true }
        let boot = block.bootIdentifier ?? start.bootIdentifier
        if start.epochRule == .boot, let boot, let epoch, epoch.bootIdentifier == boot, let count = block.counter,
            let index = believableIndex(of: count, in: epoch, nextN: rows.nextN, at: arrival)
        {
            expectedIndex = index + Int64(block.instantCount)
            let firstN = max(epoch.n(of: index), epoch.firstN)
            let oldestN = start.buffered.map { epoch.n(of: sampleCounter.index(of: $0.oldest, near: index)) }
            if !clock.hasMap {
                clock.beginSegment(epoch: epoch.number, firstN: rows.nextN, referenceN: firstN, at: arrival)
            }
            settleAbsence(until: firstN, oldestN: oldestN, start, .counted, in: &rows, at: arrival)
            return firstN
        }
        let isRestart = epoch != nil && start.epochRule == .boot
        let (began, certainty) = beginEpoch(block, start, boot: boot, at: arrival, in: &rows)
        let firstN = began.n(of: expectedIndex - Int64(block.instantCount))
        noteAbsence(rows.nextN, to: firstN, certainty, start)
        guard isRestart else {
            clock.beginSegment(epoch: began.number, firstN: firstN, referenceN: firstN, at: arrival)
            settleAbsence(until: firstN, oldestN: nil, start, certainty, in: &rows, at: arrival)
            return firstN
        }
        clock.beginSegment(epoch: began.number, firstN: min(began.firstN, firstN), referenceN: firstN, at: arrival)
        if hasSamples {
            rows.ledger.settle(
                Absence(
                    end: firstN, recoverableFrom: start.buffered == nil ? firstN : began.firstN,
                    lostCause: .headsetRestarted, cause: .headsetRestarted, certainty: certainty), at: arrival)
        }
        return firstN
    }

    /// What was missing up to `firstN` is missing since the last link, or nobody has noticed it yet.
    ///
    /// - Parameter oldestN: the first sample that the headset holds; nil where it did not say. It is then asked for
    ///   everything, and says what it cannot send.
    private func settleAbsence(
        until firstN: Int64, oldestN: Int64?, _ start: LinkStart, _ certainty: GapCertainty, in rows: inout StreamRows,
        at arrival: MonotonicTime
    ) {
        guard hasSamples else { return }
        let cause = rows.ledger.openGap?.cause ?? start.absenceCause
        rows.ledger.settle(
            Absence(
                end: firstN, recoverableFrom: start.hasMemory ? max(rows.nextN, oldestN ?? rows.nextN) : firstN,
                lostCause: start.hasMemory ? .bufferOverrun : cause, cause: cause, certainty: certainty), at: arrival)
    }

    /// The index of a counter where the headset says that it has not restarted; nil where it cannot have counted so far:
    /// beyond the time that has passed, or behind what it has sent.
    private func believableIndex(
        of count: UInt32, in epoch: EpochRecord, nextN: Int64, at arrival: MonotonicTime
    ) -> Int64? {
        let position = clock.position(at: arrival, from: nextN)
        let index = index(of: count, near: epoch.index(of: position?.n ?? nextN))
        guard let position else { return index }
        let (n, tolerance) = (epoch.n(of: index), tolerance(of: position))
        return n <= position.n.addingClamped(tolerance) && n.addingClamped(tolerance) >= nextN ? index : nil
    }

    /// By how many samples the count of a link's beginning may differ from what the time says.
    private func tolerance(of position: StreamPosition) -> Int64 {
        position.uncertainty.addingClamped(Int64(clamping: samplingFrequency * Self.startTolerance))
    }

    /// A new run of the counter: its first n follows from the time that has passed, and never goes back.
    ///
    /// - Returns: the epoch, and how it is known what lies before it.
    private mutating func beginEpoch(
        _ block: SampleBlock, _ start: LinkStart, boot: UInt32?, at arrival: MonotonicTime, in rows: inout StreamRows
    ) -> (EpochRecord, GapCertainty) {
        let nextN = rows.nextN
        let blockIndex = sampleCounter.index(of: block.counter ?? 0)
        let before = clock.position(of: block, at: arrival, from: nextN)
        clock.beginRun()
        var firstIndex = blockIndex
        if hasSamples, epoch?.bootIdentifier != nil, let buffered = start.buffered {
            let oldest = min(blockIndex, index(of: buffered.oldest, near: blockIndex))
            // It began after the samples that came before: it holds no more than the time since then. Between two boots of the
            // host nobody knows how much that is, and the gap takes no room in n: what it holds from before is left to it.
            let most = before.map { ($0.n - nextN).addingClamped(tolerance(of: $0)) } ?? 0
            if blockIndex - oldest <= most { firstIndex = oldest }
        }
        let ahead = blockIndex - firstIndex
        let firstN: Int64 =
            if let aligned = start.alignedN {
                max(nextN, aligned.addingClamped(-ahead))
            } else if hasSamples {
                max(nextN, start.leastN, before?.n.addingClamped(-Int64(block.instantCount - 1) - ahead) ?? nextN)
            } else {
                start.leastN
            }
        let began = EpochRecord(
            stream: stream, number: epoch.map { $0.number + 1 } ?? 0, bootIdentifier: boot, firstN: firstN,
            firstIndex: firstIndex, began: arrival)
        epoch = began
        newEpochs.append(began)
        // What an earlier boot still owed can never be read again.
        rows.ledger.giveUp(Int64.min..<firstN)
        expectedIndex = blockIndex + Int64(block.instantCount)
        guard let before else { return (began, hasSamples ? .unknown : .counted) }
        return (began, .timed(uncertainty: before.uncertainty))
    }

    // MARK: Writing

    /// Moves the epochs that have begun into a batch.
    mutating func moveEpochs(into batch: inout WriteBatch) {
        batch.changes += newEpochs.map(Change.epoch)
        newEpochs.removeAll()
    }

    /// Moves the time map, and what finds losses, into a batch behind the epochs.
    mutating func moveTimes(into batch: inout WriteBatch) {
        clock.move(into: &batch, lateness: uncounted.lateness)
        uncounted.move(into: &batch)
    }
}
