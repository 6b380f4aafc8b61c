import Bluetooth

/// When the markers of one stream were, by their stamps and by what liblsl says of the distance of the two machines' clocks,
/// which it measures anew and again and cannot always say.
struct LSLMarkerTime: Hashable {
    /// How long liblsl may take for its first answer, in seconds: it measures for some tenths of one.
    private static let correctionWait = 2.0
    /// How long a marker is on its way at most where a correction of before counts, and by how much that may be off: where the
    /// other machine has rebooted, its clock began anew, and the correction is off by all the time that it ran.
    private static let knownFor = Duration.seconds(60)
    private static let knownWithin = Duration.seconds(1)

    /// The latest correction that liblsl had, in seconds: clocks part by some milliseconds in a minute at most.
    private var known: Double?
    private var hasFailed = false

    /// How long liblsl is waited for, in seconds. After a failure not at all, so that markers behind it are not late each: it
    /// goes on measuring, and says what it has.
    var waitSeconds: Double { hasFailed ? 0 : Self.correctionWait }

    /// The instant of a marker.
    ///
    /// - Parameters:
    ///   - stamp: its stamp, on the clock of the machine that it is from.
    ///   - correction: what liblsl says of that clock against this machine's; nil where it cannot.
    ///   - clock: liblsl's clock on this machine.
    ///   - arrival: when the marker came; its instant where no correction is known that fits. Better late than wrong by hours:
    ///     the stamp is on the clock of a machine that nobody can say.
    mutating func instant(
        of stamp: Double, correction: Double?, clock: LSLClock, arrival: MonotonicTime
    ) -> MonotonicTime {
        hasFailed = correction == nil
        known = correction ?? known
        guard let known, let instant = clock.time(stamp + known) else { return arrival }
        let isRecent = instant >= arrival - Self.knownFor && instant <= arrival + Self.knownWithin
        return correction != nil || isRecent ? instant : arrival
    }
}
