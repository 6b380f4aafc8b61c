import Foundation
import Glibc
import Storage

/// A database that somebody has deleted, moved or replaced while a process records into it: the process goes on with a file
/// that has no name any more, and a command that goes by the path finds nothing, or another file.
enum LostDatabase {
    /// Where SQLite locks a database (`PENDING_BYTE` and what follows, os_unix.c): whoever has one with a log open holds a
    /// shared lock there.
    private static let locks: ClosedRange<Int64> = 0x4000_0000...0x4000_01FF

    /// Why there is no database at a path where a process acquires; nil where there is one, or no such process.
    static func failure(at path: String) -> Failure? {
        guard isAbsent(path), let pid = DaemonPresence.pid(database: path),
            // It creates one at this moment, or has done so meanwhile.
            !AcquisitionLock.holderIsUpdating(database: path), isAbsent(path)
        else { return nil }
        return Failure(
            problem: "the database \(path) was deleted or moved while eegsync run (pid \(pid)) records into it.",
            consequence: "that process goes on recording into the file, which nobody finds by its name any more.",
            remedy: "end it in order, and never by kill -9: systemctl stop eegsync (or kill \(pid)). It writes what it holds "
                + "into \(path)-rescued-TIME, or says in its log where the file is. Give that the name \(path), then start "
                + "eegsync.",
            code: .unavailable)
    }

    /// Why nothing is to be written into a database whose stead another file had when the process that acquires began: no wish
    /// in it reaches anybody, and the log beside it may be that of the other one. Nil where that is not so.
    static func replacement(at path: String) -> Failure? {
        guard let pid = DaemonPresence.pid(database: path), isElsewhere(pid, database: path) else { return nil }
        return Failure(
            problem: "the database \(path) is another file than the one into which eegsync run (pid \(pid)) records.",
            consequence: "nothing was written.",
            remedy: "end that process in order, and never by kill -9: systemctl stop eegsync (or kill \(pid)). It writes what "
                + "it holds into \(path)-rescued-TIME. Decide which of the two is to go on, then start eegsync.",
            code: .unavailable)
    }

    /// Why none is to be made at a path where there is none; nil where nothing speaks against it.
    static func reasonNotToCreate(_ path: String) -> Failure? {
        let left = ["-wal", "-shm"].map { path + $0 }.first { access($0, F_OK) == 0 }
        guard isAbsent(path), let left else { return nil }
        return Failure(
            problem: "\(path) is not there, but \(left) is, which belongs to a database that had this name.",
            consequence: "no database was made: SQLite would take what that holds for the new one's.",
            remedy: "put the database back, such as a copy or \(path)-rescued-TIME, without that file; or, where it is gone "
                + "for good, remove \(path)-wal and \(path)-shm.", code: .cannotCreate)
    }

    /// Whether the process that acquires has another file open than the one at the path, by proc_locks(5): lines such as
    /// `9: POSIX  ADVISORY  READ 812 fe:00:131074 1073741826 1073742335`. Everybody may read them.
    static func isElsewhere(_ pid: Int32, database path: String, files: SystemFiles = SystemFiles()) -> Bool {
        var file = stat()
        guard stat(path, &file) == 0 else { return false }
        let held = (files.text("/proc/locks") ?? "").split(separator: "\n").compactMap { line -> Substring? in
            let fields = line.split(separator: " ")
            guard fields.count == 8, fields[1] == "POSIX", Int32(fields[4]) == pid, let first = Int64(fields[6]),
                locks.contains(first)
            else { return nil }
            return fields[5]
        }
        // The number of the file alone: of some file systems the device differs from what stat(2) says.
        return !held.isEmpty && !held.contains { $0.hasSuffix(":\(file.st_ino)") }
    }

    private static func isAbsent(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }
}
