import Bluetooth
import Headsets
import Storage

/// Rows and gaps: what is new, what was missing, and what is there already.
extension StreamAssembler {
    /// Whole rows: new ones, ones that were missing, and duplicates.
    mutating func takeRows(_ values: ArraySlice<Int32>, firstN: Int64, at now: MonotonicTime, hasRoom: Bool) {
        let channels = description.channels.count
        let end = firstN + Int64(values.count / channels)
        if firstN < nextN {
            let below = firstN..<min(end, nextN)
            let stored = fill(below, values, firstN: firstN, hasRoom: hasRoom)
            duplicates += below.upperBound - below.lowerBound - stored
        }
        guard end > nextN else { return }
        let newFirst = max(firstN, nextN)
        if newFirst > nextN { addGap(nextN..<newFirst, cause: holeCause, at: now, certainty: holeCertainty) }
        if hasRoom {
            let new = values.dropFirst(Int(newFirst - firstN) * channels)
            draft.append(new, firstN: newFirst)
            signals?.take(new, firstN: newFirst)
            nextN = end
        } else {
            overflow(until: end, at: now)
        }
    }

    /// Stores what is missing of `range`. Returns how many samples were stored or completed.
    mutating func fill(_ range: Range<Int64>, _ values: ArraySlice<Int32>, firstN: Int64, hasRoom: Bool) -> Int64 {
        guard hasRoom else { return 0 }
        let channels = description.channels.count
        var stored: Int64 = 0
        for run in missing.remove(range) {
            let first = values.startIndex + Int(run.firstN - firstN) * channels
            draft.append(values[first..<(first + Int(run.end - run.firstN) * channels)], firstN: run.firstN)
            draft.ledger.recover(firstN: run.gapFirstN, channel: 0, count: run.end - run.firstN)
            stored += run.end - run.firstN
        }
        for channel in 0..<channels where missingChannels[channel].intersects(range) {
            stored += fillChannel(channel, range) { values[values.startIndex + Int($0 - firstN) * channels + channel] }
        }
        return stored
    }

    mutating func fillChannel(_ channel: Int, _ range: Range<Int64>, _ value: (Int64) -> Int32) -> Int64 {
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
    mutating func takePart(
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
    ///
    /// - Parameter cause: why nothing more comes, which is the cause of what had no time to come.
    mutating func settle(_ row: PartialRows.Row, cause: GapCause = .packetLost, at now: MonotonicTime) {
        if row.n < nextN {
            for run in missing.remove(row.n..<(row.n + 1)) {
                draft.ledger.recover(firstN: run.gapFirstN, channel: 0, count: 1)
                store(row, cause: cause, at: now)
            }
            return
        }
        if row.n > nextN { addGap(nextN..<row.n, cause: holeCause, at: now, certainty: holeCertainty) }
        store(row, cause: cause, at: now)
        signals?.take(row.values[...], firstN: row.n, missing: row.missing)
        nextN = row.n + 1
    }

    private mutating func store(_ row: PartialRows.Row, cause: GapCause, at now: MonotonicTime) {
        draft.append(row.values[...], firstN: row.n, missingChannels: row.missing)
        for channel in 0..<description.channels.count where row.missing >> channel & 1 == 1 {
            // Consecutive rows that lack the same channel belong to one gap: it grows.
            if let last = missingChannels[channel].last, last.end == row.n {
                _ = missingChannels[channel].remove(last.firstN..<last.end)
                missingChannels[channel].insert(
                    MissingSamples.Run(firstN: last.firstN, end: row.n + 1, gapFirstN: last.gapFirstN))
                draft.ledger.close(
                    firstN: last.gapFirstN, channel: channel + 1, count: row.n + 1 - last.gapFirstN, certainty: .counted)
            } else {
                missingChannels[channel].insert(
                    MissingSamples.Run(firstN: row.n, end: row.n + 1, gapFirstN: row.n))
                let isUnarrived = row.unarrived >> channel & 1 == 1
                draft.ledger.open(
                    firstN: row.n, channel: channel + 1, count: 1, cause: isUnarrived ? cause : .packetLost, noticed: now,
                    certainty: .counted)
            }
        }
    }

    /// There is no room for what lies below `end`. A buffer that stays full is one gap, however long it lasts.
    mutating func overflow(until end: Int64, at now: MonotonicTime) {
        guard let gap = overflowGap, gap.upperBound == nextN, let last = missing.last, last.end == nextN,
            last.gapFirstN == gap.lowerBound, last.isRecoverable
        else {
            overflowGap = nextN..<end
            return addGap(nextN..<end, cause: overflowCause, at: now)
        }
        _ = missing.remove(last.firstN..<last.end)
        missing.insert(MissingSamples.Run(firstN: last.firstN, end: end, gapFirstN: last.gapFirstN))
        draft.ledger.close(firstN: gap.lowerBound, channel: 0, count: end - gap.lowerBound, certainty: .counted)
        overflowGap = gap.lowerBound..<end
        nextN = end
    }

    /// Enters a gap into the ledger, and settles it.
    ///
    /// - Parameters:
    ///   - certainty: how its length is known.
    ///   - isOpened: the ledger has it already, without its end.
    mutating func addGap(
        _ range: Range<Int64>, cause: GapCause, at now: MonotonicTime, certainty: GapCertainty = .counted,
        isRecoverable: Bool = true, isOpened: Bool = false
    ) {
        guard !range.isEmpty else { return }
        let (firstN, count) = (range.lowerBound, range.upperBound - range.lowerBound)
        if isOpened {
            draft.ledger.close(firstN: firstN, channel: 0, count: count, certainty: certainty)
        } else {
            draft.ledger.open(
                firstN: firstN, channel: 0, count: count, cause: cause, noticed: now, certainty: certainty)
        }
        missing.insert(
            MissingSamples.Run(firstN: firstN, end: range.upperBound, gapFirstN: firstN, isRecoverable: isRecoverable))
        nextN = max(nextN, range.upperBound)
    }
}
