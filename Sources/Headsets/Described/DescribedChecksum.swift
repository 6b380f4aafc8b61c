/// What proves that a frame is whole: a sum or a cyclic redundancy check, and where it stands.
package struct DescribedChecksum: Hashable, Sendable {
    /// How the bytes are added up.
    package enum Algorithm: Hashable, Sendable {
        /// The lowest bits of the sum; `isInverted` for its complement, `isNegated` for the number that brings the sum to 0.
        case sum(isInverted: Bool, isNegated: Bool)
        /// All bytes, exclusive or.
        case exclusiveOr
        /// A cyclic redundancy check.
        case crc(CyclicRedundancyCheck)
    }

    /// How the bytes are added up.
    package var algorithm: Algorithm
    /// Where the result stands, and how wide it is.
    package var field: DescribedField
    /// The first byte that counts, from the frame's beginning; negative numbers count from its end.
    package var from: Int
    /// The byte after the last one that counts; negative numbers count from the frame's end, 0 stands for the end itself.
    package var to: Int

    /// Creates a checksum.
    package init(_ algorithm: Algorithm, at field: DescribedField, from: Int, to: Int) {
        self.algorithm = algorithm
        self.field = field
        self.from = from
        self.to = to
    }

    func holds(in bytes: [UInt8], _ frame: Range<Int>) -> Bool {
        let first = frame.lowerBound + (from < 0 ? frame.count + from : from)
        let end = frame.lowerBound + (to <= 0 ? frame.count + to : to)
        guard frame.lowerBound <= first, first <= end, end <= frame.upperBound,
            let sent = field.pattern(in: bytes, frame)
        else { return false }
        let mask: UInt64 = field.number.bits >= 64 ? .max : 1 << UInt64(field.number.bits) - 1
        return value(of: bytes, first..<end) & mask == sent
    }

    private func value(of bytes: [UInt8], _ range: Range<Int>) -> UInt64 {
        switch algorithm {
        case .sum(let isInverted, let isNegated):
            var sum: UInt64 = 0
            for index in range { sum &+= UInt64(bytes[index]) }
            return isInverted ? ~sum : isNegated ? 0 &- sum : sum
        case .exclusiveOr:
            var value: UInt8 = 0
            for index in range { value ^= bytes[index] }
            return UInt64(value)
        case .crc(let check): return UInt64(check.checksum(of: bytes, range))
        }
    }
}

/// A cyclic redundancy check of 8, 16 or 32 bits, by the parameters that catalogues of such checks list.
package struct CyclicRedundancyCheck: Hashable, Sendable {
    /// Its width in bits: 8, 16 or 32.
    package let width: Int
    /// The polynomial without its highest term, highest power first.
    package let polynomial: UInt32
    /// What the register begins with.
    package let initial: UInt32
    /// True where bytes go in, and the result comes out, lowest bit first.
    package let isReflected: Bool
    /// What the result is exclusive-ored with.
    package let finalXOR: UInt32
    private let table: [UInt32]

    /// Creates a check; widths other than 8 and 16 count as 32.
    package init(width: Int, polynomial: UInt32, initial: UInt32 = 0, isReflected: Bool = false, finalXOR: UInt32 = 0) {
        self.width = width == 8 || width == 16 ? width : 32
        let mask = UInt32.max >> UInt32(32 - self.width)
        self.polynomial = polynomial & mask
        self.initial = initial & mask
        self.isReflected = isReflected
        self.finalXOR = finalXOR & mask
        // The register stands at the top of 32 bits (not reflected) or at the bottom (reflected).
        let shift = UInt32(32 - self.width)
        let shifted = self.polynomial << shift
        let reflected = Self.reflect(shifted)
        table = (0..<256).map { index in
            if isReflected {
                return (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ reflected : value >> 1 }
            }
            return (0..<8).reduce(UInt32(index) << 24) { value, _ in
                value >> 31 == 1 ? value << 1 ^ shifted : value << 1
            }
        }
    }

    /// The names that a descriptor may use, with the parameters of each and their result for the ASCII digits 1 ... 9, by
    /// which catalogues identify them.
    package static let named: [(name: String, check: CyclicRedundancyCheck, digits: UInt32)] = [
        ("crc8", CyclicRedundancyCheck(width: 8, polynomial: 0x07), 0xF4),
        ("crc8-maxim", CyclicRedundancyCheck(width: 8, polynomial: 0x31, isReflected: true), 0xA1),
        ("crc16-ccitt-false", CyclicRedundancyCheck(width: 16, polynomial: 0x1021, initial: 0xFFFF), 0x29B1),
        ("crc16-xmodem", CyclicRedundancyCheck(width: 16, polynomial: 0x1021), 0x31C3),
        ("crc16-kermit", CyclicRedundancyCheck(width: 16, polynomial: 0x1021, isReflected: true), 0x2189),
        ("crc16-arc", CyclicRedundancyCheck(width: 16, polynomial: 0x8005, isReflected: true), 0xBB3D),
        (
            "crc16-modbus", CyclicRedundancyCheck(width: 16, polynomial: 0x8005, initial: 0xFFFF, isReflected: true),
            0x4B37
        ),
        (
            "crc32",
            CyclicRedundancyCheck(
                width: 32, polynomial: 0x04C1_1DB7, initial: .max, isReflected: true, finalXOR: .max), 0xCBF4_3926
        ),
        (
            "crc32c",
            CyclicRedundancyCheck(
                width: 32, polynomial: 0x1EDC_6F41, initial: .max, isReflected: true, finalXOR: .max), 0xE306_9283
        ),
    ]

    /// The check of `bytes[range]`; bytes that are not there count as absent.
    package func checksum(of bytes: [UInt8], _ range: Range<Int>) -> UInt32 {
        let shift = UInt32(32 - width)
        var value = isReflected ? Self.reflect(initial << shift) : initial << shift
        for index in range.clamped(to: 0..<bytes.count) {
            if isReflected {
                value = value >> 8 ^ table[Int((value ^ UInt32(bytes[index])) & 0xFF)]
            } else {
                value = value << 8 ^ table[Int(value >> 24 ^ UInt32(bytes[index]))]
            }
        }
        return (isReflected ? value : value >> shift) ^ finalXOR
    }

    private static func reflect(_ value: UInt32) -> UInt32 {
        (0..<32).reduce(0) { $0 << 1 | value >> UInt32($1) & 1 }
    }
}
