import Bluetooth
import Foundation
import Storage

/// Whether a process acquires into a database, as far as anybody can see without disturbing it.
enum DaemonPresence {
    /// The pid of the acquiring process; nil where none runs.
    ///
    /// The kernel says who has the lock file (proc_locks(5)). The lock itself is not tried: for the moment of the trial it
    /// would keep a daemon from starting. The file has the pid of its last holder, too, which may be that of another eegsync
    /// by now: it counts only where the kernel's list cannot be read.
    ///
    /// A process without a number in the namespace of this /proc is not in the list (since Linux 4.9 `locks_show` of fs/locks.c
    /// leaves it out): whoever looks from inside a container sees no daemon outside of it. From outside, it is seen.
    static func pid(database path: String, files: SystemFiles = SystemFiles()) -> Int32? {
        let lock = AcquisitionLock.path(of: path)
        var file = stat()
        guard stat(lock, &file) == 0 else { return nil }
        var pids = writtenPid(lock).map { [$0] } ?? []
        // All of it, and an empty one is one, too: there may be no lock at all.
        if let table = FileHandle(forReadingAtPath: files.root + "/proc/locks"), let bytes = try? table.readToEnd() ?? Data() {
            let locks = String(decoding: bytes, as: UTF8.self)
            pids = holders(ofInode: UInt64(file.st_ino), on: DeviceNumber(file.st_dev), in: locks)
        }
        // The pid that was written may be another program's by now, and a lock that of another file with the same number.
        return pids.first { $0 > 0 && files.text("/proc/\($0)/comm")?.hasPrefix("eegsync") == true }
    }

    private static func writtenPid(_ lock: String) -> Int32? {
        let text = try? String(contentsOfFile: lock, encoding: .utf8)
        // A word may follow: that it changes the schema.
        return text?.split { $0.isWhitespace }.first.flatMap { Int32($0) }
    }

    /// Who may have locked a file by flock(2), as /proc/locks has it: those who have a file of its number on its device, else
    /// on a device that has no hardware behind it. Of a file on btrfs or overlayfs, the list and stat(2) name different ones of
    /// these.
    static func holders(ofInode inode: UInt64, on device: DeviceNumber, in locks: String) -> [Int32] {
        let ending = ":\(inode)"
        let found = locks.split(separator: "\n").compactMap { line -> (device: DeviceNumber, pid: Int32)? in
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "FLOCK", fields[5].hasSuffix(ending), let pid = Int32(fields[4]),
                let device = DeviceNumber(hexadecimal: fields[5].dropLast(ending.count))
            else { return nil }
            return (device, pid)
        }
        let same = found.filter { $0.device == device }
        return (same.isEmpty ? found.filter { $0.device.isAnonymous } : same).map { $0.pid }
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
