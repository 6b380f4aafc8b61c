import Bluetooth
import Simulation

/// What a ``VirtualDriver`` lives in: something with a time of its own, in which things happen.
protocol VirtualWorld: AnyObject {
    /// The present.
    var now: MonotonicTime { get }
    /// When something happens next by itself; nil for never.
    var nextEventTime: MonotonicTime? { get }
    /// Lets time pass.
    func advance(to time: MonotonicTime)
}

extension SimulatedWorld: VirtualWorld {}

extension VirtualWorld {
    /// The loop of every driver in virtual time: the world goes from one instant at which something is due to the next.
    ///
    /// - Parameters:
    ///   - next: when the driver itself has something to do; nil for never.
    ///   - step: what is done at an instant; true ends the loop.
    func advance<Failure: Error>(
        to end: MonotonicTime, next: () -> MonotonicTime?, step: (MonotonicTime) throws(Failure) -> Bool
    ) throws(Failure) {
        while true {
            var instant = nextEventTime
            if let due = next(), due < instant ?? due + .nanoseconds(1) { instant = due }
            guard let instant, instant <= end else { break }
            advance(to: max(instant, now))
            if try step(now) { return }
        }
        advance(to: end)
        _ = try step(end)
    }
}
