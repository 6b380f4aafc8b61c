import Bluetooth

/// What a link begins with may have waited in a queue, and comes faster than it was sampled. Until it has come as it is sampled
/// for half as long, nothing shows how long the last of it has waited: as long as the first, perhaps.
struct FirstBurst: Hashable, Sendable {
    private var first: Arrival?
    /// Since when what comes has come as it is sampled.
    private var steady = Arrival(n: 0, nanoseconds: 0)
    private var latest = Arrival(n: 0, nanoseconds: 0)
    /// By how many nanoseconds the samples since the first arrival last longer than it took them to arrive; 0 once that is
    /// over.
    private(set) var waited = 0.0
    private var isOver = false

    /// Over no shorter time it is looked whether arrivals are steady, in nanoseconds: a radio is late by a part of it.
    private static let window = 250e6
    /// By so many nanoseconds, and a fifth, steady ones may come sooner than they are sampled.
    private static let jitter = 50e6
    /// What comes so soon behind another one comes with it.
    private static let instant = 10e6

    /// Takes the next arrival.
    mutating func note(_ arrival: Arrival, nominalPeriod: Double) {
        guard !isOver else { return }
        latest = arrival
        guard let first else { return (self.first, steady) = (arrival, arrival) }
        func ahead(of other: Arrival) -> Double {
            Double(arrival.n &- other.n) * nominalPeriod - Double(arrival.nanoseconds &- other.nanoseconds)
        }
        waited = max(waited, ahead(of: first))
        let elapsed = Double(arrival.nanoseconds &- steady.nanoseconds)
        if elapsed < Self.instant || ahead(of: steady) > Self.jitter + elapsed / 5 {
            if ahead(of: steady) > 0 { steady = arrival }
        } else if elapsed >= max(Self.window, waited / 2) {
            (waited, isOver) = (0, true)
        }
    }

    /// The same at a time when nothing has come since the latest arrival: nothing that waits comes later than that.
    func waited(at time: MonotonicTime) -> Double {
        let silence = Double(time.nanoseconds &- latest.nanoseconds)
        return silence >= max(Self.window, waited / 2) ? 0 : waited
    }
}
