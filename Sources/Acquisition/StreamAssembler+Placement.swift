import Bluetooth
import Headsets
import Storage

/// The place of a block: which n its first sample has, on this link and across links, boots and restarts.
extension StreamAssembler {
    /// The n of the block's first sample; nil where the block belongs to another boot of the headset.
    mutating func place(_ block: SampleBlock, at arrival: MonotonicTime) -> Int64? {
        guard isLinked else { return nil }
        if let start = linkStart {
            guard block.origin == .live else { return nil }
            linkStart = nil
            latestPart = arrival
            let isFirstOfStream = !hasSamples
            let blockN = beginSamples(block, start, at: arrival)
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
            // Without a counter, a channel that the waiting row has already, or the time, tells that the next instant has come.
            let isNext = partial.isBeyond(block) || arrival - latestPart > .seconds(1 / description.samplingFrequency) / 2
            if damagedBefore > 0 || isNext { settlePartialRows(before: .max, at: arrival) }
            latestPart = arrival
            settleDamage(at: arrival)
            if partial.isEmpty, block.channelCount == description.channels.count { noteUncounted(block, at: arrival) }
            noteLossDetection(block)
            return nextN
        }
        let index = unwrap(counter, near: expectedIndex)
        if block.origin == .live { expectedIndex = max(expectedIndex, index + Int64(block.instantCount)) }
        return n(of: index, in: epoch)
    }

    /// Samples of a stream without counter that are known to be damaged are missing. Before the link's first sample they lie
    /// in the absence that came before it, whose length the elapsed time tells.
    mutating func settleDamage(at now: MonotonicTime) {
        if hasSamples, linkStart == nil {
            addGap(nextN..<(nextN + damagedBefore), cause: .packetDamaged, at: now, isRecoverable: false)
        }
        damagedBefore = 0
    }

    /// The first block of a link: continues the epoch or begins one, and closes the gap.
    mutating func beginSamples(
        _ block: SampleBlock, _ start: LinkStart, at arrival: MonotonicTime
    ) -> Int64? {
        let boot = block.bootIdentifier ?? start.bootIdentifier
        let blockN: Int64
        var oldestN: Int64?
        var certainty = GapCertainty.counted
        if let epoch, start.epochRule == .boot, epoch.bootIdentifier == boot, boot != nil, let counter = block.counter,
            isBelievable(counter, in: epoch, at: arrival)
        {
            let predicted = predicted(at: arrival)?.n ?? nextN
            let index = unwrap(counter, near: epoch.firstIndex.addingClamped(predicted - epoch.firstN))
            expectedIndex = index + Int64(block.instantCount)
            blockN = max(n(of: index, in: epoch), epoch.firstN)
            if let buffered = start.buffered { oldestN = n(of: unwrap(buffered.oldest, near: index), in: epoch) }
            if needsNewSegment { beginSegment(epoch: epoch.number, firstN: nextN, referenceN: blockN, at: arrival) }
        } else {
            let isRestart = epoch != nil && start.epochRule == .boot
            certainty = beginEpoch(block, start, boot: boot, at: arrival)
            blockN = expectedIndex - Int64(block.instantCount) - (epoch?.firstIndex ?? 0) + (epoch?.firstN ?? 0)
            oldestN = start.buffered == nil || !isRestart ? nil : epoch?.firstN
            if isRestart, let first = epoch?.firstN {
                settleAbsence(
                    until: blockN, recoverableFrom: oldestN ?? blockN, lostCause: .headsetRestarted,
                    cause: .headsetRestarted, certainty: certainty, at: arrival)
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
            cause: cause, certainty: certainty, at: arrival)
        hasSamples = true
        return blockN
    }

    /// By how much the counter of a link's first block may differ from what the time says, in seconds: a queue, a slow clock.
    private static let startTolerance = 60.0

    /// Whether a headset that says that it has not restarted can have counted so far: neither beyond the time that has passed,
    /// nor behind what it has sent.
    private func isBelievable(_ counter: UInt32, in epoch: EpochRecord, at arrival: MonotonicTime) -> Bool {
        guard let predicted = predicted(at: arrival) else { return true }
        let expected = epoch.firstIndex.addingClamped(predicted.n - epoch.firstN)
        let n = n(of: unwrap(counter, near: expected), in: epoch)
        let tolerance = tolerance(of: predicted)
        return n <= predicted.n.addingClamped(tolerance) && n.addingClamped(tolerance) >= nextN
    }

    /// By how many samples the count of a link's beginning may differ from what the time says.
    private func tolerance(of predicted: StreamPosition) -> Int64 {
        predicted.uncertainty.addingClamped(Int64(clamping: description.samplingFrequency * Self.startTolerance))
    }

    /// Everything from ``nextN`` to `end` is missing: what lies before `recoverableFrom` for good, the rest may be drained.
    ///
    /// - Parameter certainty: how `end` is known; unknown between two host boots, where only their clocks can tell.
    mutating func settleAbsence(
        until end: Int64, recoverableFrom: Int64, lostCause: GapCause, cause: GapCause, certainty: GapCertainty,
        at now: MonotonicTime
    ) {
        let gap = openGap
        openGap = nil
        let first = nextN
        let split = min(end, max(first, recoverableFrom))
        if certainty == .unknown, hasSamples {
            let continued = gap?.firstN == first && gap?.cause == cause
            let noticed = gap?.noticed ?? now
            if let gap, !continued { draft.ledger.withdraw(firstN: gap.firstN, channel: 0) }
            // What another bank tells to be missing comes first: two gaps never begin at one n.
            if end > first { addGap(first..<end, cause: cause, at: noticed, isRecoverable: false, isOpened: continued) }
            enterGapBetweenBoots(at: end, cause: cause, noticed: noticed, isOpened: continued && end == first)
            return
        }
        let isMissing = hasSamples && end > first
        let continued = isMissing && gap?.firstN == first && gap?.cause == (split > first ? lostCause : cause)
        if let gap, !continued { draft.ledger.withdraw(firstN: gap.firstN, channel: 0) }
        guard isMissing else { return }
        let noticed = gap?.noticed ?? now
        addGap(first..<split, cause: lostCause, at: noticed, certainty: certainty, isRecoverable: false, isOpened: continued)
        addGap(split..<end, cause: cause, at: noticed, certainty: certainty, isOpened: continued && split == first)
    }

    /// A gap of which only the clocks of two host boots know how long it is: n goes on, the ledger's views compute the rest.
    mutating func enterGapBetweenBoots(at firstN: Int64, cause: GapCause, noticed: MonotonicTime, isOpened: Bool) {
        if isOpened {
            draft.ledger.close(firstN: firstN, channel: 0, count: 0, certainty: .timed(uncertainty: 0))
        } else {
            draft.ledger.open(
                firstN: firstN, channel: 0, count: 0, cause: cause, noticed: noticed, certainty: .timed(uncertainty: 0))
        }
    }

    /// A new run of the counter: its first n follows from the time that has passed, and never goes back.
    ///
    /// - Returns: how it is known what lies before it.
    mutating func beginEpoch(
        _ block: SampleBlock, _ start: LinkStart, boot: UInt32?, at arrival: MonotonicTime
    ) -> GapCertainty {
        let blockIndex = Int64(block.counter ?? 0) * Int64(description.samplesPerCount)
        let before = predicted(block, at: arrival)
        deviceClock?.beginStretch()
        var firstIndex = blockIndex
        if hasSamples, epoch?.bootIdentifier != nil, let buffered = start.buffered {
            let oldest = min(blockIndex, unwrap(buffered.oldest, near: blockIndex))
            // It began after the samples that came before: it holds no more than the time since then. Between two boots of the
            // host nobody knows how much that is, and the gap takes no place in n: what it holds from before is left to it.
            let most = before.map { ($0.n - nextN).addingClamped(tolerance(of: $0)) } ?? 0
            if blockIndex - oldest <= most { firstIndex = oldest }
        }
        let lastOfBlock = before?.n ?? nextN
        let placed = lastOfBlock.addingClamped(-Int64(block.instantCount - 1) - (blockIndex - firstIndex))
        let firstN: Int64 =
            if let aligned = start.alignedN {
                max(nextN, aligned.addingClamped(-(blockIndex - firstIndex)))
            } else {
                hasSamples ? max(nextN, start.leastN, before == nil ? nextN : placed) : start.leastN
            }
        let began = EpochRecord(
            stream: id, number: epoch.map { $0.number + 1 } ?? 0, bootIdentifier: boot, firstN: firstN,
            firstIndex: firstIndex, began: arrival)
        epoch = began
        draft.epochs.append(began)
        // What an earlier boot still owed can never be read again.
        missing.giveUp(Int64.min..<firstN)
        for channel in missingChannels.indices { missingChannels[channel].giveUp(Int64.min..<firstN) }
        expectedIndex = blockIndex + Int64(block.instantCount)
        guard let before else { return hasSamples ? .unknown : .counted }
        return .timed(uncertainty: before.uncertainty)
    }

    func n(of index: Int64, in epoch: EpochRecord) -> Int64 { epoch.firstN + (index - epoch.firstIndex) }

    /// The index nearest to `expected` whose counter is `counter`.
    func unwrap(_ counter: UInt32, near expected: Int64) -> Int64 {
        let step = Int64(description.samplesPerCount)
        guard let modulus = description.counterModulus else { return Int64(counter) * step }
        let expectedCount = floorDivide(expected, step)
        let behind = expectedCount - Int64(counter)
        return (Int64(counter) + floorDivide(behind + modulus / 2, modulus) * modulus) * step
    }

    func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

/// The time of a sample, and the n of a time.
extension StreamAssembler {
    /// Where the stream stands at `now` by the time that has passed: by the line of this process, or that of an earlier one in
    /// the same boot of the host. Nil across boots of the host: how far they are apart only clocks know that may still be
    /// wrong.
    func predicted(at now: MonotonicTime) -> StreamPosition? {
        let tolerance = Int64(clamping: (description.samplingFrequency * Self.arrivalTolerance).rounded(.up))
        if let timeMap {
            let position = timeMap.position(at: now)
            return StreamPosition(
                n: max(nextN, position.n), uncertainty: position.uncertainty.addingClamped(tolerance))
        }
        guard let earlierMap, earlierMap.isSameHostBoot, let segment = earlierMap.segment else { return nil }
        let elapsed = Double(now.nanoseconds) - Double(segment.referenceTime.nanoseconds)
        let deviation = 3 * (learntRate ?? .unknown).deviation
        let uncertainty = (segment.uncertaintyNanoseconds ?? 0) + max(0, elapsed) * deviation
        return StreamPosition(
            n: max(nextN, segment.referenceN.addingClamped(Int64(clamping: (elapsed / segment.periodNanoseconds).rounded()))),
            uncertainty: Int64(clamping: uncertainty / segment.periodNanoseconds).addingClamped(tolerance))
    }

    /// What a rate was measured as long ago is believed to so much, as a part: temperature and age move crystals.
    static let learntDeviation = 20e-6

    /// Takes the rate of an earlier recording for the stream's own, until more is known.
    mutating func learn(from rates: [ResumeState.LearntRate]) {
        let known = rates.first { rate in
            rate.samplingFrequency == description.samplingFrequency
                && (rate.stream == description.name || description.name.hasPrefix(rate.stream + "_"))
        }
        guard let known else { return }
        let slope = known.periodNanoseconds * description.samplingFrequency / 1e9 - 1
        learntRate = ArrivalEnvelope.Rate(slope: slope, deviation: Self.learntDeviation)
    }

    mutating func beginSegment(epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime) {
        endSegment()
        var map = TimeMap(
            stream: id, epoch: epoch, firstN: firstN, referenceN: referenceN, at: time,
            samplingFrequency: description.samplingFrequency, rate: timeMap?.rate ?? learntRate ?? .unknown)
        if let previous = timeMap {
            map.setFloor(previous.time(of: previous.segment.lastN))
        } else if let earlierMap, earlierMap.isSameHostBoot, let segment = earlierMap.segment {
            let last = Double(segment.lastN - segment.referenceN) * segment.periodNanoseconds
            map.setFloor(segment.referenceTime + .nanoseconds(Int64(clamping: last.rounded())))
        }
        timeMap = map
        needsNewSegment = false
    }

    /// The map up to here is written as it is.
    private mutating func endSegment() {
        guard timeMap != nil else { return }
        timeMap?.interrupt()
        draft.segments += timeMap?.take() ?? []
        draft.arrivals += timeMap?.takeEvidence() ?? []
    }
}
