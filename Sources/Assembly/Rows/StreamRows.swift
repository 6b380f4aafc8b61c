import Bluetooth
import Headsets
import Storage

/// The rows of one stream: each sample whose n is known is stored once, completes what was missing, or is a duplicate.
///
/// A block beyond the ledger's `nextN` is new, what lies between becomes a gap; a block below fills what is missing.
package struct StreamRows: Sendable {
    /// What is missing, and where the stream goes on.
    var ledger: StreamLedger
    /// What is known of the samples before the next block, should some be missing.
    var hole = Hole()
    /// Samples that arrived again and were dropped.
    private(set) var duplicateCount: Int64 = 0
    /// Those of them whose values differ from those that are stored, and the first one's n.
    private(set) var contradiction: (count: Int64, firstN: Int64)?
    /// The latest gap with wraps of the counter that only the time has shown, until it is in doubt.
    private var wrapGap: (range: Range<Int64>, missed: Int64)?
    /// By how many samples rows may lie beside their n, as samples that came again have shown; nil where none has.
    private var misplaced: Int64?
    private var recent: RecentRows

    /// Rows that no batch has taken yet.
    package private(set) var draft: RowDraft
    private let channelCount: Int
    /// Rows of instants whose packets have not all arrived.
    private var partial: PartialRows
    /// Looks at new rows; nil where nothing can be said about the stream's channels.
    private var signals: SignalCheck?

    struct Hole: Hashable, Sendable {
        /// Why they are missing.
        var cause = GapCause.packetLost
        /// How it is known how many those are.
        var certainty = GapCertainty.counted
        /// How many of them are whole wraps of the counter that only the time has shown.
        var missedWraps: Int64 = 0
    }

    init(stream: StreamID, _ description: StreamDescription, _ ledger: StreamLedger) {
        self.ledger = ledger
        channelCount = description.channels.count
        draft = RowDraft(stream: stream, channelCount: channelCount)
        recent = RecentRows(wrap: SampleCounter(description).wrapLength, channelCount: channelCount)
        partial = PartialRows(channelCount: channelCount)
        signals = SignalCheck(stream: stream, description)
    }

    // MARK: Asking

    /// The first n that is not settled.
    var nextN: Int64 { ledger.nextN }

    /// True where no row waits for packets.
    var isWhole: Bool { partial.isEmpty }

    /// The first row that waits for packets; nil for none.
    var firstPartialN: Int64? { partial.firstN }

    /// True where a block without counter holds a channel of an instant behind those of the rows that wait.
    func isBeyondPartial(_ block: SampleBlock) -> Bool { partial.isBeyond(block) }

    // MARK: Blocks

    /// Takes a block whose first sample is `firstN`.
    mutating func take(_ received: ReceivedBlock, firstN: Int64) {
        let block = received.block
        if block.channelCount < channelCount {
            takePart(received, firstN: firstN)
        } else {
            if !partial.isEmpty, firstN + Int64(block.instantCount) > nextN {
                settlePartial(before: firstN, at: received.arrival)
            }
            takeWhole(received, firstN: firstN)
        }
    }

    /// Samples have arrived again.
    mutating func drop(count: Int) { duplicateCount += Int64(count) }

    /// Rows below `n` of which a packet has not come are settled now.
    ///
    /// - Parameter cause: why it will not come any more, where nothing later of its channels came either.
    mutating func settlePartial(before n: Int64, cause: GapCause = .packetLost, at now: MonotonicTime) {
        for row in partial.take(before: n) { settle(row, cause: cause, at: now) }
    }

    /// The headset took `count` samples from `firstN` on, and never sends them. Returns false where that is no news.
    mutating func takeUnsent(firstN: Int64, count: Int64, at now: MonotonicTime) -> Bool {
        guard firstN >= nextN, partial.isEmpty else { return false }
        addHole(hole, before: firstN, at: now)
        ledger.addUnsent(count: count, at: now)
        return true
    }

    // MARK: Whole rows

    /// New rows, ones that were missing, and duplicates.
    private mutating func takeWhole(_ received: ReceivedBlock, firstN: Int64) {
        let values = received.values
        let end = firstN + Int64(values.count / channelCount)
        if firstN < nextN {
            let below = firstN..<min(end, nextN)
            compare(below, values, firstN: firstN)
            let stored = received.hasRoom ? fill(below, values, firstN: firstN) : 0
            duplicateCount += below.upperBound - below.lowerBound - stored
        }
        guard end > nextN else { return }
        let newFirst = max(firstN, nextN)
        addHole(hole, before: newFirst, at: received.arrival)
        // What comes first behind a gap of no count is kept all the same: two gaps cannot begin at one n.
        guard received.hasRoom || ledger.endsInGapOfNoCount else { return ledger.overflow(until: end, at: received.arrival) }
        let new = values.dropFirst(Int(newFirst - firstN) * channelCount)
        draft.append(new, firstN: newFirst)
        recent.note(new, firstN: newFirst)
        signals?.take(new, firstN: newFirst)
        ledger.extend(to: end)
    }

    /// A sample that comes once more has the values of its row. Where it has others, one of the two has another n; where wraps
    /// of the counter were missed just before, perhaps one more or less, or elsewhere.
    private mutating func compare(_ range: Range<Int64>, _ values: ArraySlice<Int32>, firstN: Int64) {
        let count = recent.contradictions(range, values, firstN: firstN)
        guard count > 0 else { return }
        contradiction = ((contradiction?.count ?? 0) + count, contradiction?.firstN ?? range.lowerBound)
        guard let gap = wrapGap, range.lowerBound < gap.range.upperBound + gap.missed else { return }
        ledger.doubt(gap.range, within: gap.missed)
        misplaced = gap.missed
        wrapGap = nil
    }

    /// By how many samples rows may lie beside their n, where that was found since the last call; nil where it was not.
    mutating func takeMisplaced() -> Int64? {
        defer { misplaced = nil }
        return misplaced
    }

    /// What has come again with other values since the last call: how many samples, and the n of the first; nil for none.
    mutating func takeContradiction() -> (count: Int64, firstN: Int64)? {
        defer { contradiction = nil }
        return contradiction
    }

    /// Stores what is missing of `range`. Returns how many samples were stored or completed.
    private mutating func fill(_ range: Range<Int64>, _ values: ArraySlice<Int32>, firstN: Int64) -> Int64 {
        var stored: Int64 = 0
        for run in ledger.recover(range) {
            let first = values.startIndex + Int(run.firstN - firstN) * channelCount
            let found = values[first..<(first + Int(run.end - run.firstN) * channelCount)]
            draft.append(found, firstN: run.firstN)
            recent.note(found, firstN: run.firstN)
            stored += run.end - run.firstN
        }
        let width = channelCount
        for channel in 0..<width where ledger.isMissing(range, channel: channel) {
            stored += fill(channel, range) { values[values.startIndex + Int($0 - firstN) * width + channel] }
        }
        return stored
    }

    private mutating func fill(_ channel: Int, _ range: Range<Int64>, _ value: (Int64) -> Int32) -> Int64 {
        var stored: Int64 = 0
        for run in ledger.recover(range, channel: channel) {
            draft.fill(channel: channel, firstN: run.firstN, values: (run.firstN..<run.end).map(value))
            stored += run.end - run.firstN
        }
        return stored
    }

    // MARK: Rows in parts

    /// A block that holds some of the channels: joined with the packets of the other channels of the same instants.
    private mutating func takePart(_ received: ReceivedBlock, firstN: Int64) {
        let block = received.block
        for instant in 0..<block.instantCount {
            let n = firstN + Int64(instant)
            let first = received.values.startIndex + instant * block.channelCount
            let part = received.values[first..<(first + block.channelCount)]
            if n < nextN, !ledger.isMissingWhole(n..<(n + 1)) {
                // The row is settled: only channels that it lacks are of use.
                var stored: Int64 = 0
                for (offset, value) in part.enumerated() where received.hasRoom {
                    let channel = block.firstChannel + offset
                    if ledger.isMissing(n..<(n + 1), channel: channel) {
                        stored += fill(channel, n..<(n + 1)) { _ in value }
                    }
                }
                if stored == 0 { duplicateCount += 1 }
            } else if received.hasRoom || ledger.endsInGapOfNoCount {
                partial.add(part, n: n, firstChannel: block.firstChannel, behind: instant == 0 ? hole : Hole())
            } else if n >= nextN {
                ledger.overflow(until: n + 1, at: received.arrival)
            }
        }
        for row in partial.takeReady() { settle(row, cause: .packetLost, at: received.arrival) }
    }

    /// Writes a row whose packets have all arrived, or are not waited for any longer.
    ///
    /// - Parameter cause: why nothing more comes, which is the cause of what had no time to come.
    private mutating func settle(_ row: PartialRows.Row, cause: GapCause, at now: MonotonicTime) {
        if row.n < nextN {
            for _ in ledger.recover(row.n..<(row.n + 1)) { store(row, cause: cause, at: now) }
            return
        }
        addHole(row.hole, before: row.n, at: now)
        store(row, cause: cause, at: now)
        signals?.take(row.values[...], firstN: row.n, missing: row.missing)
        ledger.extend(to: row.n + 1)
    }

    private mutating func store(_ row: PartialRows.Row, cause: GapCause, at now: MonotonicTime) {
        draft.append(row.values[...], firstN: row.n, missingChannels: row.missing)
        for channel in 0..<channelCount where row.missing >> channel & 1 == 1 {
            let isUnarrived = row.unarrived >> channel & 1 == 1
            ledger.add(channel: channel, ofRow: row.n, cause: isUnarrived ? cause : .packetLost, at: now)
        }
    }

    /// What lies between the latest row and `n` is missing.
    private mutating func addHole(_ hole: Hole, before n: Int64, at now: MonotonicTime) {
        guard n > nextN else { return }
        if hole.missedWraps > 0 { wrapGap = (nextN..<n, hole.missedWraps) }
        ledger.add(nextN..<n, cause: hole.cause, at: now, certainty: hole.certainty)
    }

    // MARK: Writing

    /// What is looked for in the signals is looked for anew.
    mutating func checkSignals(of description: StreamDescription, stream: StreamID) {
        signals = SignalCheck(stream: stream, description)
    }

    /// Moves rows and gaps into a batch.
    mutating func move(into batch: inout WriteBatch) {
        draft.move(into: &batch)
        batch.changes += ledger.take().map(Change.ledger)
    }

    /// What has come since the last time, for whoever follows.
    mutating func takeFollowed(rowMaximum: Int) -> (rows: [FollowedRows], fills: [ChannelFill]) {
        draft.takeFollowed(rowMaximum: rowMaximum)
    }

    /// Moves what was found in the signals into a batch.
    mutating func moveSignalChecks(into batch: inout WriteBatch) {
        if let results = signals?.takeResults() { batch.changes += results.map(Change.signalCheck) }
    }
}
