import Bluetooth

/// What a link begins with may have waited in a queue, and comes faster than it was sampled. Until it has come as it is sampled
/// for half as long, nothing shows how long the last of it has waited: as long as the first, perhaps.
struct FirstBurst: Hashable, Sendable {
    private var first: Arrival?
    /// By how many nanoseconds the samples since the first arrival last longer than it took them to arrive.
    private(set) var waited = 0.0
    private var isOver = false

    /// Takes the next arrival.
    mutating func note(_ arrival: Arrival, nominalPeriod: Double) {
        guard !isOver else { return }
        guard let first else { return self.first = arrival }
        let elapsed = Double(arrival.nanoseconds &- first.nanoseconds)
        waited = max(waited, Double(arrival.n &- first.n) * nominalPeriod - elapsed)
        guard elapsed > waited / 2 else { return }
        (waited, isOver) = (0, true)
    }
}
