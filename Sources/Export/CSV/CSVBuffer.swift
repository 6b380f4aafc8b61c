/// Bytes of a table on their way to a file.
final class CSVBuffer {
    /// Emptied into the file when this many bytes wait.
    private static let fullByteCount = 1 << 18
    /// More than any row: forty numbers, times, separators, and an annotation.
    private static let rowByteCount = 4096

    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: fullByteCount + rowByteCount, alignment: 16)
    private var count = 0
    private let file: PartialFile
    /// The checksum of the bytes that were flushed.
    private(set) var digest = SampleDigest()

    init(file: PartialFile) {
        self.file = file
    }

    deinit { memory.deallocate() }

    /// Empties the buffer if it is nearly full. To be called at least once a row.
    @inline(__always)
    func endRow() throws {
        append(UInt8(ascii: "\n"))
        if count >= Self.fullByteCount { try flush() }
    }

    func flush() throws {
        for byte in memory[..<count] { digest.add(UInt64(byte)) }
        try file.write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        count = 0
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    func append(_ bytes: [UInt8]) {
        for byte in bytes { append(byte) }
    }

    /// A whole number.
    func append(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude, width: 1)
    }

    /// A whole number with so many zeros behind a point; without a point for none.
    func append(_ value: Int64, zeros: Int) {
        append(value)
        guard zeros > 0 else { return }
        append(UInt8(ascii: "."))
        for _ in 0..<zeros { append(UInt8(ascii: "0")) }
    }

    /// Nanoseconds as seconds with six decimals, rounded down.
    func appendSeconds(_ nanoseconds: Int64) {
        let seconds = nanoseconds.floorDivided(by: 1_000_000_000)
        append(seconds)
        append(UInt8(ascii: "."))
        appendDigits(UInt64(nanoseconds - seconds * 1_000_000_000) / 1000, width: 6)
    }

    /// value / power, with trailing zeros dropped but for the decimals that are always shown; power = 10^decimals.
    func append(_ value: Int64, decimals: Int, power: Int64, shownDecimals: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: power.magnitude)
        appendDigits(whole, width: 1)
        guard rest != 0 || shownDecimals > 0 else { return }
        append(UInt8(ascii: "."))
        var (rest2, decimalCount) = (rest, decimals)
        while decimalCount > shownDecimals, rest2 % 10 == 0 {
            rest2 /= 10
            decimalCount -= 1
        }
        appendDigits(rest2, width: decimalCount)
    }

    /// Decimal digits, with leading zeros up to the width.
    func appendDigits(_ value: UInt64, width: Int) {
        var length = 1
        var bound: UInt64 = 10
        while length < 19 && value >= bound {
            length += 1
            bound *= 10
        }
        if length == 19 && value >= bound { length = 20 }
        length = max(length, width)
        var rest = value
        var index = count + length
        while index > count {
            index -= 1
            memory[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }
}
