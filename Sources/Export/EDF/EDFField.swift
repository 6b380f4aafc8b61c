/// How text and numbers are written into the fixed fields of the header: printable US-ASCII, left aligned, filled with spaces
/// (EDF specification, header record).
enum EDFField {
    /// A field of `width` bytes. Text beyond the width is cut; a byte that is not printable ASCII becomes an underscore.
    static func bytes(_ text: String, width: Int) -> [UInt8] {
        var bytes = Array(ascii(text).utf8.prefix(width))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: width - bytes.count))
        return bytes
    }

    /// The text in printable ASCII. The micro signs, which units are written with, become `u`, the degree sign `deg`.
    static func ascii(_ text: String) -> String {
        var result = ""
        // By character, so that a letter and its combining accents become one underscore.
        for character in text {
            switch character {
            case "\u{B5}", "\u{3BC}": result += "u"
            case "\u{B0}": result += "deg"
            case " "..."~" where character.isASCII: result.append(character)
            default: result += "_"
            }
        }
        return result
    }

    /// One subfield of the patient or recording identification: `X` where unknown, spaces replaced, since they separate
    /// subfields (EDF+ specification, 2.1.3.3 and 2.1.3.4).
    static func subfield(_ text: String?, width: Int = 80) -> String {
        let filled = ascii(text ?? "").map { $0 == " " ? "_" : $0 }.prefix(width)
        return filled.isEmpty ? "X" : String(filled)
    }

    /// A number in at most eight characters, as near to `value` as they allow: no exponent, which the format does not know.
    /// Nil where the integer part alone is too long.
    static func number(_ value: Double) -> String? {
        guard value.isFinite, abs(value) < 1e8 else { return nil }
        for decimals in (0...6).reversed() {
            let text = fixed(value, decimals: decimals)
            if text.utf8.count <= 8 { return text }
        }
        return nil
    }

    /// A number with at most `decimals` (0 ... 18) decimals, trailing zeros dropped. |value| × 10^decimals stays below 2^63.
    static func fixed(_ value: Double, decimals: Int) -> String {
        var power: Int64 = 1
        for _ in 0..<decimals { power *= 10 }
        var scaled = Int64((abs(value) * Double(power)).rounded())
        var decimalCount = decimals
        while decimalCount > 0 && scaled % 10 == 0 {
            scaled /= 10
            power /= 10
            decimalCount -= 1
        }
        let sign = value < 0 && scaled != 0 ? "-" : ""
        guard decimalCount > 0 else { return sign + String(scaled) }
        return sign + String(scaled / power) + "." + CivilTime.digits(Int(scaled % power), decimalCount)
    }
}
