import Foundation

/// How the unit's last process ended, as the service manager has it: the unit writes `$SERVICE_RESULT`, `$EXIT_CODE` and
/// `$EXIT_STATUS` (systemd.exec(5)) into a file of its runtime directory. The process itself cannot know that it ran out of
/// memory.
struct PreviousEnd: Hashable {
    /// `success`, `oom-kill`, `watchdog`, `core-dump`, `signal`, `exit-code`, `timeout` and others.
    var result: String
    /// `exited`, `killed` or `dumped`.
    var code: String
    /// An exit code, or the name of a signal without `SIG`.
    var status: String

    private static let file = "last-end"

    /// Reads three words; nil for anything else.
    init?(text: String) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 3 else { return nil }
        (result, code, status) = (words[0], words[1], words[2])
    }

    /// How the process before this one ended, where it ran in the same boot under the same unit.
    static func current(environment: [String: String] = ProcessInfo.processInfo.environment) -> PreviousEnd? {
        guard let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first,
            let text = try? String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
        else { return nil }
        return PreviousEnd(text: text)
    }

    /// Deaths that came before a process could count its start, a line for each; the unit waits where there are many.
    private static let uncounted = "uncounted"

    /// Notes that this process has counted its start: what the unit counted is over.
    static func noteCounted(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let directory = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first else { return }
        unlink("\(directory)/\(uncounted)")
    }

    /// Why it died, in words; nil where it did not.
    var deathCause: String? {
        switch result {
        case "success": nil
        case "oom-kill": "the kernel killed it for want of memory (MemoryMax= of the unit, or the whole machine's)"
        case "watchdog": "it hung and was killed by the watchdog (WatchdogSec= of the unit)"
        case "timeout": "it took too long to start or to end (TimeoutStartSec=, TimeoutStopSec= of the unit)"
        case "core-dump", "signal": "it was killed by SIG\(status)"
        case "exit-code": "it ended with exit code \(status)"
        default: "systemd says '\(result)'"
        }
    }
}
