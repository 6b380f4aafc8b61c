import CSystemd
import Foundation

/// What the service manager is notified of (sd_notify(3)); every call is a no-op where no service manager started the process.
enum ServiceNotification {
    /// The daemon is up: recordings run or wait.
    static func ready(status: String) {
        send("READY=1\nSTATUS=\(oneLine(status))")
    }

    /// One sentence that `systemctl status eegsync` shows.
    static func status(_ sentence: String) {
        send("STATUS=\(oneLine(sentence))")
    }

    /// The daemon reads its configuration again; ``ready(status:)`` ends that.
    static func reloading() {
        send("RELOADING=1")
    }

    /// The daemon ends as it was asked to.
    static func stopping() {
        send("STOPPING=1")
    }

    /// The daemon is alive; due at least every ``watchdogInterval``.
    static func watchdog() {
        send("WATCHDOG=1")
    }

    /// The start, or whatever else is under way, makes progress and takes longer than the unit allows: 30 s more from now,
    /// which the watchdog grants, too.
    static func takingLonger(_ sentence: String) {
        send("EXTEND_TIMEOUT_USEC=30000000\nWATCHDOG=1\nSTATUS=\(oneLine(sentence))")
    }

    /// True where systemd has started this very process, and not one that this process is a descendant of.
    static func isService(environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        environment["SYSTEMD_EXEC_PID"] == String(getpid())
    }

    /// How often ``watchdog()`` is to be called: half of the unit's `WatchdogSec`, as sd_watchdog_enabled(3) recommends; nil
    /// where the unit has none.
    static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds / 2))
    }

    private static func send(_ state: String) {
        // A lost notification is not worth an error: the watchdog of the unit restarts a daemon that cannot be heard.
        _ = sd_notify(0, state)
    }

    /// The protocol separates assignments by line ends, so a sentence must not contain any.
    private static func oneLine(_ sentence: String) -> String {
        String(sentence.map { $0.isNewline ? " " : $0 })
    }
}
