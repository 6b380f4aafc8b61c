import Bluetooth

/// Unrecognised candidates of which something was recorded, and when last: in the order in which they were.
struct NotedCandidates {
    /// How often the same candidate is recorded while it stays in sight.
    private static let interval = Duration.seconds(10)
    /// Of how many candidates it is remembered when they were recorded.
    private static let maximum = 64
    /// One that was not in sight for so long is a new one when it is again.
    private static let memory = Duration.seconds(3600)

    /// Whether a candidate is in sight for the first time; where more are in sight than are remembered, none is.
    enum Sight { case first, again }

    private var candidates: [(identifier: PeripheralIdentifier, at: MonotonicTime)] = []

    /// One is in sight.
    ///
    /// - Returns: whether it was before; nil where it was recorded just now, and is not to be again.
    mutating func note(_ identifier: PeripheralIdentifier, at now: MonotonicTime) -> Sight? {
        let last = candidates.firstIndex { $0.identifier == identifier }
        // What is not remembered may have been recorded just now: where there are more than are remembered, the oldest makes
        // room once in an interval, and nobody is reported a second time.
        let due = last ?? (candidates.count < Self.maximum ? nil : 0)
        if let due, now - candidates[due].at < Self.interval { return nil }
        if let due { candidates.remove(at: due) } else { candidates.removeAll { now - $0.at > Self.memory } }
        candidates.append((identifier, now))
        return due == nil ? .first : .again
    }
}
