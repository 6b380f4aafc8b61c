import Bluetooth
import Storage

/// What the database gets of a headset's connection: every change of state and every attempt, where nothing repeats. What
/// repeats without a return in between is counted, and the count is written once a minute: a headset that is away for a year
/// costs a dozen rows, and they say since when, how often and when last it was tried.
struct ConnectionHistory {
    /// How often the same state is entered before further times are counted on the row of the last one. Attempts are counted
    /// from the second on.
    static let eventRows = 8
    /// How often counts are written: they say what happened to a minute.
    static let interval = Duration.seconds(60)
    /// How many different things are distinguished; addresses of other people's headsets change for ever.
    static let kindLimit = 64

    /// What makes two records the same.
    fileprivate struct Kind: Hashable {
        var names: [String?]
    }

    fileprivate struct Entry {
        var kind: Kind
        /// The row that is counted on.
        var change: Change
        /// How often it has got a row of its own.
        var rows = 1
        /// On the row of ``change``.
        var count = 1
        var last: MonotonicTime
        var isChanged = false
    }

    private var entries: [Entry] = []
    /// When counts are to be written; nil where none has changed.
    private(set) var deadline: MonotonicTime?

    /// A state was entered.
    ///
    /// - Parameter isReturn: it is a return, or an end: what follows is another story.
    /// - Returns: what is to be written now.
    mutating func entered(_ event: ConnectionEventRecord, isReturn: Bool) -> [Change] {
        let rest = isReturn ? takeAll() : []
        let kind = Kind(names: [event.state, event.cause, event.detail])
        return rest + note(.connectionEvent(event), kind, rows: Self.eventRows, at: event.at)
    }

    /// An attempt ended. One that led to streaming is never counted on another.
    mutating func ended(_ attempt: ConnectionAttemptRecord, isReturn: Bool) -> [Change] {
        guard !isReturn else { return [.connectionAttempt(attempt)] }
        let address = attempt.identifier?.description
        let kind = Kind(names: [attempt.layer, attempt.outcome, attempt.cause, attempt.detail, address])
        return note(.connectionAttempt(attempt), kind, rows: 1, at: attempt.ended)
    }

    /// The counts that are due.
    mutating func takeDue(at now: MonotonicTime) -> [Change] {
        guard let deadline, deadline <= now else { return [] }
        return takeCounts()
    }

    private mutating func note(_ change: Change, _ kind: Kind, rows: Int, at now: MonotonicTime) -> [Change] {
        var kind = kind
        var index = entries.firstIndex { $0.kind == kind }
        if index == nil, entries.count >= Self.kindLimit {
            // What differs is not written any more, only that there are others.
            kind = Kind(names: Array(kind.names.prefix(2)) + ["others"])
            index = entries.firstIndex { $0.kind == kind }
        }
        guard let index else {
            entries.append(Entry(kind: kind, change: change, last: now))
            return [change]
        }
        guard entries[index].rows >= rows else {
            entries[index].rows += 1
            entries[index].change = change
            entries[index].last = now
            return [change]
        }
        entries[index].count += 1
        entries[index].last = now
        entries[index].isChanged = true
        deadline = deadline ?? now + Self.interval
        return []
    }

    private mutating func takeCounts() -> [Change] {
        deadline = nil
        var changes: [Change] = []
        for index in entries.indices where entries[index].isChanged {
            entries[index].isChanged = false
            changes.append(entries[index].counted)
        }
        return changes
    }

    private mutating func takeAll() -> [Change] {
        defer { entries.removeAll() }
        return takeCounts()
    }
}

extension ConnectionHistory.Entry {
    /// The row with its count.
    fileprivate var counted: Change {
        let repetition = Repetition(count: count, last: last)
        switch change {
        case .connectionEvent(var event):
            event.repetition = repetition
            return .connectionEvent(event)
        case .connectionAttempt(var attempt):
            attempt.repetition = repetition
            return .connectionAttempt(attempt)
        default: return change
        }
    }
}
