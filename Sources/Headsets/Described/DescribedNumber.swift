/// A number in a frame: how wide it is, and how its bits stand.
///
/// A frame is one long row of bits. With big-endian numbers the first bit is the highest one of the first byte; with
/// little-endian numbers it is the lowest one of the first byte. For whole bytes that is what these words always mean.
package struct DescribedNumber: Hashable, Sendable {
    /// How the bits are read.
    package enum Kind: String, Hashable, Sendable {
        /// 0 ... 2^bits - 1.
        case unsigned
        /// Two's complement.
        case signed
        /// IEEE 754 binary32 or binary64.
        case float
    }

    /// The most bits of a number; one that does not begin at a byte's first bit must not touch more than 8 bytes.
    package static let bitsMaximum = 64

    /// How the bits are read.
    package var kind: Kind
    /// How many bits it has, 1 ... ``bitsMaximum``.
    package var bits: Int
    /// True where the most significant bits come first.
    package var isBigEndian: Bool

    /// Creates a number.
    package init(_ kind: Kind, bits: Int, isBigEndian: Bool = true) {
        self.kind = kind
        self.bits = bits
        self.isBigEndian = isBigEndian
    }

    /// Parses `u8`, `i24be`, `u12le`, `f32le`: kind, bits, byte order, which only up to 8 bits may be left out.
    package init?(_ text: String) {
        var rest = Substring(text)
        switch rest.popFirst() {
        case "u": kind = .unsigned
        case "i": kind = .signed
        case "f": kind = .float
        default: return nil
        }
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest.dropFirst(digits.count)
        guard digits.count <= 2, digits.first != "0", let bits = Int(digits), (1...Self.bitsMaximum).contains(bits) else {
            return nil
        }
        self.bits = bits
        switch rest {
        case "be": isBigEndian = true
        case "le": isBigEndian = false
        case "" where bits <= 8: isBigEndian = true
        default: return nil
        }
        if kind == .float, bits != 32, bits != 64 { return nil }
        if kind == .signed, bits < 2 { return nil }
    }

    /// The lowest and highest integer of the kind, as far as the database's 32 bits reach.
    package var rawRange: ClosedRange<Int32> {
        switch kind {
        case .float: .min ... .max
        case .signed: bits >= 32 ? .min ... .max : -(1 << (bits - 1))...(1 << (bits - 1) - 1)
        case .unsigned: bits >= 31 ? 0 ... .max : 0...(1 << bits - 1)
        }
    }

    /// The number's bits, from the lowest on; nil where they are not all below `end`.
    ///
    /// - Parameters:
    ///   - bytes: the frame is `bytes[start ..< end]`.
    ///   - bit: the first bit, counted from `start`.
    @inline(__always)
    func pattern(in bytes: [UInt8], from start: Int, to end: Int, bit: Int) -> UInt64? {
        guard bit >= 0 else { return nil }
        let first = start + bit >> 3
        let shift = bit & 7
        let width = shift + bits
        let count = (width + 7) >> 3
        guard count <= 8, first <= end - count, end <= bytes.count else { return nil }
        var value: UInt64 = 0
        if isBigEndian {
            for offset in first..<first + count { value = value << 8 | UInt64(bytes[offset]) }
            value >>= UInt64(count * 8 - width)
        } else {
            var offset = first + count
            while offset > first {
                offset -= 1
                value = value << 8 | UInt64(bytes[offset])
            }
            value >>= UInt64(shift)
        }
        return bits == 64 ? value : value & (1 << UInt64(bits) - 1)
    }

    /// What a pattern means as an integer of the database; nil for a float, and for what it cannot hold.
    @inline(__always)
    func integer(_ pattern: UInt64) -> Int32? {
        switch kind {
        case .unsigned: return Int32(exactly: pattern)
        case .signed:
            let unused = UInt64(64 - bits)
            return Int32(exactly: Int64(bitPattern: pattern << unused) >> Int64(unused))
        case .float: return nil
        }
    }

    /// What a pattern means; nil for infinities and for what is no number.
    func real(_ pattern: UInt64) -> Double? {
        switch kind {
        case .unsigned: return Double(pattern)
        case .signed:
            let unused = UInt64(64 - bits)
            return Double(Int64(bitPattern: pattern << unused) >> Int64(unused))
        case .float:
            let value =
                bits == 32
                ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern))) : Double(bitPattern: pattern)
            return value.isFinite ? value : nil
        }
    }
}

extension DescribedNumber: CustomStringConvertible {
    /// As it is written, such as `i24be`.
    package var description: String {
        let letter = kind == .unsigned ? "u" : kind == .signed ? "i" : "f"
        return letter + String(bits) + (bits <= 8 && isBigEndian ? "" : isBigEndian ? "be" : "le")
    }
}

/// A number at an offset of a frame.
package struct DescribedField: Hashable, Sendable {
    /// The first byte, from 0; negative numbers count from the frame's end, -1 being the last byte.
    package var byte: Int
    /// The first bit within the byte, 0 ... 7, in the direction of the number's byte order.
    package var bit: Int
    /// What stands there.
    package var number: DescribedNumber

    /// Creates a field.
    package init(byte: Int, bit: Int = 0, number: DescribedNumber) {
        self.byte = byte
        self.bit = bit
        self.number = number
    }

    /// How many bytes from its first one on the field touches.
    package var byteCount: Int { (bit + number.bits + 7) / 8 }

    /// The field's bits in a frame, or nil where the frame is too short.
    @inline(__always)
    func pattern(in bytes: [UInt8], _ frame: Range<Int>) -> UInt64? {
        let offset = byte < 0 ? frame.count + byte : byte
        guard offset >= 0, offset <= DescribedFraming.lengthMaximum else { return nil }
        return number.pattern(in: bytes, from: frame.lowerBound, to: frame.upperBound, bit: offset * 8 + bit)
    }
}
