import Testing

@testable import Export

@Suite struct DecimalDigitsTests {
    /// What is written into memory of a test's own, with as much behind it as may be overwritten.
    private static func written(_ body: (inout UnsafeMutablePointer<UInt8>) -> Void) -> String {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 + DecimalDigits.slack)
        defer { memory.deallocate() }
        memory.initialize(repeating: UInt8(ascii: "x"), count: 64 + DecimalDigits.slack)
        var next = memory
        body(&next)
        return String(decoding: UnsafeBufferPointer(start: memory, count: next - memory), as: UTF8.self)
    }

    /// Each side of each power of ten and of two, and numbers whose digits all differ.
    private static let values: [Int64] = {
        var values: [Int64] = [0, 7, 90_817_263_545, 1_234_567_890_123_456_789, 100_000_001, 10_000_000_100_000_000]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            values += [power - 1, power, power + 1, power / 3, power / 7 * 6]
        }
        values += (1..<62).map { 1 << $0 }
        return values + values.map { -$0 }
    }()

    @Test("Whole numbers of any length are written as the standard library writes them")
    func whole() {
        for value in Self.values {
            #expect(Self.written { DecimalDigits.write(value, to: &$0) } == String(value))
        }
        #expect(Self.written { DecimalDigits.write(UInt64(42), width: 6, to: &$0) } == "000042")
        #expect(Self.written { DecimalDigits.write(UInt64(0), width: 3, to: &$0) } == "000")
    }

    @Test("Decimals stand where they belong, zeros behind the last one are dropped, but for those that are always shown")
    func decimals() {
        for value in Self.values {
            for (decimals, shown) in [(1, 0), (1, 1), (3, 3), (6, 6), (7, 0), (8, 1), (9, 0), (13, 2), (18, 0)] {
                let digits = String(value.magnitude)
                let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
                var fraction = String(padded.suffix(decimals))
                while fraction.count > shown, fraction.last == "0" { fraction.removeLast() }
                let expected =
                    (value < 0 ? "-" : "") + padded.dropLast(decimals) + (fraction.isEmpty ? "" : "." + fraction)
                let written = Self.written {
                    DecimalDigits.write(value, decimals: decimals, shownDecimals: shown, to: &$0)
                }
                #expect(written == expected, "\(value), \(decimals) decimals, \(shown) shown")
            }
        }
    }

    @Test(
        "Digits are read up to the first byte that is none, whatever follows", arguments: [",", "\n", ".", "-", "e", "/", ":"])
    func read(end: String) throws {
        for value in Self.values where value >= 0 {
            let text = Array((String(value) + end + "93817").utf8) + [UInt8](repeating: 0x39, count: DecimalDigits.slack)
            try text.withUnsafeBufferPointer { text in
                var next = try #require(text.baseAddress)
                var count = 0
                #expect(DecimalDigits.read(&next, count: &count) == UInt64(value))
                #expect(count == String(value).count)
                #expect(next.pointee == Array(end.utf8)[0])
            }
        }
    }
}
