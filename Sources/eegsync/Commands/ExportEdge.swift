import Export
import Foundation

extension ExportSelection.Edge {
    /// An edge as a person writes it.
    ///
    /// A time as `--at` of `eegsync mark` has it, `+10min` after the recording's beginning, `-5m` before its end, `n=12000`.
    ///
    /// - Parameter timeZone: of times that name none.
    init?(argument: String, timeZone: String = TimeZone.current.identifier) {
        if let number = argument.hasPrefix("n=") ? Int64(argument.dropFirst(2)) : nil {
            self = .sample(number)
        } else if argument.hasPrefix("+"), let span = Self.span(argument.dropFirst()) {
            self = .afterStart(span)
        } else if argument.hasPrefix("-"), let span = Self.span(argument.dropFirst()) {
            self = .beforeEnd(span)
        } else if let time = PastTime.instant(argument, timeZone: timeZone) {
            self = .at(time)
        } else {
            return nil
        }
    }

    /// What an edge looks like, for a message.
    static let words =
        "UTC such as 2026-03-01T22:00:00Z, the time of this machine such as '2026-03-01 23:00', +10min after the recording's "
        + "beginning, -5m before its end, or a sample such as n=12000"

    /// Nanoseconds of `1.5h`, `90s`, `250ms`, `1:30:00`, `2:05.5`; nil for what is none.
    static func span(_ text: Substring) -> Int64? {
        let clock = text.split(separator: ":", omittingEmptySubsequences: false)
        if clock.count > 1 {
            guard clock.count <= 3, let parts = Self.numbers(clock), parts.dropFirst().allSatisfy({ $0 < 60 }),
                parts.dropLast().allSatisfy({ $0 == $0.rounded() })
            else { return nil }
            return nanoseconds(parts.reduce(0) { $0 * 60 + $1 })
        }
        for (unit, seconds) in [("min", 60), ("ms", 0.001), ("m", 60), ("s", 1), ("h", 3600), ("d", 86_400)]
            as [(String, Double)]
        where text.hasSuffix(unit) {
            return numbers([text.dropLast(unit.count)]).flatMap { nanoseconds($0[0] * seconds) }
        }
        return nil
    }

    /// Decimals without sign or exponent.
    private static func numbers(_ texts: [Substring]) -> [Double]? {
        let numbers = texts.compactMap { text in
            text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(text) : nil
        }
        return numbers.count == texts.count ? numbers : nil
    }

    /// Up to a hundred years.
    private static func nanoseconds(_ seconds: Double) -> Int64? {
        seconds <= 3.2e9 ? Int64((seconds * 1e9).rounded()) : nil
    }
}
