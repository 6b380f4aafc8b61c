import Bluetooth

/// What is due when, besides what the headsets wait for.
typealias EngineTimers = TimerTable<AcquisitionEngine.Timer>

/// When what is due: at most one instant for each kind.
struct TimerTable<Kind: Hashable & Sendable>: Sendable {
    private var kinds: [Kind] = []
    /// When each of the kinds is due. Looked through for every packet, so it is no list of pairs: their type would have to be
    /// composed each time where the compiler does not know the kinds.
    private var instants: [MonotonicTime] = []

    /// When the first of them is due.
    var earliest: MonotonicTime? {
        guard var earliest = instants.first else { return nil }
        for instant in instants where instant < earliest { earliest = instant }
        return earliest
    }

    /// When this kind is due; nil for never.
    subscript(kind: Kind) -> MonotonicTime? {
        get { kinds.firstIndex(of: kind).map { instants[$0] } }
        set {
            switch (kinds.firstIndex(of: kind), newValue) {
            case (let index?, let due?): instants[index] = due
            case (let index?, nil): remove(at: index)
            case (nil, let due?):
                kinds.append(kind)
                instants.append(due)
            case (nil, nil): break
            }
        }
    }

    /// Takes the timer away where it is due.
    mutating func take(_ kind: Kind, at now: MonotonicTime) -> Bool {
        guard let index = kinds.firstIndex(of: kind), instants[index] <= now else { return false }
        remove(at: index)
        return true
    }

    private mutating func remove(at index: Int) {
        kinds.remove(at: index)
        instants.remove(at: index)
    }
}
