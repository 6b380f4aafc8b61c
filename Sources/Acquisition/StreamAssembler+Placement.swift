import Bluetooth
import Headsets
import Storage

/// The place of a block: which n its first sample has, on this link and across links, boots and restarts.
extension StreamAssembler {
    /// The n of the block's first sample; nil where the block belongs to another boot of the headset.
    mutating func place(_ block: SampleBlock, at arrival: MonotonicTime, unixNanoseconds: Int64?) -> Int64? {
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
    mutating func settleDamage(at now: MonotonicTime) {
        if hasSamples { addGap(nextN..<(nextN + damagedBefore), cause: .packetDamaged, at: now, isRecoverable: false) }
        damagedBefore = 0
    }

    /// The first block of a link: continues the epoch or begins one, and closes the gap.
    mutating func beginSamples(
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
    mutating func settleAbsence(
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
    mutating func beginEpoch(
        _ block: SampleBlock, _ start: LinkStart, boot: UInt32?, at arrival: MonotonicTime, unixNanoseconds: Int64?
    ) -> Int64 {
        let blockIndex = Int64(block.counter ?? 0) * Int64(description.samplesPerCount)
        var firstIndex = blockIndex
        if hasSamples, epoch?.bootIdentifier != nil, let buffered = start.buffered {
            firstIndex = min(blockIndex, unwrap(buffered.oldest, near: blockIndex))
        }
        let lastOfBlock = predictedN(at: arrival, unixNanoseconds: unixNanoseconds)
        let predicted = lastOfBlock - Int64(block.instantCount - 1) - (blockIndex - firstIndex)
        let firstN: Int64 =
            if let aligned = start.alignedN {
                max(nextN, aligned - (blockIndex - firstIndex))
            } else {
                hasSamples ? max(nextN, start.leastN, predicted) : start.leastN
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
        return firstN + (blockIndex - firstIndex)
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

    mutating func beginSegment(epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime) {
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

    mutating func observe(_ n: Int64, at arrival: MonotonicTime) {
        timeMap?.observe(n: n, at: arrival)
        if let finished = timeMap?.rollOver(at: nextN) { draft.segments.append(finished) }
    }
}
