import Bluetooth
import Foundation

/// Whether a process acquires into a database, as far as anybody can see without disturbing it.
enum DaemonPresence {
    /// The pid of the acquiring process; nil where none runs.
    ///
    /// The lock file holds the pid of its last holder. The lock itself is not tried: for the moment of the trial it would keep
    /// a daemon from starting.
    static func pid(database path: String) -> Int32? {
        guard let pid = writtenPid(path + "-lock"), pid > 0 else { return nil }
        // The pid may be another program's by now.
        guard let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8) else { return nil }
        return name.hasPrefix("eegsync") ? pid : nil
    }

    private static func writtenPid(_ lock: String) -> Int32? {
        if access(lock, R_OK) != 0 && errno == EACCES { return lockingPid(lock) }
        let text = try? String(contentsOfFile: lock, encoding: .utf8)
        // A word may follow: that it changes the schema.
        return text?.split { $0.isWhitespace }.first.flatMap { Int32($0) }
    }

    /// Who has locked a file that this user may not read, by proc_locks(5).
    private static func lockingPid(_ lock: String) -> Int32? {
        var file = stat()
        guard stat(lock, &file) == 0 else { return nil }
        let lines = (SystemFiles().text("/proc/locks") ?? "").split(separator: "\n").map { $0.split(separator: " ") }
        let line = lines.first { $0.count == 8 && $0[1] == "FLOCK" && $0[5].hasSuffix(":\(file.st_ino)") }
        return line.flatMap { Int32($0[4]) }
    }

    /// The acquiring process as the kernel shows it; nil where none runs.
    static func process(database path: String) -> DaemonProcess? {
        pid(database: path).map { DaemonProcess(pid: $0, files: SystemFiles()) }
    }
}

/// The process that acquires, as proc_pid_stat(5) shows it to everybody.
struct DaemonProcess: Hashable {
    var pid: Int32
    /// True where a signal has stopped it, or a debugger: it does nothing until it is continued.
    var isStopped = false
    /// When it began; nil where the kernel does not say.
    var started: MonotonicTime?

    init(pid: Int32, isStopped: Bool = false, started: MonotonicTime? = nil) {
        (self.pid, self.isStopped, self.started) = (pid, isStopped, started)
    }

    init(pid: Int32, files: SystemFiles) {
        self.pid = pid
        // The name, in brackets, may hold anything.
        guard let text = files.text("/proc/\(pid)/stat"), let name = text.lastIndex(of: ")") else { return }
        // From the third field on: the state, and as the 22nd clock ticks from the boot, suspensions included.
        let fields = text[text.index(after: name)...].split(separator: " ")
        isStopped = fields.first.map { $0 == "T" || $0 == "t" } ?? false
        guard fields.count > 19, let ticks = Int64(fields[19]) else { return }
        started = MonotonicTime(nanoseconds: ticks &* (1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))))
    }
}
