import Bluetooth
import Headsets
import Storage

/// One stream as a database would hold it, with the database's constraints: batches go in, and the audit can be asked.
struct StoredStream {
    struct GapKey: Hashable {
        var firstN: Int64
        var channel: Int
    }

    struct Gap: Hashable {
        var count: Int64?
        var recovered: Int64 = 0
        var cause: GapCause
        var noticed: MonotonicTime
        var certainty = GapCertainty.unknown
    }

    let id: StreamID
    let channelCount: Int
    private(set) var rows: [Int64: [Int32?]] = [:]
    private(set) var gaps: [GapKey: Gap] = [:]
    private(set) var segments: [Int64: SegmentRecord] = [:]
    private(set) var epochs: [EpochRecord] = []
    /// The segments before this n were measured in earlier boots of the host: their times do not compare.
    private var hostBootN = Int64.min
    /// What a database would have refused, or an audit complained about.
    private(set) var problems: [String] = []

    init(id: StreamID, channelCount: Int) {
        self.id = id
        self.channelCount = channelCount
    }

    /// The host boots anew.
    mutating func beginHostBoot() { hostBootN = (rows.keys.max() ?? -1) + 1 }

    /// Gaps of whole rows, in ascending order.
    var wholeGaps: [(firstN: Int64, gap: Gap)] {
        gaps.filter { $0.key.channel == 0 }.map { ($0.key.firstN, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Writes a batch, then audits.
    mutating func commit(_ batch: WriteBatch) {
        for run in batch.samples {
            for row in 0..<run.rowCount {
                let n = run.firstN + Int64(row)
                let missing = run.missingChannels.isEmpty ? 0 : run.missingChannels[row]
                if rows[n] != nil { problems.append("row \(n) is stored twice") }
                rows[n] = (0..<channelCount).map {
                    missing >> $0 & 1 == 1 ? nil : run.values[row * channelCount + $0]
                }
            }
        }
        for change in batch.changes {
            switch change {
            case .epoch(let epoch):
                epochs.removeAll { $0.number == epoch.number }
                epochs.append(epoch)
            case .fill(let fill): apply(fill)
            case .ledger(let entry): apply(entry)
            case .segment(let segment): segments[segment.firstN] = segment
            default: break
            }
        }
        audit()
    }

    private mutating func apply(_ fill: ChannelFill) {
        for (offset, value) in fill.values.enumerated() {
            let n = fill.firstN + Int64(offset)
            if rows[n] == nil || rows[n]?[fill.channel - 1] != nil { problems.append("fill of \(n) fits no row") }
            rows[n]?[fill.channel - 1] = value
        }
    }

    private mutating func apply(_ entry: LedgerEntry) {
        switch entry {
        case .open(_, let firstN, let channel, let count, let cause, let noticed, let certainty):
            let key = GapKey(firstN: firstN, channel: channel)
            if gaps[key] != nil { problems.append("the gap at \(firstN) (channel \(channel)) is there already") }
            if let count, count < (channel == 0 ? 0 : 1) { problems.append("the gap at \(firstN) has \(count) samples") }
            gaps[key] = Gap(count: count, cause: cause, noticed: noticed, certainty: certainty)
        case .close(_, let firstN, let channel, let count, let certainty):
            let key = GapKey(firstN: firstN, channel: channel)
            if gaps[key] == nil || count < gaps[key]?.count ?? (channel == 0 ? 0 : 1) {
                problems.append("the gap at \(firstN) (channel \(channel)) cannot have \(count) samples")
            }
            gaps[key]?.count = count
            gaps[key]?.certainty = certainty
        case .recover(_, let firstN, let channel, let count):
            let key = GapKey(firstN: firstN, channel: channel)
            gaps[key]?.recovered += count
            guard let gap = gaps[key], let whole = gap.count, gap.recovered <= whole else {
                return problems.append("\(count) of the gap at \(firstN) (channel \(channel)) cannot be recovered")
            }
        case .withdraw(_, let firstN, let channel):
            if gaps.removeValue(forKey: GapKey(firstN: firstN, channel: channel)) == nil {
                problems.append("there is no gap at \(firstN) (channel \(channel)) to withdraw")
            }
        }
    }

    /// The audit of the design: rows + ledgered missing = last - first + 1, and so on.
    private mutating func audit() {
        let whole = wholeGaps
        let closed = whole.compactMap { entry in entry.gap.count.map { (entry.firstN..<(entry.firstN + $0), entry.gap) } }
        let first = [rows.keys.min(), closed.first?.0.lowerBound].compactMap(\.self).min()
        let last = [rows.keys.max(), closed.last.map { $0.0.upperBound - 1 }].compactMap(\.self).max()
        if let first, let last {
            let missing = closed.reduce(0) { $0 + Int64($1.0.count) - $1.1.recovered }
            if Int64(rows.count) + missing != last - first + 1 {
                problems.append("\(rows.count) rows + \(missing) missing are not \(first) ... \(last)")
            }
        }
        for (before, after) in zip(closed, closed.dropFirst()) where before.0.upperBound > after.0.lowerBound {
            problems.append("the gaps at \(before.0.lowerBound) and \(after.0.lowerBound) overlap")
        }
        for (range, gap) in closed {
            let found = range.reduce(0) { $0 + (rows[$1] == nil ? 0 : 1) }
            if found != gap.recovered { problems.append("\(found) rows in the gap at \(range), not \(gap.recovered)") }
        }
        let open = whole.filter { $0.gap.count == nil }
        if open.count > 1 { problems.append("\(open.count) gaps are open") }
        if let open = open.first, let last, open.firstN != last + 1 {
            problems.append("the open gap begins at \(open.firstN), not after \(last)")
        }
        auditChannels()
        auditSegments()
    }

    private mutating func auditChannels() {
        for channel in 1...channelCount {
            var ledgered: Set<Int64> = []
            var recovered: Int64 = 0
            for (key, gap) in gaps where key.channel == channel {
                guard let count = gap.count else {
                    problems.append("a gap of a channel is open")
                    continue
                }
                for n in key.firstN..<(key.firstN + count) where !ledgered.insert(n).inserted {
                    problems.append("two gaps of channel \(channel) hold \(n)")
                }
                recovered += gap.recovered
            }
            let empty = rows.filter { $0.value[channel - 1] == nil }.keys
            if !ledgered.isSuperset(of: empty) || Int64(empty.count) != Int64(ledgered.count) - recovered {
                problems.append("channel \(channel): \(empty.count) NULL, \(ledgered.count) - \(recovered) ledgered")
            }
        }
    }

    private mutating func auditSegments() {
        let ordered = segments.values.sorted { $0.firstN < $1.firstN }
        for (before, after) in zip(ordered, ordered.dropFirst()) {
            if before.lastN >= after.firstN { problems.append("segments \(before.firstN) and \(after.firstN) overlap") }
            if before.firstN < hostBootN, hostBootN <= after.firstN { continue }
            if Self.time(of: before.lastN, in: before) > Self.time(of: after.firstN, in: after) {
                problems.append("time goes back at segment \(after.firstN)")
            }
        }
        if let first = rows.keys.min(), ordered.first.map({ $0.firstN > first }) ?? true {
            problems.append("row \(first) has no time")
        }
    }

    static func time(of n: Int64, in segment: SegmentRecord) -> Double {
        Double(segment.referenceTime.nanoseconds) + (Double(n - segment.referenceN) * segment.periodNanoseconds).rounded()
    }

    /// What a process finds that starts with this database.
    func resumeState(
        _ description: StreamDescription, isSameHostBoot: Bool = true
    ) -> ResumeState.StreamState {
        let closed = gaps.filter { $0.key.channel == 0 && $0.value.count != nil }
        let open = gaps.first { $0.key.channel == 0 && $0.value.count == nil }
        let ends = closed.map { $0.key.firstN + ($0.value.count ?? 0) } + [rows.keys.max().map { $0 + 1 } ?? 0]
        var ranges: [ResumeState.MissingRange] = []
        for (key, gap) in gaps {
            for n in key.firstN..<(key.firstN + (gap.count ?? 0)) {
                let isThere = key.channel == 0 ? rows[n] != nil : rows[n]?[key.channel - 1] != nil
                if !isThere {
                    ranges.append(
                        ResumeState.MissingRange(firstN: n, count: 1, channel: key.channel, gapFirstN: key.firstN))
                }
            }
        }
        ranges.sort { $0.firstN < $1.firstN }
        return ResumeState.StreamState(
            id: id, position: 0, description: description, nextN: ends.max() ?? 0,
            hasSamples: !rows.isEmpty || !gaps.isEmpty, epoch: epochs.max { $0.number < $1.number },
            openGap: open.map {
                ResumeState.MissingRange(firstN: $0.key.firstN, count: 0, channel: 0, gapFirstN: $0.key.firstN)
            },
            openGapCause: open?.value.cause, missing: ranges.filter { $0.channel == 0 },
            missingChannels: ranges.filter { $0.channel > 0 }, segment: segments.values.max { $0.firstN < $1.firstN },
            isSameHostBoot: isSameHostBoot)
    }
}
