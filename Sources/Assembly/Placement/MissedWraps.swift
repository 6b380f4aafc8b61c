/// Wraps of a counter that were surely missed before one notification. Other streams of the headset whose counters wrap as
/// often have missed as many then: what came of them before was sampled before, and what came from then on behind the wraps.
package struct MissedWraps: Hashable, Sendable {
    /// The number of the notification with the first block behind them.
    package var notification: UInt64
    /// How many wraps were missed.
    package var count: Int64
    /// From one wrap to the next, in seconds.
    package var period: Double

    /// Periods of one counter that two streams share differ by no more than this part: 1.005 s of the EEG and 1 s of the
    /// acceleration of a Ganglion (reference: Ganglion, packets).
    private static let tolerance = 0.01

    /// True where a stream with this many samples from one wrap to the next misses the same wraps.
    func isShared(byWrap wrap: Int64, samplingFrequency: Double) -> Bool {
        abs(Double(wrap) / samplingFrequency - period) <= Self.tolerance * period
    }
}
