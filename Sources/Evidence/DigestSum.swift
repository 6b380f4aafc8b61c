import Crypto

/// The sum of the digests of a table's rows, which does not depend on their order: modulo 2 to the 256th, little-endian.
///
/// It shows that rows are those that were written. It is no protection from somebody who forges rows *and* sum; that takes the
/// signature of a manifest.
package struct DigestSum: Hashable, Sendable {
    /// Four words, the lowest first.
    private var words: [UInt64] = [0, 0, 0, 0]

    /// The sum of nothing.
    package init() {}

    /// A sum that was stored; nil where these are not 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Digest.length else { return nil }
        words = (0..<4).map { Self.word(bytes, $0) }
    }

    /// 32 bytes.
    package var bytes: [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
    }

    /// Adds a row's digest.
    package mutating func add(_ digest: Digest) {
        var carry: UInt64 = 0
        for index in 0..<4 {
            let (half, first) = words[index].addingReportingOverflow(Self.word(digest.bytes, index))
            let (sum, second) = half.addingReportingOverflow(carry)
            words[index] = sum
            carry = first || second ? 1 : 0
        }
    }

    /// Takes a row's digest away that was added.
    package mutating func subtract(_ digest: Digest) {
        var borrow: UInt64 = 0
        for index in 0..<4 {
            let (half, first) = words[index].subtractingReportingOverflow(Self.word(digest.bytes, index))
            let (difference, second) = half.subtractingReportingOverflow(borrow)
            words[index] = difference
            borrow = first || second ? 1 : 0
        }
    }

    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[8 * index + $1]) << (8 * UInt64($1)) }
    }
}
