import Bluetooth
import Headsets
import Storage

/// Live blocks that wait until it is known which n they have: while nobody knows how often the counter has wrapped before them,
/// and then while their counter is in doubt. What need not wait any more is stored by the placement.
struct WaitingBlocks: Sendable {
    private let samplingFrequency: Double
    private let channelCount: Int
    /// Blocks after a pause, until it is known how often the counter has wrapped meanwhile.
    private var ambiguous: AmbiguousBlocks?
    /// Blocks whose counter does not go on where it should.
    private var doubtful = DoubtfulBlocks()
    /// What was stored last, which may come twice.
    private var latest = LatestBlocks()
    /// How long nothing has come of the headset.
    private var silence = LinkSilence()
    /// Wraps that were surely missed, of this stream's own blocks, since the last call of ``takeMissedWraps()``.
    private(set) var missedWraps: MissedWraps?
    /// Those of another stream of the headset.
    private var lent: MissedWraps?
    /// True while blocks go on after a silence where those before it ended, and are late: the queue kept the oldest.
    private var isQueueGoingOn = false

    init(_ description: StreamDescription) {
        samplingFrequency = description.samplingFrequency
        channelCount = description.channels.count
    }

    /// True where no block waits.
    var isEmpty: Bool { ambiguous == nil && doubtful.isEmpty }

    /// A link begins.
    mutating func beginLink() {
        silence = LinkSilence()
        latest = LatestBlocks()
        isQueueGoingOn = false
        (missedWraps, lent) = (nil, nil)
    }

    /// Something came of the headset, even if it could not be decoded.
    mutating func recordActivity(at arrival: MonotonicTime) { silence.end(at: arrival) }

    /// Takes a block: it waits, or is stored at once.
    mutating func take(_ received: ReceivedBlock, _ placement: inout Placement, _ rows: inout StreamRows) {
        if holdIfAmbiguous(received, &placement, &rows) { return }
        takeUnambiguous(received, &placement, &rows)
    }

    /// Takes the headset's word that it never sends `count` samples from `counter` on.
    mutating func take(
        unsent counter: UInt32, count: Int, at now: MonotonicTime, _ placement: inout Placement, _ rows: inout StreamRows
    ) {
        if let expected = ambiguous?.expectedIndex {
            let index = placement.index(of: counter, near: expected)
            ambiguous?.append(unsent: counter, count: count, index: index, at: now)
        } else {
            takeUnambiguous(.unsent(counter: counter, count: count, at: now), &placement, &rows)
        }
    }

    /// Nothing more comes: what waits is stored as far as it is believed by what is known now.
    mutating func settle(_ placement: inout Placement, _ rows: inout StreamRows) {
        settleAmbiguous(&placement, &rows)
        settleDoubtful(&placement, &rows)
    }

    // MARK: Wraps

    /// What was surely missed, for the other streams of the headset.
    mutating func takeMissedWraps() -> MissedWraps? {
        defer { missedWraps = nil }
        return missedWraps
    }

    /// Takes what another stream of the headset has missed, where this one's counter wraps with that one's.
    mutating func learn(of missed: MissedWraps, wrap: Int64) {
        if missed.isShared(byWrap: wrap, samplingFrequency: samplingFrequency) { lent = missed }
    }

    /// Holds a live block back while it is not known how often the counter has wrapped before it.
    ///
    /// - Returns: false where that is known.
    private mutating func holdIfAmbiguous(
        _ received: ReceivedBlock, _ placement: inout Placement, _ rows: inout StreamRows
    ) -> Bool {
        let (block, arrival) = (received.block, received.arrival)
        guard block.origin == .live else { return false }
        let silence = silence.taken(at: arrival)
        guard placement.isNumbered, let epoch = placement.epoch, let wrap = placement.wrapLength,
            let counter = block.counter, let position = placement.clock.linePosition(at: arrival),
            !epoch.isOtherBoot(block)
        else { return false }
        if ambiguous == nil, block.followsDirectly, placement.index(of: counter) == placement.expectedIndex {
            if doubtful.isEmpty { placement.takePause(before: received, in: &rows) }
            return false
        }
        // What the clock does not know better than a fraction of a wrap, it cannot decide.
        if ambiguous == nil, position.uncertainty > wrap / 3 { return false }
        // Of a run of doubtful blocks, the next one is where that goes on: nearest to what is expected, it may seem to lie a
        // wrap behind.
        var index = placement.index(of: counter, near: ambiguous?.expectedIndex ?? doubtful.runEnd)
        // The index that the time says.
        let due = epoch.index(of: position.n) - Int64(block.instantCount) + 1
        // Behind another pause, what was held is as clear as it will be.
        if ambiguous?.isDecided(at: arrival) == true || (ambiguous != nil && silence >= AmbiguousBlocks.queueLimit) {
            ambiguous?.learn(index: index, count: block.instantCount, lateness: due - index, at: arrival)
            settleAmbiguous(&placement, &rows)
            index = placement.index(of: counter)
        }
        let lateness = due - index
        let silent = Int64(silence.inSeconds * samplingFrequency)
        let isAfterSilence = AmbiguousBlocks.isAmbiguous(lateness: silent, wrap: wrap)
        let isLate = lateness >= AmbiguousBlocks.doubt(of: wrap)
        let isFollowing = index <= ambiguous?.expectedIndex ?? placement.expectedIndex
        isQueueGoingOn = isLate && isFollowing && (isAfterSilence || isQueueGoingOn)
        if ambiguous == nil {
            guard AmbiguousBlocks.isAmbiguous(lateness: lateness, wrap: wrap) else { return false }
            // What was in doubt lies before the pause.
            settleDoubtful(&placement, &rows)
            ambiguous = AmbiguousBlocks(wrap: wrap, expectedIndex: placement.expectedIndex, channelCount: channelCount)
        }
        ambiguous?.append(
            received, index: index, lateness: lateness, isAfterSilence: isAfterSilence || isQueueGoingOn,
            isLineUncertain: placement.clock.waited(at: arrival) > 0)
        if ambiguous?.isDecided(at: arrival) == true { settleAmbiguous(&placement, &rows) }
        return true
    }

    /// Hands on what was ambiguous, by what is known now.
    private mutating func settleAmbiguous(_ placement: inout Placement, _ rows: inout StreamRows) {
        guard let decision = ambiguous?.decided(with: lent) else { return }
        ambiguous = nil
        if let wrap = placement.wrapLength { missedWraps = decision.surelyMissed(wrap: wrap, samplingFrequency) }
        var splits = decision.splits[...]
        for (position, entry) in decision.entries.enumerated() {
            if let split = splits.first, split.position == position {
                splits.removeFirst()
                // The time has shown where it belongs: its counter is not in doubt any more.
                if split.missed > 0 {
                    if position > 0 { settleDoubtful(&placement, &rows) }
                    placement.expect(index: split.index)
                    rows.hole.missedWraps = split.missed
                }
                // Where one is in doubt, wraps may lie before any of them.
                if !decision.isSure { rows.hole.certainty = .timed(uncertainty: decision.missed) }
                // The decoder saw nothing missing, and went on adding.
                placement.noteDeltaReference(isLost: split.missed > 0 && !split.isJump)
            }
            takeUnambiguous(entry, &placement, &rows)
        }
        if !decision.isSure { placement.noteMisplaced(count: decision.missed) }
    }

    /// Takes what has no wrap missing before it, unless its counter is in doubt.
    private mutating func takeUnambiguous(
        _ entry: Reception, _ placement: inout Placement, _ rows: inout StreamRows
    ) {
        switch entry {
        case .block(let received): takeUnambiguous(received, &placement, &rows)
        case .unsent(let counter, let count, let time):
            if let next = doubtful.nextIndex {
                let index = placement.index(of: counter, near: next)
                doubtful.append(unsent: counter, count: count, index: index, at: time)
            } else {
                placement.storeUnsent(counter: counter, count: count, at: time, in: &rows)
            }
        }
    }

    private mutating func takeUnambiguous(
        _ received: ReceivedBlock, _ placement: inout Placement, _ rows: inout StreamRows
    ) {
        if holdIfDoubtful(received, &placement, &rows) { return }
        store(block: received, &placement, &rows)
    }

    // MARK: Doubt

    /// Holds a live block back while its counter is in doubt, or stores it with what it decides.
    ///
    /// - Returns: false where it is still to be stored.
    private mutating func holdIfDoubtful(
        _ received: ReceivedBlock, _ placement: inout Placement, _ rows: inout StreamRows
    ) -> Bool {
        let block = received.block
        guard block.origin == .live, placement.isNumbered, let epoch = placement.epoch, let counter = block.counter,
            placement.clock.hasMap, !epoch.isOtherBoot(block)
        else { return false }
        let (index, expected) = (placement.index(of: counter), placement.expectedIndex)
        if index == expected, doubtful.isEmpty { return false }
        guard let position = placement.clock.mapPosition(at: received.arrival) else { return false }
        let firstN = epoch.n(of: index)
        let end = firstN.addingClamped(Int64(block.instantCount) - 1)
        let tolerance = position.uncertainty.addingClamped(
            Int64(clamping: samplingFrequency * StreamClock.arrivalTolerance) + Int64(block.instantCount))
        let isBorneOut = index >= expected && end <= position.n.addingClamped(tolerance)
        let verdict = doubtful.judge(
            received, index: index, heldIndex: placement.index(of: counter, near: doubtful.nextIndex), expected: expected,
            isBorneOut: isBorneOut, isWhole: block.channelCount == channelCount,
            isMissing: index < expected && rows.ledger.isMissing(firstN..<end.addingClamped(1)),
            isDuplicate: index < expected && latest.contains(received, index: index))
        switch verdict {
        case .held: return true
        case .behind: return false
        case .continues:
            guard !doubtful.isEmpty else { return false }
            if doubtful.hasRisen(to: index, at: received.arrival, samplingFrequency: samplingFrequency) {
                placement.restart(in: &rows, at: received.arrival)
                store(doubtful.takeEntries() + [.block(received)], &placement, &rows)
                return true
            }
            resolveDoubt(with: received, index: index, epoch, &placement, &rows)
        case .believed: store(doubtful.takeEntries(), &placement, &rows)
        case .restarted:
            placement.restart(in: &rows, at: received.arrival)
            store(doubtful.takeEntries(), &placement, &rows)
        }
        return true
    }

    /// A block goes on where the last one ended, so that what is held does not: where a hole is left for it, it was damaged;
    /// else it has come late or twice, or has overtaken this one.
    private mutating func resolveDoubt(
        with received: ReceivedBlock, index: Int64, _ epoch: EpochRecord, _ placement: inout Placement,
        _ rows: inout StreamRows
    ) {
        let expected = placement.expectedIndex
        let hole = index - expected
        let before = doubtful
        let heldN = epoch.n(of: before.first)..<epoch.n(of: max(before.first, before.next))
        // What fills a known gap has come late; what is there already, twice.
        let isLate = before.isBehind(expected) && (hole <= 0 || rows.ledger.isMissingWhole(heldN))
        let end = index + Int64(received.block.instantCount)
        let entries = doubtful.takeEntries()
        if isLate {
            store(entries, &placement, &rows)
        } else if hole > 0, hole <= before.length {
            rows.hole.cause = .packetDamaged
        }
        store(block: received, &placement, &rows)
        guard !isLate, before.mayHaveOvertaken(end) else { return }
        if before.hasOvertaken(end), hole <= 0 {
            for entry in entries { takeUnambiguous(entry, &placement, &rows) }
        } else {
            // It may still be a damaged one: whether the next one follows it, or comes instead of it, decides.
            doubtful = before
            doubtful.isBehindHole = before.isBehindHole || hole > 0
        }
    }

    /// What is in doubt is believed where the time bears it out.
    private mutating func settleDoubtful(_ placement: inout Placement, _ rows: inout StreamRows) {
        guard !doubtful.isEmpty else { return }
        let isBelieved = doubtful.isBelievedAlone || doubtful.isBehind(placement.expectedIndex)
        let entries = doubtful.takeEntries()
        if isBelieved { store(entries, &placement, &rows) }
    }

    private mutating func store(_ entries: [Reception], _ placement: inout Placement, _ rows: inout StreamRows) {
        for entry in entries {
            switch entry {
            case .block(let received): store(block: received, &placement, &rows)
            case .unsent(let counter, let count, let time):
                placement.storeUnsent(counter: counter, count: count, at: time, in: &rows)
            }
        }
    }

    /// Stores a block whose n is known, and knows it again, should it come twice.
    private mutating func store(
        block received: ReceivedBlock, _ placement: inout Placement, _ rows: inout StreamRows
    ) {
        placement.store(received, in: &rows)
        guard received.block.origin == .live, let counter = received.block.counter else { return }
        latest.note(received, index: placement.index(of: counter))
    }
}
