import ArgumentParser
import Bluetooth
import Foundation

/// Which part of the history is wanted.
struct HistoryOptions: ParsableArguments {
    @Option(help: "Only this headset.")
    var headset: String?

    @Option(
        help: ArgumentHelp(
            "Only from then on: a time in UTC such as 2026-03-01T22:00:00Z, or how long ago, such as 90s, 30min, 2h, 3d.",
            valueName: "time"))
    var since: PastTime?

    /// UTC nanoseconds since 1970; nil for the beginning.
    var sinceUnixNanoseconds: Int64? {
        since?.unixNanoseconds(now: Int64(Date().timeIntervalSince1970 * 1e9))
    }
}

/// A time as a person writes it.
enum PastTime: Hashable, ExpressibleByArgument {
    /// UTC nanoseconds since 1970.
    case at(Int64)
    /// Before now.
    case ago(Duration)

    init?(argument: String) {
        if let ago = Self.span(argument) {
            self = .ago(ago)
        } else if let time = Self.instant(argument) {
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

    private static func span(_ text: String) -> Duration? {
        for (unit, seconds) in [("min", 60), ("s", 1), ("h", 3600), ("d", 86_400)] as [(String, Int64)] {
            guard text.hasSuffix(unit), let number = Int64(text.dropLast(unit.count)), (0...10_000_000).contains(number) else {
                continue
            }
            return .seconds(number * seconds)
        }
        return nil
    }

    /// `2026-03-01`, `2026-03-01T22:00`, `2026-03-01 22:00:00Z`: always UTC.
    private static func instant(_ text: String) -> Int64? {
        let parts = (text.hasSuffix("Z") ? text.dropLast() : Substring(text)).split { $0 == "T" || $0 == " " }
        let date = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
        let time = (parts.count > 1 ? parts[1] : "0:0").split(separator: ":", omittingEmptySubsequences: false)
            .map { Int32($0) }
        guard parts.count <= 2, date.count == 3, (2...3).contains(time.count), !date.contains(nil), !time.contains(nil) else {
            return nil
        }
        let (year, month, day) = (date[0] ?? 0, date[1] ?? 0, date[2] ?? 0)
        let (hour, minute, second) = (time[0] ?? 0, time[1] ?? 0, time.count > 2 ? time[2] ?? 0 : 0)
        guard (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        var civil = tm()
        (civil.tm_year, civil.tm_mon, civil.tm_mday) = (year - 1900, month - 1, day)
        (civil.tm_hour, civil.tm_min, civil.tm_sec) = (hour, minute, second)
        return Int64(timegm(&civil)) * 1_000_000_000
    }
}
