/// Where a stream stands at a time, by a clock.
struct StreamPosition: Hashable, Sendable {
    /// The sample whose instant lies nearest.
    var n: Int64
    /// Within how many samples that is right.
    var uncertainty: Int64
}
