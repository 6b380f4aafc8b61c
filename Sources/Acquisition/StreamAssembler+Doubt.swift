import Bluetooth
import Headsets
import Storage

/// Counters that do not go on where they should.
extension StreamAssembler {
    /// How late a first arrival may be that is not known to be on time, in seconds: a queue that a link has filled.
    static let arrivalTolerance = 0.1

    /// Holds a live block back while its counter is in doubt.
    ///
    /// - Returns: false where the block can be placed now.
    mutating func doubt(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool
    ) -> Bool {
        guard block.origin == .live, isPlaced, let epoch, let counter = block.counter, let timeMap else { return false }
        if let boot = block.bootIdentifier, let known = epoch.bootIdentifier, boot != known { return false }
        let index = unwrap(counter, near: expectedIndex)
        if index == expectedIndex, doubtful.isEmpty { return false }
        let held = HeldBlocks.Held(
            block: block, values: Array(values), arrival: arrival, hasRoom: hasRoom)
        let firstN = n(of: index, in: epoch)
        let end = firstN.addingClamped(Int64(block.instantCount) - 1)
        let position = timeMap.position(at: arrival)
        let tolerance = position.uncertainty.addingClamped(
            Int64(clamping: description.samplingFrequency * Self.arrivalTolerance) + Int64(block.instantCount))
        let isBorneOut = index >= expectedIndex && end <= position.n.addingClamped(tolerance)
        let verdict = doubtful.judge(
            held, index: index, heldIndex: unwrap(counter, near: doubtful.nextIndex ?? expectedIndex), expected: expectedIndex,
            isBorneOut: isBorneOut, isWhole: block.channelCount == description.channels.count,
            isMissing: index < expectedIndex && isMissing(firstN..<end.addingClamped(1)))
        switch verdict {
        case .held: return true
        case .behind: return false
        case .continues:
            guard !doubtful.isEmpty else { return false }
            resolveDoubt(with: held, index: index)
            return true
        case .believed:
            for entry in doubtful.takeEntries() { takeInPlace(entry) }
            return true
        case .restarted:
            restart(at: arrival)
            return true
        }
    }

    /// True where samples are known to be missing, whole or of a channel.
    private func isMissing(_ range: Range<Int64>) -> Bool {
        missing.intersects(range) || missingChannels.contains { $0.intersects(range) }
    }

    /// A block goes on where the last one ended, so that what is held does not: where a hole is left for it, it was damaged;
    /// else it has come late or twice, or has overtaken this one.
    private mutating func resolveDoubt(with block: HeldBlocks.Held, index: Int64) {
        guard let epoch else { return }
        let hole = index - expectedIndex
        let before = doubtful
        let heldN = n(of: before.first, in: epoch)..<n(of: max(before.first, before.next), in: epoch)
        // What fills a known gap has come late; what is there already, twice.
        let isLate = before.isBehind(expectedIndex) && (hole <= 0 || missing.intersects(heldN))
        let end = index + Int64(block.block.instantCount)
        let entries = doubtful.takeEntries()
        if isLate { for entry in entries { takeInPlace(entry) } }
        if !isLate, hole > 0, hole <= before.length { holeCause = .packetDamaged }
        let staysHeld = !isLate && before.mayHaveOvertaken(end)
        if !isLate, !staysHeld { damagedBlocks += Int64(entries.count) }
        takeInPlace(.block(block))
        guard staysHeld else { return }
        if before.hasOvertaken(end), hole <= 0 {
            for entry in entries { takeUndoubted(entry) }
        } else {
            // It may still be a damaged one: whether the next one follows it, or takes its place, tells.
            doubtful = before
            doubtful.isBehindHole = before.isBehindHole || hole > 0
        }
    }

    /// Nothing more comes: what is held is believed where the time bears it out.
    mutating func settleDoubtful() {
        guard !doubtful.isEmpty else { return }
        let isBelieved = doubtful.isBelievedAlone || doubtful.isBehind(expectedIndex)
        for entry in doubtful.takeEntries() {
            if isBelieved { takeInPlace(entry) } else { damagedBlocks += 1 }
        }
    }

    /// The headset's counter has begun anew while the link stayed up: an epoch of its own, placed by the time.
    private mutating func restart(at now: MonotonicTime) {
        let entries = doubtful.takeEntries()
        guard let known = epoch else { return }
        settlePartialRows(before: .max, cause: .headsetRestarted, at: now)
        linkStart = LinkStart(
            epochRule: .connection, bootIdentifier: known.bootIdentifier, hasMemory: false, buffered: nil,
            absenceCause: .headsetRestarted)
        linkStart?.leastN = nextN
        for entry in entries { takeInPlace(entry) }
    }

    /// Places what was held, unless its counter is still in doubt.
    mutating func takeUndoubted(_ entry: HeldBlocks.Entry) {
        switch entry {
        case .block(let held): takeUndoubted(held.block, held.values[...], at: held.arrival, hasRoom: held.hasRoom)
        case .unsent(let counter, let count, let time): unsentUndoubted(counter: counter, count: count, at: time)
        }
    }

    /// Places what was held.
    mutating func takeInPlace(_ entry: HeldBlocks.Entry) {
        switch entry {
        case .block(let held):
            takeInPlace(
                held.block, held.values[...], at: held.arrival, hasRoom: held.hasRoom)
        case .unsent(let counter, let count, let time): unsentInPlace(counter: counter, count: count, at: time)
        }
    }
}
