/// The clock that a headset stamps samples with (``SampleBlock/deviceTicks``).
package struct SampleStamps: Hashable, Sendable {
    /// Ticks per second, nominal; greater than 0.
    package var tickFrequency: Double
    /// The number of values before it wraps to 0; nil where it does not wrap, or the decoder has unwrapped it.
    package var modulus: UInt64?
    /// True where a stamp shows when the last instant of its block was taken, and not only about when its packet was: then the
    /// streams of the headset are aligned by it.
    package var isExact: Bool

    package init(tickFrequency: Double, modulus: UInt64?, isExact: Bool) {
        self.tickFrequency = tickFrequency
        self.modulus = modulus
        self.isExact = isExact
    }
}
