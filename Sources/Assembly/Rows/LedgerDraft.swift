import Bluetooth
import Headsets
import Storage

/// The changes of one stream's gap ledger since the last batch was taken. Changes of one gap are folded: a lost packet
/// that turned out to be merely reordered leaves no trace.
struct LedgerDraft: Sendable {
    private struct Key: Hashable, Comparable {
        var firstN: Int64
        var channel: Int

        static func < (left: Key, right: Key) -> Bool { (left.firstN, left.channel) < (right.firstN, right.channel) }
    }

    private struct Change {
        /// The gap is not in the database yet.
        var isNew: Bool
        var count: Int64?
        var countChanged: Bool
        var cause: GapCause
        var noticed: MonotonicTime
        var certainty = GapCertainty.unknown
        var recovered: Int64 = 0
        var isWithdrawn = false
    }

    private let stream: StreamID
    private var changes: [Key: Change] = [:]
    /// The same one by one, for whoever follows; nil while nobody does.
    private var followed: [LedgerEntry]?

    init(stream: StreamID) {
        self.stream = stream
    }

    /// True where there is nothing to write.
    var isEmpty: Bool { changes.isEmpty }

    /// True where a gap of no count begins at n, and is not handed over yet.
    func hasGapOfNoCount(at n: Int64) -> Bool { changes[Key(firstN: n, channel: 0)]?.count == 0 }

    mutating func open(
        firstN: Int64, channel: Int, count: Int64?, cause: GapCause, noticed: MonotonicTime,
        certainty: GapCertainty = .unknown
    ) {
        let key = Key(firstN: firstN, channel: channel)
        let wasStored = changes[key].map { !$0.isNew } ?? false
        var change = Change(
            isNew: true, count: count, countChanged: false, cause: cause, noticed: noticed, certainty: certainty)
        // A stored gap that was withdrawn and is opened anew (with its true cause) is first removed, then written.
        change.isWithdrawn = wasStored
        changes[key] = change
        followed?.append(
            .open(
                stream: stream, firstN: firstN, channel: channel, count: count, cause: cause, noticed: noticed,
                certainty: certainty))
    }

    mutating func close(firstN: Int64, channel: Int, count: Int64, certainty: GapCertainty) {
        let key = Key(firstN: firstN, channel: channel)
        var change = changes[key] ?? stored()
        change.count = count
        change.certainty = certainty
        change.countChanged = true
        changes[key] = change
        followed?.append(.close(stream: stream, firstN: firstN, channel: channel, count: count, certainty: certainty))
    }

    mutating func recover(firstN: Int64, channel: Int, count: Int64) {
        let key = Key(firstN: firstN, channel: channel)
        var change = changes[key] ?? stored()
        change.recovered += count
        followed?.append(.recover(stream: stream, firstN: firstN, channel: channel, count: count))
        if change.isNew, !change.isWithdrawn, change.cause == .packetLost, change.recovered == change.count {
            changes[key] = nil
        } else {
            changes[key] = change
        }
    }

    mutating func withdraw(firstN: Int64, channel: Int) {
        followed?.append(.withdraw(stream: stream, firstN: firstN, channel: channel))
        let key = Key(firstN: firstN, channel: channel)
        if let change = changes[key], change.isNew, !change.isWithdrawn {
            changes[key] = nil
        } else {
            var change = stored()
            change.isWithdrawn = true
            changes[key] = change
        }
    }

    /// A change of a gap that is in the database.
    private func stored() -> Change {
        Change(isNew: false, count: nil, countChanged: false, cause: .linkLost, noticed: .boot)
    }

    /// True while somebody follows the changes one by one.
    var isFollowed: Bool {
        get { followed != nil }
        set { if newValue != isFollowed { followed = newValue ? [] : nil } }
    }

    /// What has changed since the last time, in the order in which it was noticed.
    mutating func takeFollowed() -> [LedgerEntry] {
        guard let taken = followed, !taken.isEmpty else { return [] }
        followed = []
        return taken
    }

    /// Hands over the changes, ordered by n, and forgets them.
    mutating func take() -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        for key in changes.keys.sorted() {
            guard let change = changes[key] else { continue }
            let (firstN, channel) = (key.firstN, key.channel)
            if change.isWithdrawn { entries.append(.withdraw(stream: stream, firstN: firstN, channel: channel)) }
            if change.isNew {
                entries.append(
                    .open(
                        stream: stream, firstN: firstN, channel: channel, count: change.count, cause: change.cause,
                        noticed: change.noticed, certainty: change.certainty))
            } else if change.countChanged, let count = change.count {
                entries.append(
                    .close(stream: stream, firstN: firstN, channel: channel, count: count, certainty: change.certainty))
            }
            if change.recovered > 0 {
                entries.append(.recover(stream: stream, firstN: firstN, channel: channel, count: change.recovered))
            }
        }
        changes.removeAll(keepingCapacity: true)
        return entries
    }
}
