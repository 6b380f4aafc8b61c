import Bluetooth
import Foundation
import Storage

/// Processes that have died of late, why, and whether the present one waits before it records.
struct DeathSituation: Hashable, Encodable {
    /// How many within the last day.
    var count: Int
    /// When the latest was last known to be alive, seconds ago; nil where nobody knows.
    var lastSeconds: Double?
    /// Why the latest died, in words; nil where nobody knows.
    var cause: String?
    /// How many have died in a row, each within a minute of its start.
    var earlyInARow: Int
    /// How long the present process still waits before it records; 0 where it does not.
    var waitsSeconds: Double

    /// The time that counts, in seconds: a day.
    private static let window = 86_400.0

    /// Nil where none has died.
    init?(_ store: some Store, isRunning: Bool, now: MonotonicTime, wallNanoseconds: Int64) throws {
        func age(_ instant: StoredInstant) -> Double? {
            if instant.isSameHostBoot { return (now - instant.time).inSeconds }
            return instant.unixNanoseconds.map { Double(wallNanoseconds - $0) / 1e9 }
        }
        let deaths = try store.deaths(isRunning: isRunning, limit: 1000)
        let starts = try store.earlyStarts()
        let recent = deaths.filter { age($0.lastSign).map { $0 < Self.window } ?? false }
        // The latest start is that of the present process.
        earlyInARow = max(0, starts.count - 1)
        guard !recent.isEmpty || earlyInARow > 0 else { return nil }
        count = max(recent.count, earlyInARow)
        lastSeconds = recent.first.flatMap { age($0.lastSign) }
        cause = recent.first?.cause
        waitsSeconds = 0
        if isRunning, let latest = starts.last {
            let pause = RestartBackoff.pause(earlyDeaths: earlyInARow)
            waitsSeconds = max(0, (latest + pause - now).inSeconds)
        }
    }

    /// One or two sentences.
    var sentence: String {
        var text = "eegsync run has died \(count == 1 ? "once" : "\(count) times") within the last day"
        if let lastSeconds { text += ", the last time \(Quantity.duration(seconds: max(0, lastSeconds))) ago" }
        if let cause { text += ": \(cause)" }
        text += "."
        if waitsSeconds > 0 {
            text +=
                " It has died \(earlyInARow) times in a row within a minute of its start, and waits for another "
                + "\(Quantity.duration(seconds: waitsSeconds)) before it records."
        }
        return text
    }

    /// What a person can do.
    var remedy: String { "read what it said before: journalctl -u eegsync; all deaths: eegsync events" }
}
