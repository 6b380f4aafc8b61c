/// A checksum of values in their order: the writer makes it from what it was given, the reader from what it reads back.
///
/// It finds defects of programs and disks, not of malice. The multiplier is the prime of the 64-bit FNV-1a hash.
struct SampleDigest: Hashable, Sendable {
    static let prime: UInt64 = 0x0000_0100_0000_01B3

    private(set) var value: UInt64 = 0

    /// Adds a value. A change of any one value changes the result, since the multiplier is odd.
    @inline(__always)
    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* Self.prime
    }

    /// The state after one more sample of a run; kept outside of the structure in hot loops.
    @inline(__always)
    static func next(_ state: UInt64, _ sample: Int32) -> UInt64 {
        state &* prime &+ UInt64(truncatingIfNeeded: sample) &+ 1
    }

    /// Adds an annotation.
    mutating func add(_ annotation: EDFAnnotation) {
        add(UInt64(bitPattern: annotation.onsetMicroseconds))
        add(UInt64(bitPattern: annotation.durationMicroseconds ?? -1))
        for byte in annotation.text.utf8 { add(UInt64(byte)) }
    }
}
