import Bluetooth
import Headsets
import Storage

/// The counter that a headset numbers the packets of a stream with. With its wraps, times the samples of each count, it is the
/// index of a sample.
struct SampleCounter: Hashable, Sendable {
    private let modulus: Int64?
    private let samplesPerCount: Int64

    init(_ description: StreamDescription) {
        modulus = description.counterModulus
        samplesPerCount = Int64(description.samplesPerCount)
    }

    /// The samples from one wrap to the next; nil where there is none.
    var wrapLength: Int64? { modulus.map { $0 * samplesPerCount } }

    /// The index before any wrap.
    func index(of counter: UInt32) -> Int64 { Int64(counter) * samplesPerCount }

    /// The index nearest to `expected` whose counter is `counter`.
    func index(of counter: UInt32, near expected: Int64) -> Int64 {
        guard let modulus else { return index(of: counter) }
        let behind = floorDivide(expected, samplesPerCount) - Int64(counter)
        return (Int64(counter) + floorDivide(behind + modulus / 2, modulus) * modulus) * samplesPerCount
    }

    /// The counter at an index, as it would be sent; nil where it does not number each sample.
    func counter(at index: Int64) -> UInt32? {
        guard let modulus, samplesPerCount == 1 else { return nil }
        return UInt32(truncatingIfNeeded: index - modulus * floorDivide(index, modulus))
    }

    private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

extension EpochRecord {
    /// The n of the sample with an index.
    func n(of index: Int64) -> Int64 { firstN + (index - firstIndex) }

    /// The index of the sample with an n.
    func index(of n: Int64) -> Int64 { firstIndex.addingClamped(n - firstN) }

    /// True where a block says that it is of another boot of the headset.
    func isOtherBoot(_ block: SampleBlock) -> Bool {
        guard let boot = block.bootIdentifier, let bootIdentifier else { return false }
        return boot != bootIdentifier
    }
}
