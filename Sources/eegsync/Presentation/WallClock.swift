import Foundation

/// The clock by which a person reads times: that of a time zone, which is always said.
struct WallClock: Hashable, Sendable {
    let zone: TimeZone

    /// The clock of the machine's time zone, or of `TZ`.
    static var local: WallClock { WallClock(zone: .current) }
    static let utc = WallClock(zone: .gmt)

    /// `2026-03-01 23:00:00.250 UTC+1`.
    func text(_ unixNanoseconds: Int64) -> String { "\(bare(unixNanoseconds)) \(offsetWords(unixNanoseconds))" }

    /// `2026-03-01 23:00 UTC+1`.
    func minuteText(_ unixNanoseconds: Int64) -> String {
        "\(bareMinute(unixNanoseconds)) \(offsetWords(unixNanoseconds))"
    }

    /// `2026-03-01 23:00`.
    fileprivate func bareMinute(_ unixNanoseconds: Int64) -> String { String(bare(unixNanoseconds).prefix(16)) }

    /// `2026-03-01 23:00:00.250`.
    fileprivate func bare(_ unixNanoseconds: Int64) -> String {
        let (local, isTooLarge) = unixNanoseconds.addingReportingOverflow(Int64(offset(unixNanoseconds)) * 1_000_000_000)
        return isTooLarge ? "unknown" : Quantity.time(unixNanoseconds: local)
    }

    /// `UTC`, `UTC+1`, `UTC-3:30`: by how much the zone's clock differs from UTC at an instant.
    fileprivate func offsetWords(_ unixNanoseconds: Int64) -> String {
        let minutes = offset(unixNanoseconds) / 60
        guard minutes != 0 else { return "UTC" }
        let rest = abs(minutes) % 60
        return "UTC\(minutes < 0 ? "-" : "+")\(abs(minutes) / 60)" + (rest == 0 ? "" : String(format: ":%02d", rest))
    }

    /// In seconds, positive east of Greenwich.
    private func offset(_ unixNanoseconds: Int64) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unixNanoseconds / 1_000_000_000)))
    }

    /// How times are written that stand below each other.
    func column(_ heading: String, of times: some Sequence<Int64?>) -> TimeColumn {
        TimeColumn(self, heading: heading, times: times.compactMap(\.self))
    }
}

/// A column of times. Its heading says the zone; where that changes its clock between the first and the last of them, each
/// time does, as an hour comes twice then.
struct TimeColumn {
    /// Such as `FROM (UTC+1)`.
    let heading: String
    private let clock: WallClock
    private let saysEach: Bool

    fileprivate init(_ clock: WallClock, heading: String, times: [Int64]) {
        self.clock = clock
        let zones = times.map(clock.offsetWords)
        saysEach = zones.contains { $0 != zones[0] }
        let now = clock.offsetWords(Int64(Date().timeIntervalSince1970) * 1_000_000_000)
        self.heading = "\(heading) (\(saysEach ? clock.zone.identifier : zones.first ?? now))"
    }

    /// `2026-03-01 23:00`, with the zone where the heading does not say it.
    func minuteText(_ unixNanoseconds: Int64) -> String {
        saysEach ? clock.minuteText(unixNanoseconds) : clock.bareMinute(unixNanoseconds)
    }

    /// `2026-03-01 23:00:00.250`, with the zone where the heading does not say it.
    func text(_ unixNanoseconds: Int64) -> String {
        saysEach ? clock.text(unixNanoseconds) : clock.bare(unixNanoseconds)
    }
}
