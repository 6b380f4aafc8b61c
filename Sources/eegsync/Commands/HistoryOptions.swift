import ArgumentParser
import Bluetooth
import Foundation

/// Which part of the history is wanted.
struct HistoryOptions: ParsableArguments {
    @Option(help: "Only this headset.")
    var headset: String?

    @Option(
        help: ArgumentHelp(
            "Only from then on: the time of this machine such as '2026-03-01 23:00', UTC such as 2026-03-01T22:00:00Z, or how "
                + "long ago, such as 90s, 30min, 2h, 3d.",
            valueName: "time"))
    var since: PastTime?

    /// UTC nanoseconds since 1970; nil for the beginning.
    var sinceUnixNanoseconds: Int64? {
        since?.unixNanoseconds(now: Int64(Date().timeIntervalSince1970 * 1e9))
    }
}
