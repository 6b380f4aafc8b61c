import Bluetooth

/// Pauses between failures: doubled each time, capped, with jitter, never giving up.
struct Backoff: Hashable, Sendable {
    /// Failures since the last ``reset()``.
    private(set) var failures = 0
    private var generator: UInt64

    init(seed: UInt64) {
        generator = seed
    }

    /// The next pause: between half and all of `minimum` × 2^failures, at most `maximum`. Jitter keeps several headsets
    /// that were lost together from coming back in step.
    mutating func next(minimum: Duration, maximum: Duration) -> Duration {
        let doublings = min(failures, 20)
        failures += 1
        let full = min(minimum.nanoseconds << Int64(doublings), maximum.nanoseconds)
        return .nanoseconds(full / 2 + Int64(nextRandom() % UInt64(max(1, full / 2 + 1))))
    }

    mutating func reset() {
        failures = 0
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    private mutating func nextRandom() -> UInt64 {
        generator &+= 0x9E37_79B9_7F4A_7C15
        var mixed = generator
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
