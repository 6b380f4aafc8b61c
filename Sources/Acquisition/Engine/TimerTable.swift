import Bluetooth

/// When what is due: at most one instant for each kind.
struct TimerTable<Kind: Hashable & Sendable>: Sendable {
    private var timers: [(kind: Kind, due: MonotonicTime)] = []

    /// When the first of them is due.
    var earliest: MonotonicTime? { timers.lazy.map(\.due).min() }

    /// When this kind is due; nil for never.
    subscript(kind: Kind) -> MonotonicTime? {
        get { timers.first { $0.kind == kind }?.due }
        set {
            let index = timers.firstIndex { $0.kind == kind }
            switch (index, newValue) {
            case (let index?, let due?): timers[index].due = due
            case (let index?, nil): timers.remove(at: index)
            case (nil, let due?): timers.append((kind, due))
            case (nil, nil): break
            }
        }
    }

    /// Takes the timer away where it is due.
    mutating func take(_ kind: Kind, at now: MonotonicTime) -> Bool {
        guard let index = timers.firstIndex(where: { $0.kind == kind && $0.due <= now }) else { return false }
        timers.remove(at: index)
        return true
    }
}
