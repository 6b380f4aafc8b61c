import Foundation

/// Hours of the day in which samples may be sent: from one time up to another one, over midnight where that is the earlier one.
/// Local time of the machine.
struct ShippingHours: Hashable, Sendable {
    static let allowed = "allowed are two times of the day, such as 22:00-06:00"

    /// Minutes of the day, 0 ... 1439.
    let from, to: Int

    /// - Parameter text: `22:00-06:00`; nil for what is something else, or no time at all.
    init?(_ text: String) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map { TimeOfDay(argument: String($0)) }
        guard times.count == 2, let from = times[0]?.minute, let to = times[1]?.minute, from != to else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// Whether an instant lies within.
    func contains(_ instant: Date, in calendar: Calendar = .current) -> Bool {
        let time = calendar.dateComponents([.hour, .minute], from: instant)
        let minute = (time.hour ?? 0) * 60 + (time.minute ?? 0)
        return from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    }

    /// As it is written.
    var text: String { [from, to].map { String(format: "%02d:%02d", $0 / 60, $0 % 60) }.joined(separator: "-") }
}
