/// Decimal digits in bare memory, eight at a time: a table of a day holds two gigabytes of them.
///
/// The memory must have ``slack`` bytes behind what is written or read; a write overwrites them.
enum DecimalDigits {
    /// Bytes behind the text that a call may overwrite.
    static let slack = 128

    private static let zeros: UInt64 = 0x3030_3030_3030_3030
    private static let group: UInt64 = 100_000_000

    /// The eight digits of a number below 10^8; the first of them is the lowest byte.
    ///
    /// Halves of 4, 2 and 1 digits are divided side by side in one word. 10,486 / 2^20 is 1/100 for numbers below 10,000, and
    /// 103 / 2^10 is 1/10 for numbers below 100, rounded down.
    @inline(__always)
    private static func eight(_ value: UInt64) -> UInt64 {
        let high = value / 10_000
        var word = high | (value &- high &* 10_000) &<< 32
        let hundreds = (word &* 10_486) &>> 20 & 0x7F_0000_007F
        word = hundreds | (word &- 100 &* hundreds) &<< 16
        let tens = (word &* 103) &>> 10 & 0x000F_000F_000F_000F
        return (tens | (word &- 10 &* tens) &<< 8) &+ zeros
    }

    @inline(__always)
    private static func store(_ word: UInt64, _ memory: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(memory).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    @inline(__always)
    private static func copy24(_ source: UnsafeMutablePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
        let (from, to) = (UnsafeMutableRawPointer(source), UnsafeMutableRawPointer(target))
        let words = (
            from.loadUnaligned(as: UInt64.self), from.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            from.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        )
        to.storeBytes(of: words.0, as: UInt64.self)
        to.storeBytes(of: words.1, toByteOffset: 8, as: UInt64.self)
        to.storeBytes(of: words.2, toByteOffset: 16, as: UInt64.self)
    }

    /// Writes a number with leading zeros up to a width of at most 8.
    @inline(__always)
    static func write(_ value: UInt64, width: Int, to next: inout UnsafeMutablePointer<UInt8>) {
        guard value < group else { return writeLong(value, to: &next) }
        let digits = eight(value)
        let leading = (digits ^ zeros).trailingZeroBitCount &>> 3
        let length = max(8 &- leading, width)
        store(digits &>> UInt64(truncatingIfNeeded: 8 &* (8 &- length)), next)
        next += length
    }

    private static func writeLong(_ value: UInt64, to next: inout UnsafeMutablePointer<UInt8>) {
        let (high, low) = value.quotientAndRemainder(dividingBy: group)
        write(high, width: 1, to: &next)
        store(eight(low), next)
        next += 8
    }

    /// Writes a whole number.
    @inline(__always)
    static func write(_ value: Int64, to next: inout UnsafeMutablePointer<UInt8>) {
        next.pointee = UInt8(ascii: "-")
        next += value < 0 ? 1 : 0
        write(value.magnitude, width: 1, to: &next)
    }

    /// Writes value / 10^decimals, with trailing zeros dropped but for the decimals that are always shown.
    ///
    /// - Parameter decimals: 1 ... 18.
    @inline(__always)
    static func write(
        _ value: Int64, decimals: Int, shownDecimals: Int, to next: inout UnsafeMutablePointer<UInt8>
    ) {
        next.pointee = UInt8(ascii: "-")
        next += value < 0 ? 1 : 0
        let (high, low) = value.magnitude.quotientAndRemainder(dividingBy: group)
        guard decimals <= 8, high < group else {
            return writeLong(high, low, decimals: decimals, shownDecimals: shownDecimals, to: &next)
        }
        // Sixteen digits, of which the last ones stand behind the point; at most eight of the others are no zeros in front.
        let words = (eight(high), eight(low))
        let leading =
            high > 0 ? (words.0 ^ zeros).trailingZeroBitCount &>> 3 : 8 &+ (words.1 ^ zeros).trailingZeroBitCount &>> 3
        let whole = max(16 &- leading &- decimals, 1)
        guard whole <= 8 else {
            return writeLong(high, low, decimals: decimals, shownDecimals: shownDecimals, to: &next)
        }
        let shift = UInt64(truncatingIfNeeded: 8 &* (16 &- decimals &- whole))
        store(
            shift >= 64 ? words.1 &>> (shift &- 64) : words.0 &>> shift | (words.1 &<< 1) &<< (63 &- shift), next)
        next += whole
        let unused = UInt64(truncatingIfNeeded: 8 &* (8 &- decimals))
        let fraction = words.1 &>> unused
        next.pointee = UInt8(ascii: ".")
        store(fraction, next + 1)
        let significant = (fraction ^ zeros) & (UInt64.max &>> unused)
        let kept = max(shownDecimals, 8 &- significant.leadingZeroBitCount &>> 3)
        next += kept == 0 ? 0 : kept &+ 1
    }

    /// As above, for numbers of up to 19 digits.
    private static func writeLong(
        _ high: UInt64, _ low: UInt64, decimals: Int, shownDecimals: Int, to next: inout UnsafeMutablePointer<UInt8>
    ) {
        // All digits with zeros in front, where nobody reads them; then what stands before the point, and what behind it.
        let all = next + 64
        let (top, middle) = high.quotientAndRemainder(dividingBy: group)
        let words = (eight(top), eight(middle), eight(low))
        store(words.0, all)
        store(words.1, all + 8)
        store(words.2, all + 16)
        let leading =
            top > 0
            ? (words.0 ^ zeros).trailingZeroBitCount / 8
            : middle > 0 ? 8 + (words.1 ^ zeros).trailingZeroBitCount / 8 : 16 + (words.2 ^ zeros).trailingZeroBitCount / 8
        let whole = max(24 - leading - decimals, 1)
        copy24(all + (24 - decimals - whole), to: next)
        next += whole
        next.pointee = UInt8(ascii: ".")
        copy24(all + (24 - decimals), to: next + 1)
        var kept = decimals
        while kept > shownDecimals, next[kept] == UInt8(ascii: "0") { kept -= 1 }
        next += kept == 0 ? 0 : kept + 1
    }

    /// Reads digits up to the first byte that is none.
    ///
    /// - Parameter count: how many they are. Of more than 18 the number is any.
    @inline(__always)
    static func read(_ next: inout UnsafePointer<UInt8>, count: inout Int) -> UInt64 {
        var value: UInt64 = 0
        count = 0
        while true {
            let word = UInt64(littleEndian: UnsafeRawPointer(next).loadUnaligned(as: UInt64.self)) ^ zeros
            // The upper half of a byte is not 0 where it is no digit: digits are 0 ... 9 now, and 9 + 6 has no carry.
            let others = ((word &+ 0x0606_0606_0606_0606) | word) & 0xF0F0_F0F0_F0F0_F0F0
            let digits = others.trailingZeroBitCount &>> 3
            next += digits
            count &+= digits
            guard digits == 8 else {
                guard digits > 0 else { return value }
                let unused = UInt64(truncatingIfNeeded: 8 &* (8 &- digits))
                return value == 0 ? number(word &<< unused) : value &* powers(digits) &+ number(word &<< unused)
            }
            value = value &* group &+ number(word)
        }
    }

    /// The number of eight digits, the first in the lowest byte: neighbours are joined to two, four and eight.
    @inline(__always)
    private static func number(_ digits: UInt64) -> UInt64 {
        let pairs = digits &* 10 &+ digits &>> 8
        let mask: UInt64 = 0x0000_00FF_0000_00FF
        return ((pairs & mask) &* 0x000F_4240_0000_0064 &+ (pairs &>> 16 & mask) &* 0x0000_2710_0000_0001) &>> 32
    }

    /// 10, 100 ... 10^8 for 1 ... 8.
    @inline(__always)
    private static func powers(_ digits: Int) -> UInt64 {
        switch digits {
        case 1: 10
        case 2: 100
        case 3: 1000
        case 4: 10_000
        case 5: 100_000
        case 6: 1_000_000
        case 7: 10_000_000
        default: 100_000_000
        }
    }
}
