import Storage

/// What one headset has to write besides its streams, in the order in which it happened.
struct HeadsetRecords {
    private var changes: [Change] = []
    private var counts: [ObjectIdentifier: Int] = [:]
    /// The same for whoever follows; nil while nobody does.
    private var followed: [Change]?

    /// Notes what has happened, instead of the oldest of its kind where too many wait.
    mutating func append(_ change: Change) {
        changes.append(change)
        followed?.append(change)
        guard let maximum = change.waitingMaximum else { return }
        let kind = change.kind
        let count = counts[kind, default: 0] + 1
        counts[kind] = min(count, maximum)
        guard count > maximum, let oldest = changes.firstIndex(where: { $0.kind == kind }) else { return }
        changes.remove(at: oldest)
    }

    /// Hands everything over.
    mutating func take() -> [Change] {
        defer { (changes, counts) = ([], [:]) }
        return changes
    }

    /// True while somebody follows what is appended.
    mutating func setFollowed(_ isFollowed: Bool) {
        if isFollowed != (followed != nil) { followed = isFollowed ? [] : nil }
    }

    /// What was appended since the last time.
    mutating func takeFollowed() -> [Change] {
        guard let taken = followed, !taken.isEmpty else { return [] }
        followed = []
        return taken
    }
}
