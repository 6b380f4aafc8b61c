import Bluetooth
import Headsets
import Storage

/// How long a link was silent before a block: nothing came, not even what could not be decoded.
struct LinkSilence: Hashable, Sendable {
    private var latest: MonotonicTime?
    private var longest = Duration.zero

    /// Something came.
    mutating func end(at arrival: MonotonicTime) {
        if let latest { longest = max(longest, arrival - latest) }
        latest = arrival
    }

    /// A block came. Returns the longest silence since the one before.
    mutating func taken(at arrival: MonotonicTime) -> Duration {
        end(at: arrival)
        defer { longest = .zero }
        return longest
    }
}

/// Small counters, which may turn round while nothing arrives.
extension StreamAssembler {
    /// Holds a live block back while it is not known how often the counter has turned before it.
    ///
    /// - Returns: false where the block can be placed at once.
    mutating func hold(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool
    ) -> Bool {
        guard block.origin == .live else { return false }
        let silence = silence.taken(at: arrival)
        guard isPlaced, let epoch, let modulus = description.counterModulus, let timeMap, let counter = block.counter
        else { return false }
        if let boot = block.bootIdentifier, let known = epoch.bootIdentifier, boot != known { return false }
        // What the clock does not know better than a fraction of a turn, it cannot tell.
        let position = timeMap.position(at: arrival)
        if held == nil, position.uncertainty > modulus * Int64(description.samplesPerCount) / 3 { return false }
        let turn = modulus * Int64(description.samplesPerCount)
        var index = unwrap(counter, near: held?.nextExpectedIndex ?? expectedIndex)
        // The index that the time says.
        let due = position.n - n(of: 0, in: epoch) - Int64(block.instantCount) + 1
        if held?.isDecided(at: arrival) == true {
            held?.learn(index: index, lateness: due - index, at: arrival)
            placeHeld()
            index = unwrap(counter, near: expectedIndex)
        }
        let lateness = due - index
        if held == nil {
            guard HeldBlocks.isAmbiguous(lateness: lateness, turn: turn) else { return false }
            // What was in doubt lies before the pause.
            settleDoubtful()
            held = HeldBlocks(turn: turn, expectedIndex: expectedIndex)
        }
        let silent = Int64(silence.inSeconds * description.samplingFrequency)
        held?.append(
            HeldBlocks.Held(
                block: block, values: Array(values), arrival: arrival, hasRoom: hasRoom),
            index: index, lateness: lateness, isAfterSilence: HeldBlocks.isAmbiguous(lateness: silent, turn: turn))
        if held?.isDecided(at: arrival) == true { placeHeld() }
        return true
    }

    /// Places what was held, by what is known now.
    mutating func placeHeld() {
        guard let decision = held?.decided() else { return }
        held = nil
        for (position, entry) in decision.entries.enumerated() {
            if position == decision.place {
                // The time has told where it belongs: its counter is not in doubt any more.
                if decision.missed > 0 {
                    expectedIndex = max(expectedIndex, decision.index)
                    if !decision.isSure { holeCertainty = .timed(uncertainty: decision.missed) }
                }
                // The decoder saw nothing missing, and went on adding.
                sumsAreWrong = decision.missed > 0 && !decision.isJump
            }
            takeUndoubted(entry)
        }
    }

    /// The headset took `count` samples from `counter` on, and never sends them.
    mutating func unsent(counter: UInt32, count: Int, at now: MonotonicTime) {
        if let next = held?.nextExpectedIndex {
            let index = unwrap(counter, near: next)
            held?.append(unsent: counter, count: count, index: index, at: now)
        } else {
            unsentUndoubted(counter: counter, count: count, at: now)
        }
    }

    mutating func unsentUndoubted(counter: UInt32, count: Int, at now: MonotonicTime) {
        if let next = doubtful.nextIndex {
            doubtful.append(unsent: counter, count: count, index: unwrap(counter, near: next), at: now)
        } else {
            unsentInPlace(counter: counter, count: count, at: now)
        }
    }

    mutating func unsentInPlace(counter: UInt32, count: Int, at now: MonotonicTime) {
        guard isPlaced, let epoch else { return }
        let index = unwrap(counter, near: expectedIndex)
        let firstN = n(of: index, in: epoch)
        guard firstN >= nextN, partial.isEmpty else { return }
        addGap(nextN..<firstN, cause: holeCause, at: now, certainty: holeCertainty)
        expectedIndex = max(expectedIndex, index + Int64(count))
        let end = firstN + Int64(count)
        draft.ledger.open(
            firstN: firstN, channel: 0, count: Int64(count), cause: .notSent, noticed: now, certainty: .counted)
        nextN = end
        timeMap?.extend(to: end - 1)
    }
}
