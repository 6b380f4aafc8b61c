import Acquisition
import ArgumentParser
import Bluetooth
import Foundation

/// A time as a person writes it: `2026-03-01 23:00` by the clock of the machine's time zone, `2026-03-01T22:00:00Z`,
/// `2026-03-01T23:00+01:00`, `2026-03-01 23:00 UTC+1` as commands print it, or how long ago, `90s`, `-5m`.
enum PastTime: Hashable, ExpressibleByArgument {
    /// UTC nanoseconds since 1970.
    case at(Int64)
    /// Before now.
    case ago(Duration)

    init?(argument: String) {
        if let ago = Self.span(argument) {
            self = .ago(ago)
        } else if let time = Self.instant(argument, timeZone: TimeZone.current.identifier) {
            self = .at(time)
        } else {
            return nil
        }
    }

    func unixNanoseconds(now: Int64) -> Int64 {
        switch self {
        case .at(let time): time
        case .ago(let span): now - span.nanoseconds
        }
    }

    /// `90s`, `30min`, `5m`, `2h`, `3d`, each also with a minus.
    static func span(_ text: String) -> Duration? {
        let length = text.hasPrefix("-") ? text.dropFirst() : Substring(text)
        for (unit, seconds) in [("min", 60), ("m", 60), ("s", 1), ("h", 3600), ("d", 86_400)] as [(String, Int64)]
        where length.hasSuffix(unit) {
            let digits = length.dropLast(unit.count)
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits), number <= 10_000_000 else {
                return nil
            }
            return .seconds(number * seconds)
        }
        return nil
    }

    /// `2026-03-01`, `2026-03-01T22:00`, `2026-03-01 22:00:00.250Z`, `2026-03-01T23:00+01:00`, `2026-03-01 23:00 UTC+1`.
    ///
    /// - Parameter timeZone: where the text gives none.
    static func instant(_ text: String, timeZone: String = "UTC") -> Int64? {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        guard let day = day(parts[0]) else { return nil }
        func unix(_ local: Int64) -> Int64? {
            timeZone == "UTC" ? local : CivilTime.unix(ofLocal: local) { ZoneDatabase.utcOffset(timeZone, $0) }
        }
        guard parts.count == 2 else { return unix(day).map { $0 * 1_000_000_000 } }
        guard let (clock, zone) = zone(of: parts[1]), let (seconds, nanoseconds) = time(clock),
            let instant = zone.map({ day + seconds - $0 }) ?? unix(day + seconds)
        else { return nil }
        return instant * 1_000_000_000 + nanoseconds
    }

    /// Seconds from 1970 to the beginning of a day.
    private static func day(_ text: Substring) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(number)
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
            (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var civil = tm()
        (civil.tm_year, civil.tm_mon, civil.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
        let seconds = Int64(timegm(&civil))
        // The 31st of April would be the 1st of May.
        return civil.tm_mday == Int32(day) ? seconds : nil
    }

    /// The time of the day, and how many seconds its zone is ahead of UTC; nil where it names none.
    private static func zone(of text: Substring) -> (clock: Substring, seconds: Int64?)? {
        if text.hasSuffix("Z") || text.hasSuffix("z") { return (text.dropLast(), 0) }
        if let name = text.firstRange(of: " UTC") {
            guard name.upperBound < text.endIndex else { return (text[..<name.lowerBound], 0) }
            // Hours of one digit, as commands print them.
            let offset = text[name.upperBound...].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let hours = offset[0].count == 2 ? "\(offset[0].prefix(1))0\(offset[0].dropFirst())" : String(offset[0])
            return zone(of: text[..<name.lowerBound] + hours + (offset.count == 2 ? ":" + offset[1] : ""))
        }
        guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) else { return (text, nil) }
        let digits = text[text.index(after: sign)...].filter { $0 != ":" }
        guard digits.count == 4 || digits.count == 2, let hours = number(digits.prefix(2)[...]), hours <= 14,
            let minutes = digits.count == 2 ? 0 : number(digits.dropFirst(2)[...]), minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return (text[..<sign], text[sign] == "-" ? -seconds : seconds)
    }

    /// Seconds of the day, and nanoseconds.
    private static func time(_ text: Substring) -> (Int64, Int64)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = number(parts[0]), let minute = number(parts[1]), hour < 24, minute < 60
        else { return nil }
        let whole = Int64(hour * 3600 + minute * 60)
        guard parts.count == 3 else { return (whole, 0) }
        let second = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = number(second[0]), seconds <= 60 else { return nil }
        guard second.count == 2 else { return (whole + Int64(seconds), 0) }
        let digits = second[1].prefix(9)
        guard !digits.isEmpty, second[1].allSatisfy({ $0.isASCII && $0.isNumber }),
            let fraction = Int64(digits + String(repeating: "0", count: 9 - digits.count))
        else { return nil }
        return (whole + Int64(seconds), fraction)
    }

    /// One to four digits.
    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }

    /// The same number of a text.
    private static func number(_ text: String) -> Int? { number(text[...]) }
}
