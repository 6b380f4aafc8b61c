/// Arithmetic on numbers that come from outside: nothing traps, what is out of range stays at its end.
extension Int64 {
    /// The nearest representable number; 0 for what is no number.
    public init(clamping value: Double) {
        // 2^63 is representable as a Double, the number before it is not.
        if value.isNaN {
            self = 0
        } else if value >= 0x1p63 {
            self = .max
        } else if value < -0x1p63 {
            self = .min
        } else {
            self = Int64(value)
        }
    }

    /// The sum, or the end of the range that it lies beyond.
    public func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it lies beyond.
    public func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
