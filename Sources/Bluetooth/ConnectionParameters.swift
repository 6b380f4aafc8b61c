/// What the central asks of a link: how often the two radios meet, and after which silence the link counts as lost (Core
/// Specification, Vol 6, Part B, 4.5.1 and 4.5.2; ranges: Vol 4, Part E, 7.8.12).
public struct ConnectionParameters: Hashable, Sendable {
    /// The shortest interval between two connection events that suits, in units of 1.25 ms; 6 ... 3,200.
    public let minimumInterval: UInt16
    /// The longest interval that suits, in units of 1.25 ms; `minimumInterval` ... 3,200. The controller picks one between.
    public let maximumInterval: UInt16
    /// How many connection events in a row the peripheral may sleep through; 0 ... 499.
    public let latency: UInt16
    /// The silence after which the link counts as lost, in units of 10 ms; 10 ... 3,200.
    public let supervisionTimeout: UInt16

    /// Creates parameters; nil where one is out of its range, or where the timeout is not longer than two intervals of a
    /// peripheral that uses its latency. The kernel refuses the same ones (`hci_check_conn_params`).
    public init?(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        guard minimumInterval >= 6, minimumInterval <= maximumInterval, maximumInterval <= 3200, latency <= 499,
            (10...3200).contains(supervisionTimeout)
        else { return nil }
        // Both sides in units of 1.25 ms; 10 ms are eight of them.
        guard Int(supervisionTimeout) * 8 > (1 + Int(latency)) * Int(maximumInterval) * 2 else { return nil }
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Parameters that suit a headset which sends a notification every `packetPeriod` and whose link the program itself gives
    /// up after `silenceLimit`.
    ///
    /// - The interval holds two notifications, so that a lost radio packet is repeated before the headset's queue grows;
    ///   7.5 ... 30 ms. The upper bound is the kernel's default minimum: each step of the establish flow costs an interval or
    ///   two. The shortest that suits is half of it, which leaves the controller room to fit several links.
    /// - No latency: a headset that streams has something to say at every event.
    /// - The supervision timeout is a third of the silence limit, 2 ... 6 s: short fades do not end the link (the kernel's
    ///   default of 420 ms does), and a headset that is gone is the controller's to notice, since a link that has ended by
    ///   itself is closed at once and one that bluetoothd is asked to close takes 2 s. The program gives up what the
    ///   controller keeps alive and is silent all the same.
    public init(packetPeriod: Duration, silenceLimit: Duration) {
        let longest = Self.units(packetPeriod + packetPeriod, of: 1_250_000, in: 6...24)
        maximumInterval = longest
        minimumInterval = max(6, longest / 2)
        latency = 0
        supervisionTimeout = Self.units(silenceLimit / 3, of: 10_000_000, in: 200...600)
    }

    /// Whole units, rounded down and then brought into the range.
    private static func units(_ duration: Duration, of unitNanoseconds: Int64, in range: ClosedRange<UInt16>) -> UInt16 {
        UInt16(clamping: min(max(duration.nanoseconds / unitNanoseconds, Int64(range.lowerBound)), Int64(range.upperBound)))
    }

    /// ``minimumInterval`` ... ``maximumInterval`` as durations.
    public var interval: ClosedRange<Duration> {
        .microseconds(1250 * Int64(minimumInterval)) ... .microseconds(1250 * Int64(maximumInterval))
    }

    /// ``supervisionTimeout`` as a duration.
    public var supervision: Duration { .milliseconds(10 * Int64(supervisionTimeout)) }
}

extension ConnectionParameters: CustomStringConvertible {
    /// Such as `interval 15 ... 30 ms, latency 0, supervision timeout 4 s`.
    public var description: String {
        let shortest = Self.decimal(Int(minimumInterval) * 125)
        let longest = Self.decimal(Int(maximumInterval) * 125)
        let timeout = Self.decimal(Int(supervisionTimeout))
        return "interval \(shortest) ... \(longest) ms, latency \(latency), supervision timeout \(timeout) s"
    }

    /// Hundredths as a decimal number without zeros at its end.
    private static func decimal(_ hundredths: Int) -> String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        if rest % 10 == 0 { return "\(whole).\(rest / 10)" }
        return rest < 10 ? "\(whole).0\(rest)" : "\(whole).\(rest)"
    }
}
