import Bluetooth

/// A seeded generator of random numbers: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
///
/// The same seed gives the same numbers on every machine and with every compiler. The sampling functions are part of the
/// type, because the standard library may change the algorithms behind `random(in:using:)`.
package struct SeededGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    /// Creates a generator; every seed is allowed.
    package init(seed: UInt64) {
        state = seed
    }

    /// Creates a generator for one purpose, so that a purpose that draws more numbers does not shift those of another.
    package init(seed: UInt64, purpose: UInt64) {
        state = Self.mixed(seed ^ Self.mixed(purpose &+ 1))
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// So many random bytes.
    package mutating func bytes(count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A number below `bound`, which must be greater than 0; the bias is below bound / 2^64.
    package mutating func below(_ bound: UInt64) -> UInt64 {
        next().multipliedFullWidth(by: bound).high
    }

    /// A number from 0 up to, but not including, 1, with 53 random bits.
    package mutating func fraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// True with the probability, 0 ... 1; draws nothing for 0, so that faults that are off cost nothing.
    package mutating func strikes(_ probability: Double) -> Bool {
        probability > 0 && fraction() < probability
    }

    /// A duration between the two bounds, evenly distributed.
    package mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        let lower = range.lowerBound.nanoseconds
        let width = UInt64(max(0, range.upperBound.nanoseconds - lower))
        return .nanoseconds(lower + Int64(below(width &+ 1)))
    }

    /// The waiting time, in units of the mean, until the next event of a memoryless process; 0 ... about 37.
    package mutating func exponential() -> Double {
        -Self.naturalLogarithm(1 - fraction())
    }

    /// Mixes the bits of a number: the finaliser of SplitMix64.
    static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    /// ln of a positive normal number. Written out because the last bits of a C library's `log` differ between machines,
    /// and one different bit would make another run of the same seed.
    static func naturalLogarithm(_ value: Double) -> Double {
        // ln(m * 2^e) = 2 artanh((m - 1) / (m + 1)) + e ln 2, with 1 <= m < 2; the quotient is below 1/3.
        let quotient = (value.significand - 1) / (value.significand + 1)
        let square = quotient * quotient
        var power = quotient
        var sum = 0.0
        for odd in stride(from: 1.0, through: 33, by: 2) {
            sum += power / odd
            power *= square
        }
        return 2 * sum + Double(value.exponent) * 0.693147180559945309
    }
}
