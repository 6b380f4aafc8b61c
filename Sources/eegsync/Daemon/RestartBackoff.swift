/// How long a daemon that the service manager starts again and again waits before it does anything that may have killed those
/// before it.
///
/// The first deaths cost nothing: a headset is back within seconds. A crash that repeats within a minute of each start is one
/// that the next start will meet, too; each start costs power, a line of the journal, and a write to the card.
enum RestartBackoff {
    /// A process that has lived so long has not died early.
    static let earlyPeriod = Duration.seconds(60)
    /// So many early deaths are followed by a start at once.
    static let freeDeaths = 2
    /// No pause is longer: who mends the cause from afar does not wait for hours.
    static let longestPause = Duration.seconds(60)

    /// The pause: 1 s after the third early death in a row, then twice as long with each.
    static func pause(earlyDeaths: Int) -> Duration {
        let extra = earlyDeaths - freeDeaths
        guard extra > 0 else { return .zero }
        return min(longestPause, .seconds(1 << min(extra - 1, 6)))
    }

    /// What log and service manager say; nil where there is no pause.
    static func sentence(earlyDeaths: Int, lastEnd: PreviousEnd?) -> String? {
        let pause = pause(earlyDeaths: earlyDeaths)
        guard pause > .zero else { return nil }
        let cause = lastEnd?.deathCause.map { ", the last time \($0)" } ?? ""
        return "the last \(earlyDeaths) starts each ended within \(Quantity.duration(earlyPeriod))\(cause); this one waits "
            + "\(Quantity.duration(pause)) before it records. `systemctl restart eegsync` begins at once"
    }
}
