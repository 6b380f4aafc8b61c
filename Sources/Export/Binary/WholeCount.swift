/// Counts that were computed from physical values.
enum WholeCount {
    /// The nearest count, halves away from 0; nil for what is none: a NaN, or beyond 32 bits.
    ///
    /// As `rounded()` has it, which calls a library for each value where the processor need not have an instruction for it.
    @inline(__always)
    static func nearest(_ value: Double) -> Int32? {
        guard abs(value) < 4e9 else { return nil }
        return Int32(exactly: Int64(value < 0 ? value - 0.5 : value + 0.5))
    }
}
