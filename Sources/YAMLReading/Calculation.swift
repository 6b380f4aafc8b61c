/// Arithmetic in a descriptor: scales are written as data sheets derive them, such as `4.5e6 / (24 * (2^23 - 1))`.
///
/// Numbers, `+`, `-`, `*`, `/`, `^` (binds closest, to the right) and parentheses.
struct Calculation {
    /// More than any formula needs; bounds the recursion.
    private static let lengthMaximum = 200

    private var rest: ArraySlice<UInt8>

    /// The value, or nil where the text is no calculation or its value is not finite.
    static func value(of text: String) -> Double? {
        guard text.utf8.count <= lengthMaximum else { return nil }
        var calculation = Calculation(rest: Array(text.utf8)[...])
        guard let value = calculation.sum(), calculation.next() == nil, value.isFinite else { return nil }
        return value
    }

    private mutating func sum() -> Double? {
        guard var value = product() else { return nil }
        while let sign = next(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            rest.removeFirst()
            guard let term = product() else { return nil }
            value += sign == UInt8(ascii: "+") ? term : -term
        }
        return value
    }

    private mutating func product() -> Double? {
        guard var value = signed() else { return nil }
        while let sign = next(), sign == UInt8(ascii: "*") || sign == UInt8(ascii: "/") {
            rest.removeFirst()
            guard let factor = signed() else { return nil }
            value = sign == UInt8(ascii: "*") ? value * factor : value / factor
        }
        return value
    }

    private mutating func signed() -> Double? {
        if next() == UInt8(ascii: "-") {
            rest.removeFirst()
            return signed().map { -$0 }
        }
        return power()
    }

    /// Whole powers only, by multiplication, so that powers of two are exact.
    private mutating func power() -> Double? {
        guard let base = atom() else { return nil }
        guard next() == UInt8(ascii: "^") else { return base }
        rest.removeFirst()
        guard let exponent = signed(), exponent == exponent.rounded(), abs(exponent) <= 64 else { return nil }
        let magnitude = (0..<Int(abs(exponent))).reduce(1.0) { value, _ in value * base }
        return exponent < 0 ? 1 / magnitude : magnitude
    }

    private mutating func atom() -> Double? {
        guard let first = next() else { return nil }
        if first == UInt8(ascii: "(") {
            rest.removeFirst()
            guard let value = sum(), next() == UInt8(ascii: ")") else { return nil }
            rest.removeFirst()
            return value
        }
        var digits: [UInt8] = []
        while let byte = rest.first {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
            let isExponent = byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
            let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            let follows = digits.last.map { $0 | 0x20 == UInt8(ascii: "e") } ?? false
            guard isDigit || byte == UInt8(ascii: "_") || isExponent && !digits.isEmpty || isSign && follows else { break }
            if byte != UInt8(ascii: "_") { digits.append(byte) }
            rest.removeFirst()
        }
        return Double(String(decoding: digits, as: UTF8.self))
    }

    /// The next character that is no space, without taking it.
    private mutating func next() -> UInt8? {
        while rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        return rest.first
    }
}
