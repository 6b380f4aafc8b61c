/// Numbers as a reader of a report sees them. Figures of pictures are written by the million, without Foundation's formats.
enum ReportText {
    /// `-1.50`: rounded to so many decimals. What is no number, or beyond 18 digits, is `unknown`.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        var power = 1.0
        for _ in 0..<decimals { power *= 10 }
        let scaled = (value * power).rounded()
        guard scaled.isFinite, abs(scaled) < 1e18 else { return "unknown" }
        let whole = Int64(abs(scaled))
        let sign = scaled < 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(whole) }
        let rest = String(whole % Int64(power))
        return sign + String(whole / Int64(power)) + "." + String(repeating: "0", count: decimals - rest.count) + rest
    }

    /// `+1.5`.
    static func signed(_ value: Double, _ decimals: Int) -> String {
        let text = fixed(value, decimals)
        return value >= 0 && !text.hasPrefix("-") ? "+" + text : text
    }

    /// A length of a picture: three decimals at most, without zeros at the end.
    static func length(_ value: Double) -> String {
        var text = fixed(value, 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    /// `12.345%`: a position of the axis.
    static func position(_ fraction: Double) -> String { length(fraction * 100) + "%" }

    /// `1,234,567`.
    static func count(_ value: Int64) -> String {
        let digits = String(value.magnitude)
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { grouped += "," }
            grouped.append(digit)
        }
        return value < 0 ? "-" + grouped : grouped
    }

    /// `0.12 %`; what is little and not nothing is no zero.
    static func percent(_ part: Double) -> String {
        if part > 0, part < 0.000_05 { return "below 0.01 %" }
        return fixed(part * 100, 2) + " %"
    }

    /// `85 ms`, `4.2 s`, `3 min 05 s`, `2 h 03 min`, `12 d 4 h`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "unknown" }
        if seconds < 0 { return "-" + duration(-seconds) }
        if seconds < 0.9995 { return fixed(seconds * 1000, 0) + " ms" }
        if seconds < 59.95 { return fixed(seconds, 1) + " s" }
        let whole = Int64(seconds.rounded())
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : String(value) }
        if whole < 3600 { return "\(whole / 60) min \(two(whole % 60)) s" }
        if whole < 86_400 { return "\(whole / 3600) h \(two(whole % 3600 / 60)) min" }
        return "\(whole / 86_400) d \(whole % 86_400 / 3600) h"
    }

    /// `250 Hz`, `249.9 Hz`.
    static func frequency(_ hertz: Double) -> String { length((hertz * 1000).rounded() / 1000) + " Hz" }

    /// BIDS writes `uV`; people write `µV`.
    static func unit(_ unit: String) -> String { unit.hasPrefix("u") ? "µ" + unit.dropFirst() : unit }
}
