import Foundation

/// Whether a process acquires into a database, as far as anybody can see without disturbing it.
enum DaemonPresence {
    /// The pid of the acquiring process; nil where none runs.
    ///
    /// The lock file holds the pid of its last holder. The lock itself is not tried: for the moment of the trial it would keep
    /// a daemon from starting.
    static func pid(database path: String) -> Int32? {
        guard let text = try? String(contentsOfFile: path + "-lock", encoding: .utf8),
            let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 0
        else { return nil }
        // The pid may be another program's by now.
        guard let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8) else { return nil }
        return name.hasPrefix("eegsync") ? pid : nil
    }
}
