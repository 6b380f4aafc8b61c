import Storage

/// Arrivals that wait for their transaction. While a disk is full for days, their number is bounded.
struct WaitingEvidence: Sendable {
    /// An hour of them, where one comes each second.
    private static let maximum = 4096

    private var arrivals: [ArrivalRecord] = []

    /// Adds the latest. At the bound every second one is left out, so that what is left covers all of the time.
    mutating func append(_ arrival: ArrivalRecord) {
        if arrivals.count >= Self.maximum {
            arrivals = stride(from: 0, to: arrivals.count, by: 2).map { arrivals[$0] }
        }
        arrivals.append(arrival)
    }

    /// Hands over all of them, and forgets them.
    mutating func take() -> [ArrivalRecord] {
        defer { arrivals.removeAll() }
        return arrivals
    }
}
