import Bluetooth

/// How late notifications arrive. A notification is never early, none is lost, and those of a link keep their order.
package struct LatenessModel: Hashable, Sendable {
    /// The mean of what befalls every notification, distributed exponentially.
    package var mean: Duration
    /// How many of them are later still, 0 ... 1.
    package var tailProbability: Double
    /// By how much those are later.
    package var tail: Duration
    /// Time is counted in such periods, each of which begins with a stall; zero for none.
    package var stallPeriod: Duration
    /// How long a stall lasts: what would arrive meanwhile arrives at its end.
    package var stall: Duration
    /// Notifications arrive in batches, so far apart; zero for each by itself.
    package var batchInterval: Duration

    /// Creates a model; by default nothing is late.
    package init(
        mean: Duration = .zero, tailProbability: Double = 0, tail: Duration = .zero, stallPeriod: Duration = .zero,
        stall: Duration = .zero, batchInterval: Duration = .zero
    ) {
        self.mean = mean
        self.tailProbability = tailProbability
        self.tail = tail
        self.stallPeriod = stallPeriod
        self.stall = stall
        self.batchInterval = batchInterval
    }

    /// A busy machine: 4 ms in the mean, one in twenty by 70 ms more, and a second of silence in each minute.
    package static let busy = LatenessModel(
        mean: .milliseconds(4), tailProbability: 0.05, tail: .milliseconds(70), stallPeriod: .seconds(60), stall: .seconds(1))

    /// A radio that hands over what it has each 30 ms.
    package static let batches = LatenessModel(batchInterval: .milliseconds(30))

    /// When a notification arrives that was sent at an instant, both in nanoseconds.
    func arrival(of sent: Int64, _ generator: inout SeededGenerator) -> Int64 {
        var time = sent
        if mean > .zero { time += Int64(Double(mean.nanoseconds) * generator.exponential()) }
        if generator.strikes(tailProbability) { time += tail.nanoseconds }
        let (interval, period) = (batchInterval.nanoseconds, stallPeriod.nanoseconds)
        if interval > 0 { time = (time + interval - 1) / interval * interval }
        if period > 0, time % period < stall.nanoseconds { time += stall.nanoseconds - time % period }
        return time
    }
}
