import Bluetooth

/// A central for the time of one command: made, asked, and dropped. It runs on the thread that calls.
final class CentralSession {
    /// The central.
    let central: any Bluetooth.Central
    private let descriptors: PolledDescriptors
    private let now: () -> MonotonicTime

    /// Makes a central.
    ///
    /// - Parameters:
    ///   - makeCentral: gets what watches file descriptors.
    ///   - now: the clock; ``HostClock``'s but in tests.
    init(now: @escaping () -> MonotonicTime = { HostClock.now }, makeCentral: (DescriptorWatch) -> any Bluetooth.Central) {
        let descriptors = PolledDescriptors()
        self.descriptors = descriptors
        self.now = now
        central = makeCentral(descriptors.watch)
    }

    /// Processes the central until `isDone` says so, or the time is over.
    ///
    /// - Parameters:
    ///   - limit: how long at most.
    ///   - tick: how often `isDone` is asked at least.
    ///   - isDone: gets what has happened since it was asked last, and how much of the time is over.
    func run(for limit: Duration, tick: Duration = .milliseconds(100), until isDone: ([CentralEvent], Duration) -> Bool) {
        let start = now()
        let end = start + limit
        while true {
            let time = now()
            if isDone(central.process(at: time), min(time, end) - start) || time >= end { return }
            descriptors.wait(until: min(end, time + tick, central.deadline ?? end), from: time)
        }
    }
}
