import Bluetooth

/// The latest arrival that came on time, as far as the rate is known: while that is not known well, it shows better than any
/// line where a stream stands.
struct PunctualArrival: Hashable, Sendable {
    private var latest: Arrival?

    /// An arrival that may be on time is late by so much at the most, in nanoseconds: what fills the queue of a link.
    private static let lateness = 100e6
    /// In standard deviations of the rate: one and a half times what is believed of it. A crystal at the edge of that would
    /// else leave no room for an arrival that is some milliseconds late, and none would ever be taken for one on time.
    private static let generosity = 4.5

    /// Notes an arrival, if it came no later than the one before it lets expect.
    mutating func note(_ arrival: Arrival, _ rate: ArrivalEnvelope.Rate, nominalPeriod: Double) {
        guard let latest else { return self.latest = arrival }
        let span = Double(arrival.n &- latest.n) * nominalPeriod
        let late = Double(arrival.nanoseconds &- latest.nanoseconds) - span * (1 + rate.slope)
        if late <= Self.generosity * rate.deviation * abs(span) { self.latest = arrival }
    }

    /// Where the stream stands; nil where that is not known within `maximum` nanoseconds.
    ///
    /// - Parameter period: nanoseconds between two samples.
    func position(
        at time: MonotonicTime, _ rate: ArrivalEnvelope.Rate, period: Double, within maximum: Double
    ) -> StreamPosition? {
        guard let latest else { return nil }
        let elapsed = Double(time.nanoseconds) - Double(latest.nanoseconds)
        let uncertainty = Self.lateness + 3 * rate.deviation * abs(elapsed)
        guard uncertainty < maximum else { return nil }
        return StreamPosition(
            n: latest.n.addingClamped(Int64(clamping: (elapsed / period).rounded())),
            uncertainty: Int64(clamping: (uncertainty / period).rounded(.up)))
    }
}
